"""How often one person may ask, counted minute by minute in each web process for itself.

In memory, and not in Redis: a label must be stored while Redis is away, and must not wait for it.
"""

import time
from collections.abc import Callable
from math import ceil
from threading import Lock
from typing import Any, Final, Literal, TypeVar

from django.conf import settings

Scope = Literal["labelling", "rest", "pages", "costly"]
View = TypeVar("View", bound=Callable[..., Any])

WINDOW: Final = 60.0  # seconds
# Requests of a person in a window. Who labels without reading sends about 700; a queue that was
# filled offline goes out in batches. `costly` requests may each take a second of processor time.
RATES: Final[dict[Scope, int]] = {"labelling": 6_000, "rest": 1_800, "pages": 1_800, "costly": 240}
SCOPE: Final = "throttle_scope"


class RequestCounts:
    """The requests of the current window, by scope and person."""

    def __init__(self) -> None:
        self._window = 0
        self._counts: dict[tuple[str, int], int] = {}
        self._lock = Lock()

    def add(self, scope: Scope, person: int, at: float) -> int:
        """Count a request made `at` a time in seconds; how many there are with it."""
        with self._lock:
            if self._window != int(at // WINDOW):
                self._window = int(at // WINDOW)
                self._counts.clear()
            count = self._counts.get((scope, person), 0) + 1
            self._counts[scope, person] = count
            return count


counts: Final = RequestCounts()


def seconds_to_wait(*, scope: Scope, person: int) -> int | None:
    """Count a request; None if it may be answered, else after how many seconds the next may be."""
    if not settings.THROTTLE:
        return None
    now = time.time()
    if counts.add(scope, person, now) <= RATES[scope] * settings.THROTTLE:
        return None
    return ceil(WINDOW - now % WINDOW)


def costly(view: View) -> View:
    """Marks a view whose answers take much processor time."""
    setattr(view, SCOPE, "costly")
    return view


def labelling(view: View) -> View:
    """Marks a view that is asked for with each pair that an annotator labels."""
    setattr(view, SCOPE, "labelling")
    return view
