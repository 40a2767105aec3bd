"""Counts of large campaigns, kept for a moment: pages that ask again and again stay cheap."""

import threading
import time
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast
from uuid import UUID

from django.db.models import Sum

from annotation.models import Campaign

LARGE: Final = 5_000  # pairs; a smaller campaign is counted anew every time
TIMES: Final = 20  # as long as counting took is how long the count is kept, so many times
MOST: Final = 200

T = TypeVar("T")

_kept: dict[tuple[UUID, str], tuple[float, Any]] = {}
_guard = threading.Lock()


def kept(campaign: Campaign, what: str, count: Callable[[], T]) -> T:
    """What `count` returns; of a large campaign maybe as it was some seconds ago.

    However many look, and however large it is, counting takes at most a twentieth of a process.
    """
    if (campaign.pools.aggregate(pairs=Sum("pair_count"))["pairs"] or 0) < LARGE:
        return count()
    key = campaign.public_id, what
    with _guard:
        until, found = _kept.get(key, (0.0, None))
    if time.monotonic() < until:
        return cast("T", found)
    began = time.monotonic()
    counted = count()
    now = time.monotonic()
    with _guard:
        if len(_kept) >= MOST:
            _kept.clear()
        _kept[key] = now + TIMES * (now - began), counted
    return counted
