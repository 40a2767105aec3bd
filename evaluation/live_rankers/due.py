"""Whether a snapshot is to begin, or to be given up; for the sweep."""

from datetime import datetime

from evaluation.models import LiveSource, Snapshot
from judgments.models import Job


def is_snapshot_due(now: datetime) -> bool:
    """Whether the task `evaluation.start_snapshots` would find something to do."""
    abandoned = Snapshot.objects.filter(state=Snapshot.State.RUNNING, job__state=Job.State.FAILED)
    return LiveSource.objects.filter(next_at__lte=now).exists() or abandoned.exists()
