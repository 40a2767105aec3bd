"""Taking runs: whole or not at all, every mistake with its line, the same content only once."""

import gzip
import io
from datetime import timedelta

import numpy as np
import pytest

from evaluation.models import Ranker, Ranking, Run, RunAlias
from evaluation.permissions import RunRefused, may_withdraw
from evaluation.runs.names import find_runs, without_alias
from evaluation.runs.rankers import RankerRefused, create_ranker
from evaluation.runs.services import RunImported, import_run, withdraw_run
from judgments.models import AuditEntry, Document, Query
from judgments.permissions import NotFound
from tests.builders import NOW, World, make_access, make_world
from tests.evaluation.builders import make_ranker, make_run
from touchstone.files.errors import FileRefused
from touchstone.measures.packing import unpack_documents, unpack_order, unpack_scores

pytestmark = pytest.mark.django_db

TEXT = "q1 Q0 d2 1 3.5 tag\nq1 Q0 d1 2 7.25 tag\nq2 Q0 d3 1 1 tag\n"


def upload(
    world: World,
    text: str | bytes = TEXT,
    *,
    username: str = "dora",
    name: str = "one",
    create: bool = False,
    ranker: Ranker | None = None,
) -> RunImported:
    return import_run(
        access=make_access(collection=world.collection, username=username),
        ranker=ranker or make_ranker(collection=world.collection),
        source=io.BytesIO(text if isinstance(text, bytes) else text.encode()),
        name=name,
        file_name="bm25.run",
        at=NOW,
        create=create,
    )


def test_a_run_is_stored_with_one_packed_row_a_query(world: World) -> None:
    done = upload(world)
    assert (done.created, done.queries, done.rows) == (True, 2, 3)
    assert (done.run.tag, done.run.query_count, done.run.row_count) == ("tag", 2, 3)
    q1 = Ranking.objects.get(run=done.run, query=world.queries[0])
    d1, d2 = (document.pk for document in world.documents[:2])
    assert unpack_documents(bytes(q1.documents)).tolist() == [d2, d1]
    assert unpack_scores(bytes(q1.scores)).tolist() == [3.5, 7.25]
    assert unpack_order(bytes(q1.order), 2).tolist() == [1, 0]


def test_equal_scores_stand_by_descending_document_id_in_bytes(world: World) -> None:
    for docid in ("B", "a", "ä"):
        Document.objects.create(collection=world.collection, docid=docid, content_hash="0" * 64)
    done = upload(world, "q1 0 B 1 1 t\nq1 0 ä 2 1 t\nq1 0 a 3 1 t\nq1 0 d1 4 2 t\n")
    stored = Ranking.objects.get(run=done.run)
    ids = unpack_documents(bytes(stored.documents))[unpack_order(bytes(stored.order), 4)]
    names = dict(Document.objects.values_list("pk", "docid"))
    assert [names[pk] for pk in ids.tolist()] == ["d1", "ä", "a", "B"]


def test_the_same_content_again_changes_nothing_and_gives_the_run_that_has_it(world: World) -> None:
    first = upload(world)
    again = upload(world, gzip.compress(TEXT.replace(" ", "\t").encode()))
    assert not again.created
    assert again.run == first.run
    assert again.note == "This content is already stored as bm25/one."
    assert Run.objects.count() == 1
    assert not RunAlias.objects.exists()
    assert not AuditEntry.objects.filter(action="run.alias_added").exists()


def test_the_same_content_under_another_name_gives_the_run_an_alias_once(world: World) -> None:
    first = upload(world)
    for _ in range(2):
        again = upload(world, name="two")
        assert again.run == first.run
        assert again.note == (
            "This content is already stored as bm25/one; “two” is an alias of it."
        )
    assert [one.name for one in first.run.aliases.all()] == ["two"]
    entry = AuditEntry.objects.get(action="run.alias_added")
    assert (entry.actor, entry.subject) == (world.dora, "bm25/one")


def test_an_alias_is_taken_for_other_content(world: World) -> None:
    upload(world)
    upload(world, name="two")
    with pytest.raises(RunRefused, match="already has a run named two"):
        upload(world, "q1 Q0 d1 1 1 tag\n", name="two")
    assert Run.objects.count() == 1


def test_a_name_of_another_run_is_no_alias(world: World) -> None:
    first = upload(world)
    upload(world, "q1 Q0 d1 1 1 tag\n", name="two")
    again = upload(world, name="two")
    assert again.run == first.run
    assert again.note == (
        "This content is already stored as bm25/one; the name “two” is taken by another run."
    )
    assert not RunAlias.objects.exists()


def test_an_alias_finds_the_run_wherever_a_name_does(world: World) -> None:
    other = upload(world, "q1 Q0 d1 1 1 tag\n", name="other").run
    run = upload(world).run
    upload(world, name="two, three")
    access = make_access(collection=world.collection, username="dora")
    assert find_runs(access=access, names=["bm25/two, three", "bm25/other"]) == [run, other]
    assert without_alias(access, "bm25/two, three") == "bm25/one"
    assert without_alias(access, "bm25/none") == "bm25/none"


def test_the_same_content_after_a_withdrawal_is_a_new_run(world: World) -> None:
    first = upload(world)
    withdraw_run(access=make_access(collection=world.collection), run=first.run, at=NOW)
    assert upload(world, name="two").created


def test_another_content_under_a_taken_name_is_refused(world: World) -> None:
    upload(world)
    with pytest.raises(RunRefused, match="already has a run named one"):
        upload(world, "q1 Q0 d1 1 1 tag\n")
    assert Run.objects.count() == 1


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201])
def test_a_run_needs_a_name_that_can_be_read(world: World, name: str) -> None:
    with pytest.raises(RunRefused, match="name"):
        upload(world, name=name)


