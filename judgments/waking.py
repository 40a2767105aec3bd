"""Waking a worker: a hint that the database holds something due, never the work itself."""

import logging
import time
from functools import partial

from celery import current_app
from django.db import transaction

logger = logging.getLogger(__name__)

# After a failed publish nobody tries again for this long, so that a broker that is away costs
# one short wait and not one for every label; the sweep finds what was not announced.
SILENCE = 5.0
_silent_until = 0.0


def wake(task: str, *args: int) -> None:
    """Send the message `task(*args)` once this transaction has committed.

    Never raises and never makes the caller's request fail: what is lost is swept up.
    """
    transaction.on_commit(partial(publish, task, *args), robust=True)


def publish(task: str, *args: int) -> bool:
    """Send the message now; False if the broker could not be reached."""
    global _silent_until  # noqa: PLW0603  (one breaker a process is the point)
    if time.monotonic() < _silent_until:
        return False
    try:
        current_app.send_task(task, args=args, retry=False)
    except Exception as error:  # noqa: BLE001  (kombu, redis and socket errors alike: see above)
        _silent_until = time.monotonic() + SILENCE
        logger.warning("%s was not announced: %s", task, type(error).__name__)
        return False
    return True
