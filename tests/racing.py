"""Works at the same moment, each on a database connection of its own: the fixture `at_once`.

TOUCHSTONE_ROUNDS says how often a race is run; a thousand times is the long form, with more people
in each.
"""

import os
import threading
from collections.abc import Callable, Iterable
from functools import partial
from queue import SimpleQueue
from typing import Any, Final

import pytest
from django.db import connection

ROUNDS: Final = int(os.environ.get("TOUCHSTONE_ROUNDS", "12"))
CROWD: Final = 8 if ROUNDS < 1_000 else 32  # people who want the same thing
AtOnce = Callable[..., list[Any]]
# seconds; a work that takes longer waits for one that waits for it
PATIENCE: Final = max(60.0, ROUNDS / 2)


class Racers:
    """Threads that keep their connections from race to race, because to connect takes longer."""

    def __init__(self) -> None:
        self._queues: list[SimpleQueue[Callable[[], None] | None]] = []
        self._threads: list[threading.Thread] = []

    def at_once(self, *works: Callable[[], Any]) -> list[Any]:
        """What each work returned or raised, all begun at the same moment."""
        while len(self._queues) < len(works):
            self._queues.append(SimpleQueue())
            self._threads.append(
                threading.Thread(target=_race, args=(self._queues[-1],), daemon=True)
            )
            self._threads[-1].start()
        start, end = threading.Barrier(len(works)), threading.Barrier(len(works) + 1)
        results: list[Any] = [None] * len(works)

        def run(place: int, work: Callable[[], Any]) -> None:
            start.wait(PATIENCE)
            try:
                results[place] = work()
            except Exception as error:  # noqa: BLE001  (what it was is what the test looks at)
                results[place] = error
            end.wait(PATIENCE)

        for place, work in enumerate(works):
            self._queues[place].put(partial(run, place, work))
        try:
            end.wait(PATIENCE)
        except threading.BrokenBarrierError:
            pytest.fail("deadlock")
        return results

    def close(self) -> None:
        """End the threads and their connections."""
        for queue in self._queues:
            queue.put(None)
        for thread in self._threads:
            thread.join(PATIENCE)


def _race(queue: "SimpleQueue[Callable[[], None] | None]") -> None:
    try:
        connection.ensure_connection()
        while (run := queue.get()) is not None:
            run()
    finally:
        connection.close()


def raised(results: Iterable[Any]) -> list[Exception]:
    """What was raised of the results of a race."""
    return [result for result in results if isinstance(result, Exception)]
