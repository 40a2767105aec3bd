"""What pools need of live rankers: fresh snapshots of all of them, and what became of these."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from evaluation.live_rankers.services import start_snapshot
from evaluation.models import LiveSource, Ranker, Snapshot
from judgments.permissions import Access, check_may_see_rankings, check_may_upload_runs


@dataclass(frozen=True)
class SnapshotOutcome:
    """A snapshot. run: the id of its run; None while there is none. problem: why, in words."""

    ranker: str
    is_running: bool
    run: UUID | None
    problem: str


def count_live_rankers(*, access: Access) -> int:
    """How many rankers of the collection are live."""
    check_may_see_rankings(access)
    return LiveSource.objects.filter(ranker__collection=access.collection).count()


def start_snapshots(*, access: Access, at: datetime) -> list[UUID]:
    """Ask every live ranker of the collection; the ids of the snapshots. One that runs is joined.

    For researchers and leads. Raises LiveRefused where there is nothing to ask.
    """
    check_may_upload_runs(access)
    started = []
    rankers = Ranker.objects.filter(collection=access.collection, live__isnull=False)
    for ranker in rankers.select_related("collection").order_by("pk"):
        running = Snapshot.objects.filter(source__ranker=ranker, state=Snapshot.State.RUNNING)
        snapshot = running.first() or start_snapshot(access=access, ranker=ranker, at=at)
        started.append(snapshot.public_id)
    return started


def list_snapshot_outcomes(*, public_ids: Sequence[str]) -> list[SnapshotOutcome]:
    """What became of these snapshots so far; the caller has checked who asks."""
    snapshots = Snapshot.objects.filter(public_id__in=public_ids).order_by("pk")
    return [
        SnapshotOutcome(
            one.source.ranker.name,
            one.state == Snapshot.State.RUNNING,
            None if one.run is None or one.run.withdrawn_at else one.run.public_id,
            one.problem or ("" if one.run_id else one.get_state_display()),
        )
        for one in snapshots.select_related("source__ranker", "run")
    ]
