"""Long work in slices: half a minute of requests, sent by threads, stored as answers come."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Final, Generic, TypeVar

from judgments.outgoing.pacing import Pace
from judgments.stopping import process_ends

SLICE: Final = 30.0  # seconds after which other jobs have their turn
LOOK: Final = 1.0  # seconds between two looks at whether to stop
AHEAD: Final = 2  # requests for each thread: the next is there when one ends

Item = TypeVar("Item")
Request = TypeVar("Request")
Reply = TypeVar("Reply")


class Slice(Generic[Item, Request, Reply]):
    """The requests of one job.

    requests: items, each with what is asked about it; read by the thread that runs the slice.
    ask: called by threads. store: called by the thread that runs the slice, with items and what
    became of them. may_send: whether another request may be begun beside so many.
    """

    def __init__(
        self,
        *,
        requests: Iterator[tuple[Item, Request]],
        ask: Callable[[Request], Reply],
        store: Callable[[list[tuple[Item, Reply]]], None],
        at_once: int,
        may_send: Callable[[int], bool] = lambda _: True,
    ) -> None:
        self._requests = requests
        self._ask = ask
        self._store = store
        self._at_once = at_once
        self._may_send = may_send
        self._in_flight: dict[Future[Reply], Item] = {}

    def run(self, *, pace: Pace, stop: threading.Event, goes_on: Callable[[], bool]) -> None:
        """Send until the time is up, nothing is left, the pace gives up, the process was told to
        end, or `goes_on`, which is asked once a second, says no; then store what is still under
        way.

        stop: is set at the end, and ends all waiting.
        """
        until = time.monotonic() + SLICE
        with ThreadPoolExecutor(self._at_once) as threads:
            looked = time.monotonic()
            try:
                while not pace.given_up and time.monotonic() < until and self._submit(threads):
                    self._store_next()
                    if process_ends.is_set():
                        break
                    if time.monotonic() - looked >= LOOK:
                        looked = time.monotonic()
                        if not goes_on():
                            break
            except BaseException:
                self.cancel()
                raise
            finally:
                stop.set()
            self._store_rest()

    def cancel(self) -> set[Future[Reply]]:
        """Drop what was not begun; what was."""
        begun = {future for future in self._in_flight if not future.cancel()}
        self._in_flight = {future: self._in_flight[future] for future in begun}
        return begun

    def _submit(self, threads: ThreadPoolExecutor) -> bool:
        """Keep the threads busy; False where nothing is under way."""
        most = AHEAD * self._at_once
        while len(self._in_flight) < most and self._may_send(len(self._in_flight)):
            following = next(self._requests, None)
            if following is None:
                break
            item, request = following
            self._in_flight[threads.submit(self._ask, request)] = item
        return bool(self._in_flight)

    def _store_next(self) -> None:
        """Wait for an answer, but not for long, and store what is there."""
        ended, _ = wait(self._in_flight, timeout=LOOK, return_when=FIRST_COMPLETED)
        self._take(ended)

    def _store_rest(self) -> None:
        begun = self.cancel()
        wait(begun)
        self._take(begun)

    def _take(self, ended: set[Future[Reply]]) -> None:
        self._store([(self._in_flight.pop(future), future.result()) for future in ended])
