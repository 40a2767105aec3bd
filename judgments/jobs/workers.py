"""Which workers have shown signs of life."""

from datetime import datetime, timedelta
from typing import Final

from judgments.models import WorkerBeat

LATELY: Final = timedelta(seconds=45)  # after which a silent worker counts as gone
KEPT: Final = timedelta(hours=1)  # for which a silent worker is still spoken of


def list_beats(*, at: datetime) -> list[tuple[str, float]]:
    """(name, seconds since it was last heard of) of each worker of the last hour, by name."""
    beats = WorkerBeat.objects.filter(beat_at__gt=at - KEPT).order_by("name")
    return [(beat.name, (at - beat.beat_at).total_seconds()) for beat in beats]


def count_live_workers(*, at: datetime) -> int:
    """How many workers were heard of lately."""
    return WorkerBeat.objects.filter(beat_at__gt=at - LATELY).count()
