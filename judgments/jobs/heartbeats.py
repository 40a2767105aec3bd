"""Signs of life of workers, so that one can see whether anybody does the work."""

from datetime import datetime
from typing import Final

from judgments.jobs.workers import KEPT
from judgments.models import WorkerBeat

LONGEST_NAME: Final = 200


def beat(*, name: str, at: datetime) -> None:
    """Note that the worker of this name is there; forget those that were not for an hour."""
    WorkerBeat.objects.bulk_create(
        [WorkerBeat(name=name[:LONGEST_NAME], beat_at=at)],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["beat_at"],
    )
    WorkerBeat.objects.filter(beat_at__lt=at - KEPT).delete()
