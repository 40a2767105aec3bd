"""Signs of life of workers: whether anything does the work."""

from datetime import datetime, timedelta
from typing import Final

from judgments.models import WorkerBeat

LATELY: Final = timedelta(seconds=45)  # after which a silent worker counts as gone
KEPT: Final = timedelta(hours=1)  # for which a silent worker is still listed
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


def list_beats(*, at: datetime) -> list[tuple[str, float]]:
    """(name, seconds since its last heartbeat) of each worker of the last hour, by name."""
    beats = WorkerBeat.objects.filter(beat_at__gt=at - KEPT).order_by("name")
    return [(beat.name, (at - beat.beat_at).total_seconds()) for beat in beats]


def count_live_workers(*, at: datetime) -> int:
    """How many workers have a recent heartbeat."""
    return WorkerBeat.objects.filter(beat_at__gt=at - LATELY).count()
