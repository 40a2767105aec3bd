"""Refreshing: whatever the history, the stored sums are those of a computation from scratch."""

import random
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from evaluation.evaluations import refreshing
from evaluation.evaluations.due import list_due_lists
from evaluation.evaluations.refreshing import Refreshed, refresh_evaluations, retry_failed
from evaluation.evaluations.verifying import verify_list
from evaluation.models import Evaluation, Leaderboard, Ranking, RefreshAttempt, Run
from evaluation.runs.services import withdraw_run
from judgments.collections.services import load_queries
from judgments.lists.services import revert_version
from judgments.models import Document
from judgments.versions.services import Change, commit_judgments
from tests.builders import NOW, World, commit, make_access, make_list, make_world
from tests.evaluation.builders import evaluate_from_scratch, keep, make_run
from touchstone.files.collections import QueryRecord

BY_TRAITS = (
    "nDCG@5 nDCG(average='weighted')@5 RR(average='segments') RR Judged(average='weighted')@5"
)
# in orders of their own, over queries that no one judged, with every way to break a tie
BY_TOOLS = (
    "nDCG@5 nDCG(ties='listed',scores='float64',queries='all')@5 P(queries='run')@2 "
    "nDCG(ideal='recall',ties='averaged')@2 AP(empty=1,ties='docid_asc') RR"
)
TIED = "".join(
    f"{qid} Q0 d{number} 1 {score} tied\n"
    for qid, scores in (("q1", (1, 1, 1)), ("q3", (16777216, 16777217, 2, 2)), ("q9", (3, 3)))
    for number, score in enumerate(scores, start=1)
)
FOUR = {"q1": ["d1", "d2", "d3"], "q2": ["d5", "d1"]}


@pytest.fixture
def world(db: None) -> World:
    return make_world(queries=6, documents=5)


def judge(world: World, *grades: tuple[int, int, int | None]) -> int:
    """A version with the given (query, document, grade); its number."""
    pairs = {
        (world.queries[query - 1], world.documents[document - 1]): grade
        for query, document, grade in grades
    }
    return commit(judgment_list=world.judgments, grades=pairs).number


def judge_all_queries(world: World) -> int:
    return judge(world, *((query, 1, query % 5) for query in range(1, len(world.queries) + 1)))


def refresh(world: World, *, at=NOW, only_small: bool = False) -> Refreshed:
    return refresh_evaluations(list_id=world.judgments.pk, at=at, only_small=only_small)


def assert_exact(world: World, run: Run, version: int) -> None:
    stored = Evaluation.objects.get(run=run, version__list=world.judgments, version__number=version)
    assert bytes(stored.sums) == evaluate_from_scratch(
        run=run, judgment_list=world.judgments, version=version
    )


