"""commit_judgments: the one writer of a list's versions."""

import random

import pytest
from django.db import DatabaseError, transaction

from judgments.models import Judgment, JudgmentVersion
from judgments.signals import version_committed
from judgments.versions.queries import get_judged, list_differences, list_touched_queries
from judgments.versions.services import Change, CommitRefused, commit_judgments
from judgments.versions.temporal import apply
from tests.builders import NOW, World, commit, make_documents, make_queries, make_world

pytestmark = pytest.mark.django_db


def test_the_first_commit_makes_version_1(world):
    q, d = world.queries[0], world.documents[0]
    version = commit(judgment_list=world.judgments, grades={(q, d): 3}, by=world.ada, reason="why")
    assert (version.number, version.added, version.changed, version.removed) == (1, 1, 0, 0)
    assert (version.author, version.reason, version.created_at) == (world.ada, "why", NOW)
    world.judgments.refresh_from_db()
    assert world.judgments.head == 1


def test_a_version_says_how_much_it_added_changed_and_removed(world):
    (q, *_), (d1, d2, d3, d4, _) = world.queries, world.documents
    commit(judgment_list=world.judgments, grades={(q, d1): 0, (q, d2): 1, (q, d3): 2})
    version = commit(
        judgment_list=world.judgments,
        grades={(q, d1): 0, (q, d2): 4, (q, d3): None, (q, d4): 1},
    )
    assert (version.added, version.changed, version.removed) == (1, 1, 1)
    held = get_judged(list_id=world.judgments.pk, version=2).pairs()
    assert held == {(q.pk, d1.pk): 0, (q.pk, d2.pk): 4, (q.pk, d4.pk): 1}


def test_a_commit_that_changes_nothing_makes_no_version(world):
    q, d = world.queries[0], world.documents[0]
    commit(judgment_list=world.judgments, grades={(q, d): 3})
    again = [Change(q.pk, d.pk, 3), Change(q.pk, world.documents[1].pk, None)]
    made = commit_judgments(
        judgment_list=world.judgments, changes=again, by=None, at=NOW, reason="", source="import"
    )
    assert made is None
    assert JudgmentVersion.objects.count() == 1


def test_the_same_grade_on_new_evidence_is_a_new_row_and_no_change(world):
    q, d = world.queries[0], world.documents[0]
    first = [Change(q.pk, d.pk, 3, {"votes": {"3": 2}})]
    commit(judgment_list=world.judgments, grades=first)
    version = commit(
        judgment_list=world.judgments, grades=[Change(q.pk, d.pk, 3, {"votes": {"3": 3}})]
    )
    assert (version.added, version.changed, version.removed) == (0, 0, 0)
    rows = Judgment.objects.order_by("since").values_list("since", "until", "evidence")
    assert list(rows) == [(1, 2, {"votes": {"3": 2}}), (2, None, {"votes": {"3": 3}})]
    assert list_differences(list_id=world.judgments.pk, before=1, after=2) == []
    assert list_touched_queries(list_id=world.judgments.pk, after=1, until=2) == [q.pk]


def test_without_evidence_the_same_grade_keeps_what_was_there(world):
    q, d = world.queries[0], world.documents[0]
    commit(judgment_list=world.judgments, grades=[Change(q.pk, d.pk, 3, {"votes": {"3": 2}})])
    other = world.documents[1]
    commit(
        judgment_list=world.judgments,
        grades=[Change(q.pk, d.pk, 3, None), Change(q.pk, other.pk, 1, None)],
    )
    rows = Judgment.objects.order_by("id").values_list("document", "until", "evidence")
    assert list(rows) == [(d.pk, None, {"votes": {"3": 2}}), (other.pk, None, {})]


def test_a_pair_that_comes_twice_is_refused(world):
    q, d = world.queries[0], world.documents[0]
    with pytest.raises(CommitRefused, match="Duplicate query-document pair"):
        commit(judgment_list=world.judgments, grades=[Change(q.pk, d.pk, 1), Change(q.pk, d.pk, 2)])


def test_a_grade_outside_the_scale_is_refused_and_leaves_nothing(world):
    q, (d1, d2, *_) = world.queries[0], world.documents
    with pytest.raises(CommitRefused, match="no grade 5"):
        commit(judgment_list=world.judgments, grades={(q, d1): 1, (q, d2): 5})
    assert not Judgment.objects.exists()


