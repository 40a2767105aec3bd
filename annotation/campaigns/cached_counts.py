"""Counts of large campaigns, kept for a moment: pages that ask again and again stay cheap."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast
from uuid import UUID

from django.db.models import Sum

from annotation.models import Campaign

LARGE: Final = 5_000  # pairs; a smaller campaign is counted every time
TIMES: Final = 20  # as long as counting took is how long the count is kept, so many times
LONGEST: Final = 60.0  # seconds; a count is no older, whatever is said of its state
MOST: Final = 200

T = TypeVar("T")


@dataclass
class _Kept:
    """A count: what came out, of which state, and until when it is taken as it is."""

    counted_at: float
    cost: float
    state: object
    found: Any
    until: float


_kept: dict[tuple[UUID, str], _Kept] = {}
_guard = threading.Lock()


def kept(
    campaign: Campaign,
    what: str,
    count: Callable[[], T],
    *,
    state: Callable[[], object] | None = None,
) -> T:
    """What `count` returns; of a large campaign maybe as it was some seconds ago.

    However many look, and however large it is, counting takes at most a twentieth of a process.
    state: cheap to ask for, and another one whenever the count may be; while it is the same,
    nothing is recounted for up to a minute.
    """
    if (campaign.pools.aggregate(pairs=Sum("pair_count"))["pairs"] or 0) < LARGE:
        return count()
    key = campaign.public_id, what
    with _guard:
        last = _kept.get(key)
    now = time.monotonic()
    if last and now < last.until:
        return cast("T", last.found)
    stands_at = state() if state else None  # before counting: what changes meanwhile is seen later
    if state and last and stands_at == last.state and now < last.counted_at + LONGEST:
        last.until = now + TIMES * last.cost
        return cast("T", last.found)
    began = time.monotonic()
    counted = count()
    now = time.monotonic()
    cost = now - began
    with _guard:
        if len(_kept) >= MOST:
            _kept.clear()
        _kept[key] = _Kept(now, cost, stands_at, counted, now + TIMES * cost)
    return counted