class TestAnyHistory(TestCase):
    """A law, not an example: commits, removals, reverts, new runs and refreshes in any order."""

    steps = st.lists(
        st.one_of(
            st.tuples(
                st.just("commit"),
                st.lists(
                    st.tuples(st.integers(0, 11), st.integers(0, 4), st.none() | st.integers(0, 4)),
                    min_size=1,
                    max_size=4,
                    unique_by=lambda change: change[:2],
                ),
            ),
            st.tuples(st.just("revert"), st.integers(0, 10)),
            st.tuples(
                st.just("traits"),
                st.tuples(
                    st.integers(1, 12),
                    st.sampled_from(["", "head", "tail", "deep"]),
                    st.sampled_from([1.0, 0.1, 2.5, 1e-9, 3e11]),
                ),
            ),
            st.tuples(st.just("import"), st.integers(0, 1000)),
            st.tuples(st.just("refresh"), st.none()),
            st.tuples(st.just("refresh"), st.none()),
        ),
        max_size=12,
    )

    @given(st.booleans(), st.sampled_from(["", BY_TRAITS, BY_TOOLS]), steps)
    def test_every_stored_step_equals_the_computation_from_scratch(
        self, is_judged_at_first, names, steps
    ) -> None:
        world = make_world(queries=12, documents=5)
        if names:
            keep(judgment_list=world.judgments, names=names)
        make_run(collection=world.collection, rankings=FOUR)
        make_run(collection=world.collection, text=TIED, name="tied")
        if is_judged_at_first:
            judge_all_queries(world)
        for number, (kind, detail) in enumerate([*steps, ("refresh", None)]):
            self._do(world, kind, detail, number)
        done = Evaluation.objects.select_related("version", "run")
        for stored in done:
            assert bytes(stored.sums) == evaluate_from_scratch(
                run=stored.run, judgment_list=world.judgments, version=stored.version.number
            )
        world.judgments.refresh_from_db()
        at_head = done.filter(version__number=world.judgments.head).count()
        assert at_head == (Run.objects.count() if world.judgments.head else 0)
        assert list_due_lists(at=NOW) == []
        verified = verify_list(judgment_list=world.judgments, every_step=True)
        assert verified.problems == ()

    def _do(self, world: World, kind: str, detail, number: int) -> None:
        if kind == "commit":
            changes = [
                Change(world.queries[query].pk, world.documents[document].pk, grade)
                for query, document, grade in detail
            ]
            commit_judgments(
                judgment_list=world.judgments,
                changes=changes,
                by=None,
                at=NOW + timedelta(seconds=number),
                reason="",
                source="labels",
            )
        elif kind == "revert":
            world.judgments.refresh_from_db()
            revert_version(
                access=make_access(collection=world.collection),
                at=NOW,
                judgment_list=world.judgments,
                number=detail % (world.judgments.head + 1),
                reason="",
            )
        elif kind == "traits":
            query, segment, weight = detail
            record = QueryRecord(
                query_id=f"q{query}", text="text", segment=segment, weight=weight, line=1
            )
            load_queries(collection=world.collection, records=[record], by=None, at=NOW)
        elif kind == "import":
            rng = random.Random(detail)
            docids = [document.docid for document in world.documents]
            rankings = {
                query.qid: rng.sample(docids, rng.randint(1, 5))
                for query in rng.sample(world.queries, rng.randint(1, 6))
            }
            make_run(
                collection=world.collection,
                rankings=rankings,
                ranker=f"ranker-{number}",
            )
        else:
            refresh(world)


def test_nothing_is_due_on_a_list_without_a_version(world: World) -> None:
    make_run(collection=world.collection, rankings=FOUR)
    assert refresh(world) == Refreshed(world.judgments.pk, 0)
    assert list_due_lists(at=NOW) == []


def test_a_list_without_a_leaderboard_gets_one_with_the_default_measures(world: World) -> None:
    make_run(collection=world.collection, rankings=FOUR)
    judge(world, (1, 1, 3))
    assert list_due_lists(at=NOW) == [world.judgments.pk]
    refresh(world)
    names = [name for name, _ in Leaderboard.objects.get().measure_set.measures]
    assert names[0] == "nDCG@10"
    assert list_due_lists(at=NOW) == []


def test_a_first_evaluation_is_from_scratch_and_the_next_one_by_differences(world: World) -> None:
    run = make_run(collection=world.collection, rankings=FOUR)
    judge_all_queries(world)
    assert refresh(world) == Refreshed(world.judgments.pk, 1, evaluated=1, from_scratch=1)
    judge(world, (1, 2, 4))
    assert refresh(world) == Refreshed(world.judgments.pk, 2, evaluated=1)
    assert_exact(world, run, 2)


def test_a_version_that_touches_most_queries_is_evaluated_from_scratch(world: World) -> None:
    run = make_run(collection=world.collection, rankings=FOUR)
    judge_all_queries(world)
    refresh(world)
    judge(world, *((query, 2, 1) for query in range(1, 5)))
    assert refresh(world).from_scratch == 1
    assert_exact(world, run, 2)


