"""When the next request may be sent: rate, pauses that a server asks for, a circuit breaker."""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

LONGEST_PAUSE: Final = 120.0  # seconds that a server is waited for
FIRST_WAIT: Final = 0.5
T = TypeVar("T")


def wait_before(attempt: int, *, asked: float | None, jitter: float) -> float:
    """Seconds before a further attempt: what the server asked for, or twice as long each time.

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
    """The pace of one body of requests; threads share it. clock: monotonic seconds."""

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
        """Nothing is sent for so long; gives up where a server asks for too much."""
        with self._lock:
            if seconds > LONGEST_PAUSE:
                self.given_up = f"The server asked for a pause of {seconds:,.0f} s (Retry-After)."
            self._closed_until = max(self._closed_until, self._clock() + seconds)

    def is_held(self) -> bool:
        """Whether a pause began after a turn was taken."""
        with self._lock:
            return self._clock() < self._closed_until

    def give_up(self, problem: str) -> None:
        """Send nothing more; the first problem is kept."""
        with self._lock:
            self.given_up = self.given_up or problem

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
                self.given_up = "The server did not answer for too long."
            pause = self._rule.pause * 2 ** (self._openings - 1)
            self._closed_until = max(self._closed_until, self._clock() + pause)


@dataclass(frozen=True)
class Reply(Generic[T]):
    """What became of one attempt. is_trouble: the next request will probably fail too. may_retry:
    the same request may succeed a moment later. pause: seconds that the server asks for.
    """

    value: T
    is_trouble: bool
    may_retry: bool
    pause: float | None = None


def ask_at_pace(
    *, pace: Pace, stop: threading.Event, attempts: int, send: Callable[[int], Reply[T]]
) -> tuple[list[T], bool]:
    """What became of each attempt, and whether the last one is final; False if stopped before.

    send: makes attempt n, from 1. stop: ends all waiting when it is set.
    """
    made: list[T] = []
    for attempt in range(1, attempts + 1):
        if not _wait_for_turn(pace, stop):
            return made, False
        reply = send(attempt)
        made.append(reply.value)
        pace.report(is_trouble=reply.is_trouble)
        if reply.pause is not None:
            pace.hold(reply.pause)
        if attempt == attempts or pace.given_up or not reply.may_retry:
            break
        jitter = random.random()  # noqa: S311  (spreads retries, protects nothing)
        if stop.wait(wait_before(attempt + 1, asked=reply.pause, jitter=jitter)):
            return made, False
    return made, True


def _wait_for_turn(pace: Pace, stop: threading.Event) -> bool:
    """False if there is none any more."""
    while True:
        if stop.wait(pace.reserve()) or pace.given_up:
            return False
        if not pace.is_held():
            return True