def test_a_document_of_another_collection_is_refused(world):
    other = make_world(slug="films")
    with pytest.raises(CommitRefused, match="does not belong to"):
        commit(judgment_list=world.judgments, grades={(world.queries[0], other.documents[0]): 1})
    with pytest.raises(CommitRefused, match="does not belong to"):
        commit(judgment_list=world.judgments, grades={(other.queries[0], world.documents[0]): 1})


def test_committed_judgments_can_be_neither_changed_nor_deleted(world):
    q, d = world.queries[0], world.documents[0]
    commit(judgment_list=world.judgments, grades={(q, d): 3})
    for write in (
        lambda: Judgment.objects.update(grade=4),
        lambda: Judgment.objects.all().delete(),
        lambda: JudgmentVersion.objects.update(reason_text=None),
        lambda: JudgmentVersion.objects.all().delete(),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            write()
    assert Judgment.objects.get().grade == 3


def test_the_signal_is_sent_after_the_commit_and_never_without(
    world, django_capture_on_commit_callbacks
):
    heard = []

    def listen(sender, list_id, number, **_):
        heard.append((list_id, number))

    version_committed.connect(listen)
    try:
        grades = {(world.queries[0], world.documents[0]): 3}
        with django_capture_on_commit_callbacks(execute=True):
            commit(judgment_list=world.judgments, grades=grades)
            assert heard == []
        assert heard == [(world.judgments.pk, 1)]
    finally:
        version_committed.disconnect(listen)


def random_history(world: World, *, seed: int, versions: int) -> list[dict[tuple[int, int], int]]:
    """Commits at random; what the list was at each version, version 0 first."""
    chance = random.Random(seed)
    states: list[dict[tuple[int, int], int]] = [{}]
    for _ in range(versions):
        grades = {
            (chance.choice(world.queries), chance.choice(world.documents)): chance.choice(
                [None, 0, 1, 2, 3, 4]
            )
            for _ in range(chance.randint(1, 8))
        }
        state = dict(states[-1])
        for (query, document), grade in grades.items():
            state.pop((query.pk, document.pk), None)
            if grade is not None:
                state[query.pk, document.pk] = grade
        if state != states[-1]:
            commit(judgment_list=world.judgments, grades=grades)
            states.append(state)
    return states


@pytest.mark.parametrize("seed", range(4))
def test_every_version_stays_what_it_was_and_differences_lead_from_one_to_another(world, seed):
    states = random_history(world, seed=seed, versions=20)
    list_id = world.judgments.pk
    for number, state in enumerate(states):
        assert get_judged(list_id=list_id, version=number).pairs() == state
    for a, before in enumerate(states):
        for b, after in enumerate(states):
            found = list_differences(list_id=list_id, before=a, after=b)
            assert apply(before, found) == after
            touched = {change.query_id for change in found}
            if a < b:
                assert touched <= set(list_touched_queries(list_id=list_id, after=a, until=b))


def test_judged_arrays_are_sorted_and_can_be_of_some_queries_only(world):
    grades = {
        (query, document): 1
        for query in reversed(world.queries)
        for document in reversed(world.documents)
    }
    commit(judgment_list=world.judgments, grades=grades)
    judged = get_judged(list_id=world.judgments.pk, version=1)
    assert list(zip(judged.query_ids, judged.document_ids, strict=True)) == sorted(
        (query.pk, document.pk) for query, document in grades
    )
    assert (judged.query_ids.dtype, judged.document_ids.dtype, judged.grades.dtype) == (
        "int64",
        "int32",
        "int8",
    )
    one = get_judged(list_id=world.judgments.pk, version=1, query_ids=[world.queries[1].pk])
    assert set(one.query_ids.tolist()) == {world.queries[1].pk}
    assert len(one) == len(world.documents)
    assert len(get_judged(list_id=world.judgments.pk, version=1, query_ids=[])) == 0


def test_a_commit_of_many_pairs_holds_them_all(world):
    queries = make_queries(collection=world.collection, count=100, prefix="many")
    documents = make_documents(collection=world.collection, count=100, prefix="many")
    grades = {(q, d): (q.pk + d.pk) % 5 for q in queries for d in documents}
    version = commit(judgment_list=world.judgments, grades=grades)
    assert version.added == 10_000
    held = get_judged(list_id=world.judgments.pk, version=1).pairs()
    assert held == {(q.pk, d.pk): grade for (q, d), grade in grades.items()}
    second = commit(judgment_list=world.judgments, grades=dict.fromkeys(grades, 2))
    assert second.changed == sum(grade != 2 for grade in grades.values())
