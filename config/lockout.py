"""Who is locked out after wrong passwords, counted in the database: the same for every process."""

from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest


class LockoutHandler(AxesDatabaseHandler):  # type: ignore[misc]
    """Locks out an address for an account, as axes does, and one that tries many accounts."""

    def is_locked(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
        """Whether this sign-in is refused without a look at the password."""
        if super().is_locked(request, credentials):
            return True
        recent = AccessAttempt.objects.filter(
            ip_address=client_address(request), attempt_time__gt=get_cool_off_threshold(request)
        )
        failures: int = recent.aggregate(sum=Sum("failures_since_start"))["sum"] or 0
        return failures >= settings.LOCKOUT_ADDRESS_LIMIT


def client_address(request: HttpRequest) -> str:
    """Whom the request is from; behind the proxy, whom the proxy says that it is from.

    The last of the addresses in X-Forwarded-For: those before it are the client's own words.
    """
    if settings.BEHIND_PROXY:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
        if forwarded:
            return str(forwarded)[:39]
    return str(request.META.get("REMOTE_ADDR", ""))