def test_a_version_may_be_skipped_and_the_touched_of_all_skipped_ones_are_scored(
    world: World,
) -> None:
    run = make_run(collection=world.collection, rankings=FOUR)
    judge_all_queries(world)
    refresh(world)
    judge(world, (1, 2, 4))
    judge(world, (2, 1, None))
    assert refresh(world) == Refreshed(world.judgments.pk, 3, evaluated=1)
    assert_exact(world, run, 3)
    assert not Evaluation.objects.filter(version__number=2).exists()


def test_a_query_that_loses_its_last_judgment_leaves_the_mean(world: World) -> None:
    run = make_run(collection=world.collection, rankings=FOUR)
    judge_all_queries(world)
    refresh(world)
    judge(world, (2, 1, None))
    refresh(world)
    assert_exact(world, run, 2)


def test_runs_that_lag_behind_by_different_versions_all_come_to_the_head(world: World) -> None:
    old = make_run(collection=world.collection, rankings=FOUR)
    judge_all_queries(world)
    refresh(world)
    new = make_run(collection=world.collection, rankings={"q3": ["d4"]}, ranker="other")
    judge(world, (1, 2, 4))
    done = refresh(world)
    assert (done.evaluated, done.from_scratch) == (2, 1)
    assert_exact(world, old, 2)
    assert_exact(world, new, 2)


def test_a_refresh_without_anything_due_writes_nothing(world: World) -> None:
    make_run(collection=world.collection, rankings=FOUR)
    judge_all_queries(world)
    refresh(world)
    rows = list(Evaluation.objects.values())
    assert refresh(world) == Refreshed(world.judgments.pk, 1)
    assert list(Evaluation.objects.values()) == rows


def test_withdrawn_runs_are_not_evaluated(world: World) -> None:
    run = make_run(collection=world.collection, rankings=FOUR)
    judge_all_queries(world)
    withdraw_run(access=make_access(collection=world.collection), run=run, at=NOW)
    assert list_due_lists(at=NOW) == []
    assert refresh(world).evaluated == 0


def test_each_list_of_a_collection_is_evaluated_for_itself(world: World) -> None:
    make_run(collection=world.collection, rankings=FOUR)
    other = make_list(collection=world.collection, slug="strict")
    judge(world, (1, 1, 3))
    commit(judgment_list=other, grades={(world.queries[1], world.documents[0]): 1})
    assert list_due_lists(at=NOW) == [world.judgments.pk, other.pk]
    refresh(world)
    assert list_due_lists(at=NOW) == [other.pk]


def spoil(world: World) -> Run:
    """A run with a ranking that no import would have stored."""
    broken = make_run(collection=world.collection, rankings={"q1": ["d1"]}, ranker="broken")
    Ranking.objects.create(
        run=broken, query=world.queries[1], documents=b"\1\0\0\0", scores=b"", order=b"\7\0"
    )
    return broken


def test_a_run_that_cannot_be_evaluated_holds_up_no_other(world: World) -> None:
    broken = spoil(world)
    sound = make_run(collection=world.collection, rankings=FOUR)
    judge_all_queries(world)
    assert refresh(world).failed == (broken.pk,)
    assert_exact(world, sound, 1)
    attempt = RefreshAttempt.objects.get()
    assert (attempt.run, attempt.attempts) == (broken, 1)
    assert "position" in attempt.problem
    assert list_due_lists(at=NOW) == []
    assert list_due_lists(at=NOW + timedelta(minutes=1)) == [world.judgments.pk]


def test_after_five_attempts_a_run_is_left_alone_until_somebody_asks(world: World) -> None:
    spoil(world)
    judge_all_queries(world)
    at = NOW
    for attempt in range(1, 6):
        assert refresh(world, at=at).failed
        assert refresh(world, at=at).evaluated == 0
        assert RefreshAttempt.objects.get().attempts == attempt
        at += timedelta(hours=2)
    assert refresh(world, at=at) == Refreshed(world.judgments.pk, 1)
    assert list_due_lists(at=at) == []
    assert retry_failed(list_id=world.judgments.pk) == 1
    assert list_due_lists(at=at) == [world.judgments.pk]


