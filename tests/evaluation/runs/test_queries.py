"""What other apps learn of runs: which there are, and what they ranked first."""

import pytest

from evaluation.runs.queries import (
    RankedQuery,
    get_ranker,
    get_run,
    list_ranked_documents,
    list_runs,
)
from evaluation.runs.services import withdraw_run
from judgments.models import Membership
from judgments.permissions import NotFound
from tests.builders import NOW, World, make_access, make_world
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db


def test_ranked_documents_come_in_rank_order_down_to_the_depth_asked_for(world: World) -> None:
    text = "q1 Q0 d1 1 0.1 t\nq1 Q0 d2 2 0.9 t\nq1 Q0 d3 3 0.5 t\nq2 Q0 d5 1 1 t\n"
    one = make_run(collection=world.collection, text=text)
    two = make_run(collection=world.collection, rankings={"q2": ["d4", "d1"]}, ranker="other")
    q1, q2 = (query.pk for query in world.queries[:2])
    d1, d2, d3, d4, d5 = (document.pk for document in world.documents)
    asked = list(list_ranked_documents(run_ids=[two.pk, one.pk], depth=2))
    assert asked == [
        RankedQuery(one.pk, q1, [d2, d3]),
        RankedQuery(one.pk, q2, [d5]),
        RankedQuery(two.pk, q2, [d4, d1]),
    ]
    only_q2 = list(list_ranked_documents(run_ids=[one.pk], depth=9, query_ids=[q2]))
    assert only_q2 == [RankedQuery(one.pk, q2, [d5])]
    assert list(list_ranked_documents(run_ids=[], depth=9)) == []
    assert d3 != d1


def test_rankings_are_read_in_portions_without_losing_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.runs.queries.AT_ONCE", 2)
    run = make_run(collection=world.collection, rankings={"q1": ["d1"], "q2": ["d2"], "q3": ["d3"]})
    asked = list_ranked_documents(run_ids=[run.pk], depth=1)
    assert [ranked.query_id for ranked in asked] == [query.pk for query in world.queries]


def test_runs_are_listed_by_ranker_without_the_withdrawn(world: World) -> None:
    make_run(collection=world.collection, rankings={"q1": ["d1"]}, ranker="zeta")
    make_run(collection=world.collection, rankings={"q1": ["d1"]}, ranker="alpha")
    gone = make_run(collection=world.collection, rankings={"q1": ["d2"]}, name="two")
    withdraw_run(access=make_access(collection=world.collection), run=gone, at=NOW)
    access = make_access(collection=world.collection, username="dora")
    assert [run.ranker_slug for run in list_runs(access=access)] == ["alpha", "zeta"]


def test_whoever_may_not_see_rankings_finds_neither_ranker_nor_run(world: World) -> None:
    run = make_run(collection=world.collection, rankings={"q1": ["d1"]})
    Membership.objects.filter(user=world.dora).update(is_annotating=True)
    for username in ("ben", "dora"):
        access = make_access(collection=world.collection, username=username)
        with pytest.raises(NotFound):
            list_runs(access=access)
        with pytest.raises(NotFound):
            get_ranker(access=access, slug="bm25")
        with pytest.raises(NotFound):
            get_run(access=access, public_id=run.public_id)


def test_a_ranker_or_run_of_another_collection_does_not_exist(world: World) -> None:
    run = make_run(collection=make_world(slug="films").collection, rankings={"q1": ["d1"]})
    access = make_access(collection=world.collection)
    with pytest.raises(NotFound):
        get_ranker(access=access, slug="bm25")
    with pytest.raises(NotFound):
        get_run(access=access, public_id=run.public_id)
