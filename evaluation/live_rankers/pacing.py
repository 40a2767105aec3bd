"""When the next request may be sent: rate, pauses that an engine asks for, a circuit breaker."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

LONGEST_PAUSE: Final = 120.0  # seconds that a snapshot waits for an engine
FIRST_WAIT: Final = 0.5


def wait_before(attempt: int, *, asked: float | None, jitter: float) -> float:
    """Seconds before a further attempt: what the engine asked for, or twice as long each time.

    attempt: the one to come, from 2. asked: by Retry-After. jitter: from 0 to 1; of our own wait
    half is random, so that requests that failed together do not come again together.
    """
    own = FIRST_WAIT * 2.0 ** (attempt - 2) * (0.5 + jitter / 2)
    return own if asked is None else max(asked, own)


@dataclass(frozen=True)
class BreakerRule:
    """failures: in a row, of all requests, after which none is sent for `pause` seconds; then one
    more failure is enough for a pause twice as long. openings: after which to give up.
    """

    failures: int = 10
    pause: float = 5.0
    openings: int = 4


class Pace:
    """One snapshot's pace; threads share it. clock: monotonic seconds."""

    def __init__(
        self,
        *,
        rate: float,
        clock: Callable[[], float],
        rule: BreakerRule | None = None,
    ) -> None:
        """rate: requests per second; 0 for no limit."""
        self._step = 1 / rate if rate else 0.0
        self._clock = clock
        self._rule = rule or BreakerRule()
        self._lock = threading.Lock()
        self._next = 0.0
        self._closed_until = 0.0
        self._failures = 0
        self._openings = 0
        self.given_up = ""

    def reserve(self) -> float:
        """Take the next turn; how many seconds to wait for it."""
        with self._lock:
            now = self._clock()
            turn = max(self._next, self._closed_until, now)
            self._next = turn + self._step
            return turn - now

    def hold(self, seconds: float) -> None:
        """Nothing is sent for so long; gives up where an engine asks for too much."""
        with self._lock:
            if seconds > LONGEST_PAUSE:
                self.given_up = f"The engine asked for a pause of {seconds:,.0f} s (Retry-After)."
            self._closed_until = max(self._closed_until, self._clock() + seconds)

    def is_held(self) -> bool:
        """Whether a pause began after a turn was taken."""
        with self._lock:
            return self._clock() < self._closed_until

    def report(self, *, is_trouble: bool) -> None:
        """A request ended."""
        with self._lock:
            if not is_trouble:
                self._failures = self._openings = 0
                return
            self._failures += 1
            if self._failures < self._rule.failures or self._clock() < self._closed_until:
                return
            self._failures = self._rule.failures - 1  # the first failure after a pause is enough
            self._openings += 1
            if self._openings >= self._rule.openings:
                self.given_up = "The engine did not answer for too long."
            pause = self._rule.pause * 2 ** (self._openings - 1)
            self._closed_until = max(self._closed_until, self._clock() + pause)
