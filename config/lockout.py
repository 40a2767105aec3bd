"""Lock-out after wrong passwords, counted in the database: the same for every process."""

import ipaddress
import re
from typing import Any, Final

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest

from judgments.usernames import fold

IPV6_NETWORK: Final = 64  # bits: what one customer is given, so an address there costs nothing
LONGEST_USERNAME: Final = 255  # of an attempt's row
WITH_PORT: Final = re.compile(r"\[(?P<v6>[^\]]*)\](?::\d+)?|(?P<v4>[\d.]+):\d+", re.ASCII)


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


def attempted_username(request: HttpRequest, credentials: dict[str, Any] | None) -> str | None:
    """The name that attempts are counted under: the same for every spelling of one account."""
    given = (credentials or request.POST).get("username")
    return None if given is None else fold(str(given))[:LONGEST_USERNAME]


def client_address(request: HttpRequest) -> str | None:
    """The address that attempts are counted under: of IPv6 the /64 network. None if unknown.

    Behind proxies it is the entry of X-Forwarded-For that the outermost trusted proxy wrote:
    entries before it are the client's own. One that is missing or no address counts for nothing,
    and the address of the connection is taken.
    """
    result = None
    if settings.BEHIND_PROXY:
        entries = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
        if len(entries) >= settings.PROXY_COUNT:
            result = _parse(entries[-settings.PROXY_COUNT])
    return result or _parse(request.META.get("REMOTE_ADDR", ""))


def _parse(text: str) -> str | None:
    """An address with or without port and brackets; None for anything else."""
    text = text.strip().strip('"')
    if matched := WITH_PORT.fullmatch(text):
        text = matched["v6"] or matched["v4"] or ""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    network = ipaddress.ip_network((int(address), IPV6_NETWORK), strict=False)
    return str(network.network_address)
