"""Waking a worker: a hint that the database holds something due, never the work itself."""

import logging
import threading
import time
from functools import partial

from celery import current_app
from django.db import transaction
from kombu import pools

logger = logging.getLogger(__name__)

# After a failed publish no one tries again for this long, so that a broker that is away costs
# one short wait and not one for every label; the sweep finds what was not announced.
SILENCE = 5.0
PAUSE = 0.1  # seconds between two messages that say the same, where no one says otherwise
# A person waits while a label is announced; a worker that waits for messages has more time.
# A health check would double the wait, and kombu's retries sleep for seconds between them.
PATIENCE = {
    "socket_timeout": 0.3,
    "socket_connect_timeout": 0.3,
    "health_check_interval": 0,
    "max_retries": 0,
}


class Breaker:
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


_breaker = Breaker()


def wake(task: str, *args: int | str, pause: float = PAUSE) -> None:
    """Send the message `task(*args)` once this transaction has committed.

    Where many transactions say the same, it is sent at once and then once in so many seconds.
    Never raises and never makes the caller's request fail: what is lost is swept up.
    """
    transaction.on_commit(partial(_crier.cry, task, *args, pause=pause), robust=True)


def publish_later(seconds: float, task: str, *args: int | str) -> None:
    """Send the message in so many seconds; asked again before then, it is still sent once."""
    _crier.cry_later(seconds, task, *args)


def publish(task: str, *args: int | str) -> bool:
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


class _Crier:
    """Says each message at once, then not before a pause is over; what was to be said meanwhile
    is said once, at its end. So a queue holds few messages however many labels there are, and
    what waits behind them does not wait long.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._said_at: dict[tuple[str, tuple[int | str, ...]], float] = {}
        self._waiting: set[tuple[str, tuple[int | str, ...]]] = set()

    def cry(self, task: str, *args: int | str, pause: float) -> None:
        now = time.monotonic()
        with self._lock:
            wait = self._said_at.get((task, args), -pause) + pause - now
            if wait <= 0:
                self._said_at[task, args] = now
        if wait > 0:
            self.cry_later(wait, task, *args)
        else:
            publish(task, *args)

    def cry_later(self, seconds: float, task: str, *args: int | str) -> None:
        with self._lock:
            if (task, args) in self._waiting:
                return
            self._waiting.add((task, args))
        timer = threading.Timer(seconds, self._cry_now, (task, *args))
        timer.daemon = True
        timer.start()

    def _cry_now(self, task: str, *args: int | str) -> None:
        # first no longer waiting, then said: whatever commits from here on is said again
        with self._lock:
            self._waiting.discard((task, args))
            self._said_at[task, args] = time.monotonic()
        publish(task, *args)


_crier = _Crier()


def _producers() -> pools.ProducerPool:
    """Connections for announcing alone, with a patience of their own; kept by kombu."""
    producers: pools.ProducerPool = pools.producers[
        current_app.connection_for_write(transport_options=PATIENCE)
    ]
    return producers
