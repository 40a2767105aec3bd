"""Works at the same moment, each on a database connection of its own.

TOUCHSTONE_ROUNDS says how often a race is run; a thousand times is the long form, with more people
in each.
"""

import os
import threading
from collections.abc import Callable
from typing import Any, Final

from django.db import connection

ROUNDS: Final = int(os.environ.get("TOUCHSTONE_ROUNDS", "12"))
CROWD: Final = 8 if ROUNDS < 1_000 else 32  # people who want the same thing
PATIENCE: Final = 60.0  # seconds; a work that takes longer waits for one that waits for it


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """What each work returned or raised, all begun at the same moment."""
    start = threading.Barrier(len(works))
    results: list[Any] = [None] * len(works)

    def run(place: int, work: Callable[[], Any]) -> None:
        try:
            connection.ensure_connection()  # which takes longer than most works
            start.wait(PATIENCE)
            results[place] = work()
        except Exception as error:  # noqa: BLE001  (what it was is what the test looks at)
            results[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=one) for one in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads), "deadlock"
    return results


def raised_at_once(*works: Callable[[], Any]) -> list[Exception]:
    """What was raised of works that begin at the same moment."""
    return [result for result in at_once(*works) if isinstance(result, Exception)]
