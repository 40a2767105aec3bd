"""Many grades at once do what the same grades do one by one, on both databases."""

from typing import Any

import numpy as np
import pytest
from django.db import transaction

from judgments.models import Judgment, JudgmentList, JudgmentVersion
from judgments.models.lists import Takes
from judgments.storage import bulk
from judgments.versions.services import Change, CommitRefused, PairGrades, commit_grades
from judgments.versions.takes import TakesRefused
from judgments.versions.temporal import find_pairs
from tests.builders import NOW, World, commit, make_world

pytestmark = pytest.mark.django_db
ROUNDS = 4


def grades_of(rows: list[tuple[int, int, int]]) -> PairGrades:
    """The rows, grouped by query, the last query first."""
    table = np.array(sorted(rows, key=lambda row: -row[0]), np.int64)
    queries, lengths = np.unique(-table[:, 0], return_counts=True)
    documents, codes = np.unique(table[:, 1], return_inverse=True)
    return PairGrades(-queries, np.cumsum([0, *lengths]), documents, codes, table[:, 2])


def commit_many(
    judgment_list: JudgmentList, rows: list[tuple[int, int, int]], **more: Any
) -> JudgmentVersion | None:
    return commit_grades(
        judgment_list=judgment_list,
        pairs=grades_of(rows),
        by=None,
        at=NOW,
        reason="a test",
        source=JudgmentVersion.Source.IMPORT,
        **more,
    )


def make_other(world: World) -> JudgmentList:
    own = world.judgments
    return JudgmentList.objects.create(
        collection=own.collection, slug="other", name="Other", scale=own.scale, created_at=NOW
    )


def rows_of(judgment_list: JudgmentList) -> list[Any]:
    columns = ("query_id", "document_id", "grade", "since", "until", "evidence")
    own = Judgment.objects.filter(list=judgment_list)
    return list(own.order_by("query_id", "document_id", "since").values_list(*columns))


@pytest.mark.parametrize("seed", range(3))
def test_versions_and_rows_are_those_of_single_changes(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("COPIED", 7), ("CHUNK", 5), ("FETCHED", 6)):
        monkeypatch.setattr(bulk, name, value)
    for name, value in (("FETCHED", 6), ("BLOCK", 10)):
        monkeypatch.setattr(f"judgments.versions.services.{name}", value)
    rng = np.random.default_rng(seed)
    world = make_world(queries=6, documents=9)
    one, many = world.judgments, make_other(world)
    pairs = [(query.pk, document.pk) for query in world.queries for document in world.documents]
    for _ in range(ROUNDS):
        rng.shuffle(pairs)
        chosen = pairs[: int(rng.integers(1, len(pairs)))]
        rows = [(query, document, int(rng.integers(0, 3))) for query, document in chosen]
        expected = commit(judgment_list=one, grades=[Change(*row, None) for row in rows])
        version = commit_many(many, rows)
        assert version is not None
        assert (version.number, version.added, version.changed, version.removed) == (
            expected.number,
            expected.added,
            expected.changed,
            expected.removed,
        )
        assert rows_of(many) == rows_of(one)
        assert many.head == version.number
    assert commit_many(many, rows) is None  # it holds all of it already


def test_a_grade_that_stays_keeps_its_evidence_and_another_has_none() -> None:
    world = make_world(queries=1, documents=2)
    query, (first, second) = world.queries[0].pk, world.documents
    evidence = {"votes": {"2": 1}}
    commit(
        judgment_list=world.judgments,
        grades=[Change(query, one.pk, 2, evidence) for one in (first, second)],
    )
    commit_many(world.judgments, [(query, first.pk, 2), (query, second.pk, 1)])
    now = Judgment.objects.filter(until=None).order_by("document_id")
    assert [(one.grade, one.evidence) for one in now] == [(2, evidence), (1, {})]


def test_what_single_changes_refuse_is_refused() -> None:
    world, other = make_world(queries=1, documents=1), make_world(slug="other")
    query, document = world.queries[0].pk, world.documents[0].pk
    for rows, words in (
        ([(query, document, 1), (query, document, 1)], "Duplicate"),
        ([(query, document, 9)], "no grade 9"),
        ([(query, other.documents[0].pk, 1)], "does not belong"),
        ([(other.queries[0].pk, document, 1)], "does not belong"),
    ):
        with pytest.raises(CommitRefused, match=words), transaction.atomic():
            commit_many(world.judgments, rows)
    JudgmentList.objects.filter(pk=world.judgments.pk).update(archived_at=NOW)
    with pytest.raises(CommitRefused, match="archived"), transaction.atomic():
        commit_many(world.judgments, [(query, document, 1)])
    JudgmentList.objects.filter(pk=world.judgments.pk).update(
        archived_at=None, takes=Takes.MACHINE, takes_from={}
    )
    with pytest.raises(TakesRefused), transaction.atomic():
        commit_many(world.judgments, [(query, document, 1)])
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("seed", range(5))
def test_pairs_are_found_where_they_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    largest = 2**62  # ids may be as large as the database's

    def some(n: int) -> tuple[np.ndarray, np.ndarray]:
        chosen = {(int(q), int(d)) for q, d in rng.integers(largest - 6, largest, (n, 2))}
        table = np.array(sorted(chosen), np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    wanted, among = some(20), some(int(rng.integers(0, 30)))
    known = list(zip(*(one.tolist() for one in among), strict=True))
    expected = [
        known.index(pair) if pair in known else -1
        for pair in zip(*(one.tolist() for one in wanted), strict=True)
    ]
    assert find_pairs(wanted, among).tolist() == expected
