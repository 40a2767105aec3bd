"""The open leaderboard's table, computed once for all pages that were told of the same event.

Hundreds of pages ask within a second of an event, and what they are shown depends on the list, the
address and the role alone. So what one of them was answered is kept under the event: it was
computed after it, and is as new as each of the others asks for.
"""

import hashlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from judgments.models import JudgmentList
from judgments.permissions import Access
from judgments.storage.caches import read_cached, write_cached

KEPT: Final = 10  # seconds: events are answered within two; later requests want what is new
OLDEST: Final = 60.0  # seconds since the event
_computing = threading.Lock()


@dataclass(frozen=True)
class SharedPart:
    """A table as it was answered, and the state of the leaderboard that it shows."""

    state: str
    html: str


def is_recent(event: str) -> bool:
    """Whether it is an event of the last minute: the listener's clock, in milliseconds.

    None of the future, or an answer could be put there for others before what changes.
    """
    if not (event.isascii() and event.isdecimal() and len(event) < 16):
        return False
    return 0 <= time.time() - int(event) / 1000 < OLDEST


def get_shared_part(
    *,
    access: Access,
    judgment_list: JudgmentList,
    address: str,
    event: str,
    compute: Callable[[], SharedPart],
) -> SharedPart | None:
    """The table for this address and role, computed after the event for the first that asked.

    None while another thread computes a table: the page shall ask again soon. A thread that waited
    would be one that takes no labels. The caller has checked that the viewer may see it, and that
    showing it need not be recorded.
    """
    said = (str(judgment_list.pk), event, access.role, str(access.is_archived), address)
    name = "board-part:" + hashlib.sha256("\n".join(said).encode()).hexdigest()
    result = read_cached(name, SharedPart)
    if result is not None:
        return result
    if not _computing.acquire(blocking=False):
        return None
    try:
        result = compute()
        write_cached(name, result, KEPT)
        return result
    finally:
        _computing.release()
