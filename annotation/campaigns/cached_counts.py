"""Counts of large campaigns, in Django's cache for a moment: pages that ask again stay cheap."""

import time
from collections.abc import Callable
from math import ceil
from typing import Final, TypeVar

from annotation.models import Campaign
from judgments.storage.caches import read_cached, write_cached

LARGE: Final = 5_000  # pairs; a smaller campaign is counted every time
TIMES: Final = 20  # as long as counting took is how long the count is used, so many times
LONGEST: Final = 60  # seconds

T = TypeVar("T")


def get_or_count(
    campaign: Campaign, what: str, kind: type[T], count: Callable[[], T], *, is_fresh: bool = False
) -> T:
    """What `count` returns; of a large campaign maybe as it was some seconds ago.

    However many look, and however large it is, counting takes at most a twentieth of a process.
    is_fresh: counted now in any case, where the caller sees to it that few ask for that.
    kind: of the count, for `from_plain`; never None.
    """
    if not campaign.pairs.order_by("pk")[LARGE - 1 : LARGE].exists():
        return count()
    name = f"counts:{what}:{campaign.public_id}"
    known = None if is_fresh else read_cached(name, kind)
    if known is not None:
        return known
    began = time.monotonic()
    counted = count()
    seconds = ceil(TIMES * (time.monotonic() - began))
    write_cached(name, counted, min(LONGEST, seconds))
    return counted
