"""Pools from live rankers in one step: snapshots, then the top of their runs."""

import pytest
from django.urls import reverse

from annotation.models import SnapshotPool
from annotation.pooling.queries import PoolRefused
from annotation.pooling.snapshot_pools import build_due_pools, is_pool_due, pool_snapshots
from annotation.tasks import build_snapshot_pools
from config.sweep import list_due
from evaluation.models import Snapshot
from judgments.models import Membership
from judgments.outgoing.rules import read_origins
from judgments.permissions import NotFound
from tests.builders import NOW, make_access, make_world
from tests.builders_annotation import make_campaign
from tests.evaluation.browsing import signed_in, text_of
from tests.evaluation.live_rankers.engine import make_live, results, running, work

pytestmark = pytest.mark.django_db
WAKE = ("annotation.build_snapshot_pools", ())


@pytest.fixture(scope="module")
def built(shared_rows):
    world = make_world(queries=2, documents=6)
    return world, make_campaign(
        world=world, pairs=[(world.queries[0], world.documents[5])], depth=2
    )


def test_the_top_of_every_live_ranker_is_added_once_all_have_answered(
    world, campaign, ada, settings
):
    rows = [("d1", 3.0), ("d2", 2.0), ("d3", 1.0)]
    with running(lambda _: results(rows)) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url)
        pool_snapshots(access=ada, campaign=campaign, at=NOW)
        assert WAKE not in set(list_due())
        assert build_due_pools(at=NOW) == 0
        with pytest.raises(PoolRefused, match="waiting already"):
            pool_snapshots(access=ada, campaign=campaign, at=NOW)
        work()
    assert WAKE in set(list_due())
    build_snapshot_pools()
    build_snapshot_pools()
    assert not is_pool_due()
    awaited = SnapshotPool.objects.get()
    assert (awaited.state, awaited.message) == ("done", "4 pairs added.")
    pairs = set(campaign.pairs.values_list("query__qid", "document__docid"))
    assert pairs == {("q1", "d6"), *((q, d) for q in ("q1", "q2") for d in ("d1", "d2"))}
    assert campaign.pools.get(pair_count=4).runs == [
        {"ranker": "live", "run": Snapshot.objects.get().run.name}
    ]


def test_an_outage_adds_nothing_and_says_so(world, campaign, ada, settings):
    with running(lambda _: (500, {}, b"")) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url)
        client = signed_in(ada.user)
        page = reverse("campaign-pool", args=["books", campaign.public_id])
        answer = client.post(
            reverse("campaign-pool-snapshots", args=["books", campaign.public_id]), follow=True
        )
        assert "Waiting for snapshots" in text_of(answer)
        work()
        build_due_pools(at=NOW)
    assert campaign.pairs.count() == 1
    assert "No snapshot became a run. live: 0 of 2 queries were answered" in text_of(
        client.get(page)
    )


def test_without_a_live_ranker_nothing_waits(campaign, ada):
    with pytest.raises(PoolRefused, match="no live rankers"):
        pool_snapshots(access=ada, campaign=campaign, at=NOW)
    assert not SnapshotPool.objects.exists()


def test_whoever_leads_no_more_adds_nothing(world, campaign, ada, settings):
    with running(lambda _: results([("d1", 1.0)])) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url)
        dora = make_access(collection=world.collection, username="dora")
        with pytest.raises(NotFound):
            pool_snapshots(access=dora, campaign=campaign, at=NOW)
        pool_snapshots(access=ada, campaign=campaign, at=NOW)
        Membership.objects.filter(user=ada.user).update(role="researcher")
        work()
        build_due_pools(at=NOW)
    assert SnapshotPool.objects.get().state == "failed"
    assert campaign.pairs.count() == 1
