"""Computing kept figures in a worker: one at a time, and never what is there already."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from django.db.models import Q, QuerySet

from judgments.models.kept import KeptFigures

logger = logging.getLogger(__name__)

DEAD_AFTER: Final = timedelta(seconds=60)  # without a sign of life; the slowest step takes ten
Clock = Callable[[], datetime]
Beat = Callable[[int], None]  # with how many steps are done
Compute = Callable[[Beat], dict[str, Any]]


def bring_up_to_date(
    kept: KeptFigures, *, key: str, revision: int, compute: Compute, clock: Clock
) -> bool:
    """Compute kept figures unless they are of this key and revision; whether that was to be done.

    One worker at a time: others return at once meanwhile. Doing it twice changes
    nothing. A failure is kept for the page, logged, and tried again when someone looks.
    """
    if (kept.seen, kept.revision) == (key, revision):
        return False
    rows, token, began = type(kept)._default_manager, uuid4(), clock()
    free = Q(heartbeat_at__isnull=True) | Q(heartbeat_at__lt=began - DEAD_AFTER)
    if not rows.filter(free, pk=kept.pk).update(token=token, heartbeat_at=began, steps_done=0):
        return False
    own = rows.filter(pk=kept.pk, token=token)
    over = {"token": None, "heartbeat_at": None}
    try:
        figures = compute(lambda steps: _beat(own, clock, steps))
    except Exception:
        logger.exception("computing the %s failed: %s", kept._meta.verbose_name, kept)
        own.update(**over, problem="An unexpected error occurred. See the server log.")
        return True
    ended = clock()
    own.update(
        **over,
        figures=figures,
        seen=key,
        revision=revision,
        computed_at=ended,
        took_seconds=(ended - began).total_seconds(),
        problem="",
    )
    return True


def _beat(own: QuerySet[KeptFigures], clock: Clock, steps: int) -> None:
    own.update(heartbeat_at=clock(), steps_done=steps)
