"""Signs of life of long work, and how often it is tried when its workers are killed."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from django.db import DatabaseError, close_old_connections, connection

logger = logging.getLogger(__name__)

ATTEMPTS: Final = 5
GAVE_UP: Final = "Gave up after five attempts: the worker stopped each time before it was done."


@contextmanager
def beating(beat: Callable[[], object], *, every: float, name: str) -> Iterator[None]:
    """Call `beat` every so many seconds from a thread of its own while the work runs.

    name: of the thread, for logs.
    """
    stop = threading.Event()

    def run() -> None:
        while not stop.wait(every):
            try:
                beat()
            except DatabaseError:  # SQLite, while the work itself writes: no one else can either
                logger.debug("no heartbeat for %s", name)
            finally:
                close_old_connections()
        connection.close()

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