def test_unknown_queries_and_documents_are_refused_with_their_lines(world: World) -> None:
    text = "q1 Q0 d1 1 4 t\nq9 Q0 d1 1 3 t\nq1 Q0 nope 2 2 t\nq9 Q0 nope 2 1 t\n"
    with pytest.raises(FileRefused) as refused:
        upload(world, text)
    assert [str(problem) for problem in refused.value.problems] == [
        "bm25.run:2: unknown-query: this collection has no query “q9”.",
        "bm25.run:3: unknown-document: this collection has no document “nope”.",
        "bm25.run:4: unknown-query: this collection has no query “q9”.",
    ]
    assert refused.value.total == 3
    assert not Run.objects.exists()
    assert not Ranking.objects.exists()


def test_only_the_first_hundred_unknown_lines_are_named_and_all_are_counted(world: World) -> None:
    text = "".join(f"q1 Q0 x{i} {i} {1 / (i + 1)} t\n" for i in range(250))
    with pytest.raises(FileRefused) as refused:
        upload(world, text)
    assert [problem.line for problem in refused.value.problems] == list(range(1, 101))
    assert refused.value.total == 250


def test_unknown_queries_and_documents_become_stubs_when_asked_for(world: World) -> None:
    done = upload(world, "q9 Q0 nope 1 1 t\nq1 Q0 d1 1 1 t\n", create=True)
    assert done.created
    assert Query.objects.get(qid="q9").is_stub
    assert Document.objects.get(docid="nope").is_stub


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("q1 Q0 d1 1 1 t\nq1 Q0 d1 2 0.5 t\n", "duplicate"),
        ("q1 Q0 d1 1 nan t\n", "not-finite"),
        ("q1 Q0 d1 1 t\n", "columns"),
        ("", "empty"),
    ],
)
def test_a_broken_file_leaves_nothing_behind(world: World, text: str, rule: str) -> None:
    with pytest.raises(FileRefused) as refused:
        upload(world, text, create=True)
    assert refused.value.problems[0].rule == rule
    assert not Run.objects.exists()
    assert not Ranking.objects.exists()
    assert not AuditEntry.objects.filter(action="run.imported").exists()


def test_an_import_and_a_withdrawal_are_in_the_audit_log(world: World) -> None:
    done = upload(world)
    withdraw_run(
        access=make_access(collection=world.collection, username="dora"),
        run=done.run,
        at=NOW + timedelta(days=1),
    )
    entries = AuditEntry.objects.filter(action__startswith="run.")
    assert [(entry.action, entry.subject, entry.actor) for entry in entries] == [
        ("run.imported", "bm25/one", world.dora),
        ("run.withdrawn", "bm25/one", world.dora),
    ]


def test_a_run_is_withdrawn_by_its_owner_or_a_lead_and_only_once(world: World) -> None:
    by_ada = upload(world, username="ada").run
    dora = make_access(collection=world.collection, username="dora")
    ada = make_access(collection=world.collection)
    assert not may_withdraw(dora, by_ada)
    with pytest.raises(RunRefused, match="Only its uploader"):
        withdraw_run(access=dora, run=by_ada, at=NOW)
    withdraw_run(access=ada, run=by_ada, at=NOW)
    assert not may_withdraw(ada, by_ada)
    with pytest.raises(RunRefused, match="already"):
        withdraw_run(access=ada, run=by_ada, at=NOW)


def test_annotators_neither_register_rankers_nor_upload_runs(world: World) -> None:
    with pytest.raises(NotFound):
        upload(world, username="ben")
    with pytest.raises(NotFound):
        create_ranker(
            access=make_access(collection=world.collection, username="ben"), at=NOW, slug="x"
        )


def test_a_ranker_of_another_collection_does_not_exist(world: World) -> None:
    elsewhere = make_world(slug="films")
    with pytest.raises(NotFound):
        upload(world, ranker=make_ranker(collection=elsewhere.collection))
    run = make_run(collection=elsewhere.collection, rankings={"q1": ["d1"]})
    with pytest.raises(NotFound):
        withdraw_run(access=make_access(collection=world.collection), run=run, at=NOW)


def test_a_ranker_s_slug_is_taken_once_and_well_formed(world: World) -> None:
    access = make_access(collection=world.collection, username="dora")
    ranker = create_ranker(access=access, at=NOW, slug="bm25")
    assert (ranker.name, ranker.created_by) == ("bm25", world.dora)
    with pytest.raises(RankerRefused, match="ranker bm25 already exists"):
        create_ranker(access=access, at=NOW, slug="bm25")
    with pytest.raises(RankerRefused, match="lower-case"):
        create_ranker(access=access, at=NOW, slug="BM 25")


def test_progress_ends_at_the_size_of_the_file(world: World) -> None:
    seen: list[int] = []
    import_run(
        access=make_access(collection=world.collection),
        ranker=make_ranker(collection=world.collection),
        source=io.BytesIO(TEXT.encode()),
        name="one",
        file_name="bm25.run",
        at=NOW,
        progress=seen.append,
    )
    assert seen[-1] == len(TEXT)


def test_rankings_larger_than_one_statement_arrive_whole(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.runs.services.TOGETHER", 20)
    done = upload(world)
    assert Ranking.objects.filter(run=done.run).count() == 2
    total = sum(len(unpack_scores(bytes(r.scores))) for r in Ranking.objects.filter(run=done.run))
    assert total == np.int64(done.rows)
