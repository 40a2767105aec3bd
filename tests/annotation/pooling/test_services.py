"""Pools: what they would bring, what they bring, and what has become new since."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from annotation.campaigns.services import close_campaign, open_campaign
from annotation.models import Assignment, Campaign, Pair
from annotation.pooling.queries import (
    PoolPlan,
    PoolPreview,
    PoolRefused,
    preview_pool,
    preview_top_up,
)
from annotation.pooling.services import build_pool, top_up
from evaluation.models import Run
from evaluation.runs.services import withdraw_run
from judgments.models import AuditEntry, Collection, Document
from judgments.permissions import Access, NotFound
from tests.builders import NOW, World, commit, make_access, make_world
from tests.builders_annotation import label, make_campaign, make_draft
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db
BEFORE = NOW - timedelta(days=1)  # runs come in at NOW
FIRST = {"q1": ["d1", "d2", "d3"], "q2": ["d4"]}
OTHER = {"q1": ["d3", "d5"], "q3": ["d1", "d2"]}


@pytest.fixture
def world() -> World:
    return make_world()


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_draft(world=world, pairs=[], depth=2)


@pytest.fixture
def runs(world: World) -> list[Run]:
    return [
        make_run(collection=world.collection, rankings=FIRST),
        make_run(collection=world.collection, rankings=OTHER, ranker="tf-idf", name="two"),
    ]


def plan_of(runs: list[Run], **change: Any) -> PoolPlan:
    plan = PoolPlan(runs=tuple(run.public_id for run in runs), depth=2)
    return replace(plan, **change)


def pairs_of(campaign: Campaign) -> set[tuple[str, str]]:
    return set(campaign.pairs.values_list("query__qid", "document__docid"))


def test_a_preview_counts_what_would_come(
    world: World, ada: Access, campaign: Campaign, runs: list[Run]
) -> None:
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    Document.objects.filter(docid="d5").update(is_stub=True)
    preview = preview_pool(access=ada, campaign=campaign, plan=plan_of(runs))
    assert preview == PoolPreview(
        pairs=7,
        queries=3,
        per_query_min=1,
        per_query_median=2,
        per_query_max=4,
        in_campaign=0,
        already_judged=1,
        open_elsewhere=0,
        without_text=1,
        labels_needed=14,
    )
    assert Pair.objects.count() == 0


def test_a_pool_brings_pairs_with_a_seat_for_everybody_and_where_they_come_from(
    world: World, ada: Access, campaign: Campaign, runs: list[Run]
) -> None:
    pool = build_pool(access=ada, campaign=campaign, plan=plan_of(runs), at=NOW)
    assert pairs_of(campaign) == {
        ("q1", "d1"), ("q1", "d2"), ("q1", "d3"), ("q1", "d5"),
        ("q2", "d4"), ("q3", "d1"), ("q3", "d2"),
    }  # fmt: skip
    assert (pool.strategy, pool.depth, pool.pair_count, pool.created_by) == (
        "depth", 2, 7, world.ada,
    )  # fmt: skip
    assert pool.runs == [{"ranker": "bm25", "run": "one"}, {"ranker": "tf-idf", "run": "two"}]
    assert Assignment.objects.filter(state="free", purpose="pool").count() == 14
    entry = pool.entries.get(pair__query__qid="q1", pair__document__docid="d3")
    assert entry.sources == [["tf-idf", "two", 1]]
    record = AuditEntry.objects.get(action="campaign.pool_built")
    assert record.after == {"pairs": 7, "depth": 2, "runs": pool.runs}


def test_building_again_adds_what_is_missing_and_keeps_what_is_there(
    ada: Access, campaign: Campaign, runs: list[Run]
) -> None:
    build_pool(access=ada, campaign=campaign, plan=plan_of(runs[:1]), at=NOW)
    before = set(campaign.pairs.values_list("pk", flat=True))
    preview = preview_pool(access=ada, campaign=campaign, plan=plan_of(runs, depth=3))
    assert (preview.pairs, preview.in_campaign) == (4, 3)
    again = build_pool(access=ada, campaign=campaign, plan=plan_of(runs, depth=3), at=NOW)
    assert again.pair_count == 4
    assert before < set(campaign.pairs.values_list("pk", flat=True))
    assert again.entries.count() == 7
    shared = again.entries.get(pair__query__qid="q1", pair__document__docid="d3")
    assert shared.sources == [["bm25", "one", 3], ["tf-idf", "two", 1]]
    with pytest.raises(PoolRefused) as refused:
        build_pool(access=ada, campaign=campaign, plan=plan_of(runs), at=NOW)
    assert refused.value.code == "nothing_new"
    assert campaign.pools.count() == 2


def test_judged_pairs_are_left_out_where_only_the_others_are_wanted(
    world: World, ada: Access, campaign: Campaign, runs: list[Run]
) -> None:
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    plan = plan_of(runs[:1], only_unjudged=True)
    preview = preview_pool(access=ada, campaign=campaign, plan=plan)
    assert (preview.pairs, preview.already_judged) == (2, 1)
    build_pool(access=ada, campaign=campaign, plan=plan, at=NOW)
    assert pairs_of(campaign) == {("q1", "d2"), ("q2", "d4")}


def test_a_sample_has_its_size_and_its_seed(
    ada: Access, campaign: Campaign, runs: list[Run]
) -> None:
    plan = plan_of(runs, sample_size=3, seed=5)
    assert preview_pool(access=ada, campaign=campaign, plan=plan).pairs == 3
    pool = build_pool(access=ada, campaign=campaign, plan=plan, at=NOW)
    assert (pool.strategy, pool.sample_size, pool.seed, pool.pair_count) == ("sample", 3, 5, 3)
    with pytest.raises(PoolRefused):
        build_pool(access=ada, campaign=campaign, plan=plan, at=NOW)


def test_an_open_campaign_takes_pairs_at_once_but_none_that_is_open_elsewhere(
    world: World, ada: Access, runs: list[Run]
) -> None:
    make_campaign(world=world, name="Other", pairs=[(world.queries[1], world.documents[3])])
    campaign = make_campaign(world=world, pairs=[(world.queries[0], world.documents[0])], depth=2)
    plan = plan_of(runs[:1])
    preview = preview_pool(access=ada, campaign=campaign, plan=plan)
    assert (preview.pairs, preview.in_campaign, preview.open_elsewhere) == (1, 1, 1)
    build_pool(access=ada, campaign=campaign, plan=plan, at=NOW)
    assert pairs_of(campaign) == {("q1", "d1"), ("q1", "d2")}
    assert set(campaign.pairs.values_list("is_open", flat=True)) == {True}


def test_a_closed_campaign_takes_no_pairs(world: World, ada: Access, runs: list[Run]) -> None:
    campaign = make_campaign(world=world, pairs=[(world.queries[0], world.documents[0])])
    closed = close_campaign(access=ada, campaign=campaign, at=NOW)
    with pytest.raises(PoolRefused, match="closed"):
        build_pool(access=ada, campaign=closed, plan=plan_of(runs), at=NOW)


@pytest.mark.parametrize("change", [{"runs": ()}, {"depth": 0}, {"sample_size": 0}])
def test_a_plan_that_makes_no_sense_is_refused(
    ada: Access, campaign: Campaign, runs: list[Run], change: dict[str, Any]
) -> None:
    with pytest.raises(PoolRefused):
        preview_pool(access=ada, campaign=campaign, plan=replace(plan_of(runs), **change))


def test_runs_that_are_not_there_are_not_found(
    world: World, ada: Access, campaign: Campaign, runs: list[Run]
) -> None:
    films = make_world(slug="films")
    foreign = make_run(collection=films.collection, rankings=FIRST)
    withdraw_run(access=ada, run=runs[0], at=NOW)
    for public_id in (foreign.public_id, runs[0].public_id, uuid4()):
        plan = PoolPlan(runs=(public_id,), depth=2)
        with pytest.raises(NotFound):
            preview_pool(access=ada, campaign=campaign, plan=plan)


def test_a_run_that_comes_later_brings_new_pairs_with_one_button(
    world: World, ada: Access, campaign: Campaign, runs: list[Run]
) -> None:
    build_pool(access=ada, campaign=campaign, plan=plan_of(runs[:1]), at=BEFORE)
    campaign = open_campaign(access=ada, campaign=campaign, at=NOW)
    label(pair=campaign.pairs.select_related("campaign")[0], username="ben", grade=1)
    found = preview_top_up(access=ada, campaign=campaign)
    assert (found.preview.pairs, found.preview.in_campaign) == (4, 3)
    assert [(run.label, run.is_new, run.pairs) for run in found.runs] == [
        ("bm25 / one", False, 0),
        ("tf-idf / two", True, 4),
    ]
    made = top_up(access=ada, campaign=campaign, at=NOW)
    assert (made.pool.pair_count, made.skipped) == (4, ("3 pairs already in the campaign",))
    assert campaign.pairs.count() == 7
    assert preview_top_up(access=ada, campaign=campaign).preview.pairs == 0
    with pytest.raises(PoolRefused, match="add no new pairs"):
        top_up(access=ada, campaign=campaign, at=NOW)


def test_a_run_that_was_not_chosen_stays_out_of_a_top_up(
    ada: Access, campaign: Campaign, runs: list[Run]
) -> None:
    build_pool(access=ada, campaign=campaign, plan=plan_of(runs[:1]), at=NOW)
    found = preview_top_up(access=ada, campaign=campaign)
    assert [run.label for run in found.runs] == ["bm25 / one"]
    assert found.preview.pairs == 0
    in_words = "3 pairs already in the campaign; 1 run that was not chosen for the newest pool"
    assert "; ".join(found.skipped) == in_words


def test_topping_up_a_sampled_campaign_keeps_its_rate() -> None:
    world = make_world(slug="many", queries=5, documents=200)
    ada = make_access(collection=world.collection)
    half, rest = (
        {f"q{q}": [f"d{d}" for d in range(first, first + 100)] for q in range(1, 6)}
        for first in (1, 101)
    )
    run = make_run(collection=world.collection, rankings=half)
    campaign = make_draft(world=world, pairs=[], depth=100)
    plan = plan_of([run], depth=100, sample_size=100, seed=3)
    build_pool(access=ada, campaign=campaign, plan=plan, at=BEFORE)
    make_run(collection=world.collection, rankings=rest, ranker="late")
    found = preview_top_up(access=ada, campaign=campaign)
    assert 60 < found.preview.pairs < 140
    left = 1_000 - 100 - found.preview.pairs
    assert found.skipped == ("100 pairs already in the campaign", f"{left} pairs not in the sample")


def test_there_is_nothing_to_top_up_without_a_pool(
    world: World, ada: Access, runs: list[Run]
) -> None:
    campaign = make_draft(world=world, pairs=[], name="Empty")
    with pytest.raises(PoolRefused, match="no pool yet"):
        preview_top_up(access=ada, campaign=campaign)


@pytest.mark.parametrize("username", ["ben", "dora"])
def test_only_leads_build_pools(
    world: World, campaign: Campaign, runs: list[Run], username: str
) -> None:
    access = make_access(collection=world.collection, username=username)
    for attempt in (
        lambda: preview_pool(access=access, campaign=campaign, plan=plan_of(runs)),
        lambda: preview_top_up(access=access, campaign=campaign),
        lambda: build_pool(access=access, campaign=campaign, plan=plan_of(runs), at=NOW),
        lambda: top_up(access=access, campaign=campaign, at=NOW),
    ):
        with pytest.raises(NotFound):
            attempt()


def test_nobody_builds_pools_for_others(campaign: Campaign, runs: list[Run]) -> None:
    own = Collection.objects.get(slug="books-of-eve")
    access = make_access(collection=own, username="eve")
    with pytest.raises(NotFound):
        build_pool(access=access, campaign=campaign, plan=plan_of(runs), at=NOW)
    with pytest.raises(NotFound):
        preview_pool(access=access, campaign=campaign, plan=plan_of(runs))
