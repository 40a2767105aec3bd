"""A pool from live rankers in one step: snapshots now, and the pool once they have ended."""

from datetime import datetime

from django.db import IntegrityError, transaction

from annotation.models import Campaign, Pool, SnapshotPool
from annotation.permissions import check_may_run
from annotation.pooling.queries import PoolPlan, PoolRefused
from annotation.pooling.services import build_pool
from evaluation.public import SnapshotOutcome, list_snapshot_outcomes, start_snapshots
from judgments.audit import services as audit
from judgments.permissions import Access, NotFound, get_access
from touchstone.errors import DomainError


def pool_snapshots(*, access: Access, campaign: Campaign, at: datetime) -> SnapshotPool:
    """Ask every live ranker, and add the top of their runs to the campaign then; for leads.

    Raises PoolRefused where none is live or such a pool is awaited, and what stops a snapshot.
    """
    check_may_run(access, campaign)
    if campaign.state == Campaign.State.CLOSED:
        raise PoolRefused("state", "The campaign is closed.")
    try:
        with transaction.atomic():
            started = start_snapshots(access=access, at=at)
            if not started:
                raise PoolRefused("not_live", "This collection has no live rankers.")
            awaited = SnapshotPool.objects.create(
                campaign=campaign,
                snapshots=[str(one) for one in started],
                created_at=at,
                created_by=access.user,
            )
            audit.record_by(
                access, at, "campaign.pool_awaited", campaign.name, after={"rankers": len(started)}
            )
    except IntegrityError as error:
        if not campaign.snapshot_pools.filter(state=SnapshotPool.State.WAITING).exists():
            raise
        raise PoolRefused("awaited", "A pool of this campaign is waiting already.") from error
    return awaited


def is_pool_due() -> bool:
    """Whether the task `annotation.build_snapshot_pools` would find something to do."""
    waiting = SnapshotPool.objects.filter(state=SnapshotPool.State.WAITING)
    return any(_have_ended(one) for one in waiting)


def build_due_pools(*, at: datetime) -> int:
    """Build the pools whose snapshots have ended; how many ended, with pairs or without."""
    ended = 0
    waiting = SnapshotPool.objects.filter(state=SnapshotPool.State.WAITING).order_by("pk")
    for awaited in waiting.select_related("campaign__list__collection", "created_by"):
        if not _have_ended(awaited):
            continue
        ended += _end(awaited, at)
    return ended


def _have_ended(awaited: SnapshotPool) -> bool:
    return not any(one.is_running for one in list_snapshot_outcomes(public_ids=awaited.snapshots))


def _end(awaited: SnapshotPool, at: datetime) -> int:
    """Build one pool; 0 where another worker did."""
    outcomes = list_snapshot_outcomes(public_ids=awaited.snapshots)
    with transaction.atomic():
        locked = SnapshotPool.objects.select_for_update(no_key=True).get(pk=awaited.pk)
        if locked.state != SnapshotPool.State.WAITING:
            return 0
        try:
            with transaction.atomic():
                built = _build(awaited, outcomes, at)
        except DomainError as refusal:
            state, message = SnapshotPool.State.FAILED, refusal.message
        else:
            state = SnapshotPool.State.DONE
            message = f"{built.pair_count:,} pair{'s' * (built.pair_count != 1)} added."
        failed = [f"{one.ranker}: {one.problem}" for one in outcomes if one.run is None]
        message = " ".join([message, *failed])
        locked.state, locked.message, locked.ended_at = state, message, at
        locked.save(update_fields=["state", "message", "ended_at"])
    return 1


def _build(awaited: SnapshotPool, outcomes: list[SnapshotOutcome], at: datetime) -> Pool:
    """As the campaign's newest pool was built, of the runs of the snapshots.

    Raises PoolRefused, and NotFound if the caller no longer leads the collection.
    """
    campaign = awaited.campaign
    access = get_access(viewer=awaited.created_by, slug=campaign.list.collection.slug)
    runs = tuple(dict.fromkeys(one.run for one in outcomes if one.run is not None))
    if not runs:
        raise PoolRefused("no_runs", "No snapshot became a run.")
    last = campaign.pools.select_related("saved_set").order_by("-pk").first()
    plan = PoolPlan(
        runs=runs,
        depth=campaign.depth,
        only_unjudged=last is not None and last.only_unjudged,
        saved_set=last.saved_set.slug if last and last.saved_set else "",
    )
    try:
        return build_pool(access=access, campaign=campaign, plan=plan, at=at)
    except NotFound as error:
        raise PoolRefused(
            "not_lead", "The person who requested it no longer leads the collection."
        ) from error
