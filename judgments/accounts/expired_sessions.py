"""Sessions that have expired are cleared in portions, so that no other write waits for long."""

from datetime import datetime
from typing import Final

from judgments.models import Session

PORTION: Final = 500  # rows in one statement
PORTIONS: Final = 20  # that one wake-up clears; the sweep wakes again


def clear_sessions(*, at: datetime) -> int:
    """Delete sessions that expired before `at`, at most PORTION × PORTIONS; how many."""
    cleared = 0
    for _ in range(PORTIONS):
        expired_qs = Session.objects.filter(expire_date__lt=at).order_by("expire_date")
        keys = list(expired_qs.values_list("pk", flat=True)[:PORTION])
        if not keys:
            break
        # asked again: a request may have renewed one meanwhile
        cleared += Session.objects.filter(pk__in=keys, expire_date__lt=at).delete()[0]
    return cleared
