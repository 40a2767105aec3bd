"""Which stored evaluations are kept while versions pile up: all young ones, few old ones.

Any evaluation can be computed again, so what is dropped costs a moment and loses nothing. Of
each interval of time the last version is kept. Intervals grow with age, and each longer one is
made of whole shorter ones, so it makes no difference how often or when the rule was applied.
"""

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

# (from which age on, of how long an interval the last version is kept), oldest first
STEPS: Final = (
    (timedelta(days=30), timedelta(days=7)),
    (timedelta(days=1), timedelta(days=1)),
    (timedelta(hours=1), timedelta(hours=1)),
    (timedelta(minutes=5), timedelta(minutes=1)),
)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def dropped_versions(
    versions: Iterable[tuple[int, datetime]], *, kept: Collection[int], now: datetime
) -> list[int]:
    """The versions whose evaluations have aged out.

    versions: (number, when it was made) of every version that has evaluations, in any order.
    kept: numbers that stay whatever their age: the head's, and every release's.
    """
    last: set[tuple[timedelta, int]] = set()
    dropped = []
    for number, made_at in sorted(versions, reverse=True):
        intervals = {(width, (made_at - _EPOCH) // width) for _, width in STEPS}
        own = _interval(made_at, now)
        if own is not None and own in last and number not in kept:
            dropped.append(number)
        last |= intervals
    return dropped[::-1]


def _interval(made_at: datetime, now: datetime) -> tuple[timedelta, int] | None:
    """The interval of which only the last version is kept; None while all are."""
    for age, width in STEPS:
        if now - made_at >= age:
            return width, (made_at - _EPOCH) // width
    return None
