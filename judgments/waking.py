"""Waking a worker: a hint that the database holds something due, never the work itself."""

import logging
import threading
import time
from functools import partial

from celery import current_app
from django.db import transaction
from kombu import pools

logger = logging.getLogger(__name__)

# After a failed publish nobody tries again for this long, so that a broker that is away costs
# one short wait and not one for every label; the sweep finds what was not announced.
SILENCE = 5.0
# A person waits while a label is announced; a worker that waits for messages has more time.
# A health check would double the wait, and kombu's retries sleep for seconds between them.
PATIENCE = {
    "socket_timeout": 0.3,
    "socket_connect_timeout": 0.3,
    "health_check_interval": 0,
    "max_retries": 0,
}


class _Breaker:
    """Whether it is worth trying; after a silence, one tries for all others."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._silent_until = 0.0

    def lets_through(self) -> bool:
        with self._lock:
            now = time.monotonic()
            if now < self._silent_until:
                return False
            if self._silent_until:
                self._silent_until = now + SILENCE
            return True

    def report(self, *, is_sent: bool) -> None:
        with self._lock:
            self._silent_until = 0.0 if is_sent else time.monotonic() + SILENCE


_breaker = _Breaker()


def wake(task: str, *args: int) -> None:
    """Send the message `task(*args)` once this transaction has committed.

    Never raises and never makes the caller's request fail: what is lost is swept up.
    """
    transaction.on_commit(partial(publish, task, *args), robust=True)


def publish(task: str, *args: int) -> bool:
    """Send the message now; False if the broker could not be reached."""
    if not _breaker.lets_through():
        return False
    is_sent = False
    try:
        with _producers().acquire(block=True, timeout=PATIENCE["socket_timeout"]) as producer:
            current_app.send_task(task, args=args, retry=False, producer=producer)
        is_sent = True
    except Exception as error:  # noqa: BLE001  (kombu, redis and socket errors alike: see above)
        logger.warning("%s was not announced: %s", task, type(error).__name__)
    finally:
        _breaker.report(is_sent=is_sent)
    return is_sent


def _producers() -> pools.ProducerPool:
    """Connections for announcing alone, with a patience of their own; kept by kombu."""
    producers: pools.ProducerPool = pools.producers[
        current_app.connection_for_write(transport_options=PATIENCE)
    ]
    return producers
