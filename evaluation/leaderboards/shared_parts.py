"""The open leaderboard's table, computed once for all pages that ask for the same state of it.

What an open page is shown depends on the list, the address and the role alone, and changes with the
leaderboard's state. So what one of them was answered is kept under both.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from judgments.storage.caches import read_cached, write_cached

KEPT: Final = 10  # seconds: names and tags, which are no part of the state, may change
KEPT_WAITING: Final = 1  # seconds, while runs are computed: values may come in the same state
AT_ONCE: Final = 2  # tables that one process computes
_lock = threading.Lock()
_computing: set[str] = set()


@dataclass(frozen=True)
class SharedPart:
    """A table as it was answered, and the state of the leaderboard that it shows."""

    state: str
    html: str


def get_shared_part(
    *, key: str, state: str, is_told: bool, compute: Callable[[], SharedPart]
) -> SharedPart | None:
    """The table of this key and state, computed for the first that asks.

    is_told: asked for because something changed, and so not as it was a second ago.
    None while others compute it, or too many compute others: the page shall ask again soon. A
    thread that waited would be one that takes no labels. The caller has checked that the viewer may
    see it, and that showing it need not be recorded.
    """
    name = f"board-part:{key}:{state}"
    result = read_cached(name, SharedPart)
    if result is not None and (result.state == state or not is_told):
        return result
    with _turn(name) as has_turn:
        if not has_turn:
            return None
        result = compute()
        if result.html:
            write_cached(name, result, KEPT if result.state == state else KEPT_WAITING)
        return result


@contextmanager
def _turn(name: str) -> Iterator[bool]:
    with _lock:
        has_turn = name not in _computing and len(_computing) < AT_ONCE
        if has_turn:
            _computing.add(name)
    try:
        yield has_turn
    finally:
        if has_turn:
            with _lock:
                _computing.discard(name)