def test_a_run_that_killed_its_worker_waits_and_is_then_tried_alone(world: World) -> None:
    killer = make_run(collection=world.collection, rankings=FOUR)
    judge_all_queries(world)
    RefreshAttempt.objects.create(
        run=killer, list=world.judgments, attempts=1, not_before=NOW + timedelta(seconds=5)
    )
    assert refresh(world).evaluated == 0
    assert refresh(world, at=NOW + timedelta(seconds=6)).evaluated == 1
    assert not RefreshAttempt.objects.exists()


def test_a_broken_ranking_stops_a_step_by_differences_no_more_than_one_from_scratch(
    world: World,
) -> None:
    sound = make_run(collection=world.collection, rankings=FOUR)
    later = make_run(collection=world.collection, rankings={"q1": ["d2"]}, ranker="later")
    judge_all_queries(world)
    refresh(world)
    Ranking.objects.create(
        run=later, query=world.queries[4], documents=b"\1\0\0\0", scores=b"", order=b""
    )
    judge(world, (5, 1, 2))
    assert refresh(world).failed == (later.pk,)
    assert_exact(world, sound, 2)


def test_large_steps_are_left_to_the_slow_lane_and_taken_one_a_call(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.evaluations.due.SMALL", 7)
    monkeypatch.setattr("evaluation.evaluations.due.LARGEST", 5)
    for number in range(3):
        make_run(collection=world.collection, rankings=FOUR, ranker=f"ranker-{number}")
    judge_all_queries(world)
    assert refresh(world, only_small=True) == Refreshed(world.judgments.pk, 1, left=3)
    left: list[int] = []
    while not left or left[-1]:
        left.append(refresh(world).left)
    assert left == [2, 1, 0]
    assert Evaluation.objects.count() == 3


def test_evaluations_are_thinned_every_so_many_versions_but_never_the_base_of_a_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.evaluations.refreshing.THIN_EVERY", 4)
    run = make_run(collection=world.collection, rankings=FOUR)
    judge_all_queries(world)
    refresh(world)
    for number in range(7):
        judge(world, (1, 2, number % 2))
        refresh(world, at=NOW + timedelta(days=2))
    numbers = Evaluation.objects.values_list("version__number", flat=True).order_by("pk")
    assert list(numbers) == [8]
    assert_exact(world, run, 8)


@pytest.mark.first_pass
def test_a_ranking_deeper_than_two_bytes_count_is_imported_and_evaluated_whole(
    world: World,
) -> None:
    depth = 66_000
    text = "".join(f"q1 Q0 x{rank} {rank} {depth - rank} t\n" for rank in range(1, depth + 1))
    run = make_run(collection=world.collection, text=text, create=True)
    last = Document.objects.get(docid=f"x{depth}")
    commit(judgment_list=world.judgments, grades={(world.queries[0], last): 3})
    refresh(world)
    assert_exact(world, run, 1)
    commit(
        judgment_list=world.judgments,
        grades={(query, world.documents[0]): 1 for query in world.queries},
    )
    refresh(world)
    commit(judgment_list=world.judgments, grades={(world.queries[0], last): 4})
    assert refresh(world) == Refreshed(world.judgments.pk, 3, evaluated=1)
    assert_exact(world, run, 3)


def test_two_workers_that_begin_the_same_run_count_two_attempts(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both read the number of attempts before either wrote it."""
    spoil(world)
    judge_all_queries(world)
    count = refreshing._count_attempt

    def count_with_another_worker(*same: Any) -> None:
        count(*same)
        count(*same)

    monkeypatch.setattr(refreshing, "_count_attempt", count_with_another_worker)
    assert refresh(world).failed
    assert RefreshAttempt.objects.get().attempts == 2
