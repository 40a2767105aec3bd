"""A user's sessions, one for each browser: listed, and ended."""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.utils.translation import gettext

from judgments.audit import services as audit
from judgments.models import Session, User
from judgments.permissions import NotFound

# In this order: a browser also names those that it descends from.
BROWSERS: Final = (
    ("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrome", "Chrome"),
    ("HeadlessChrome", "Chrome"), ("Safari", "Safari"),
)  # fmt: skip
SYSTEMS: Final = (
    ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
    ("Mac OS X", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip


@dataclass(frozen=True)
class SessionRow:
    """A session as its owner sees it. key: names it without being a secret."""

    key: str
    browser: str
    agent: str
    started_at: datetime | None
    seen_at: datetime | None
    is_current: bool


def list_sessions(*, user: User, current: str | None, now: datetime) -> list[SessionRow]:
    """The sessions that have not ended, the last used first. current: the key of this one."""
    return [
        SessionRow(
            key=_public(row.session_key),
            browser=browser_of(row.agent),
            agent=row.agent,
            started_at=row.started_at,
            seen_at=row.seen_at,
            is_current=row.session_key == current,
        )
        for row in Session.objects.filter(user=user, expire_date__gt=now)
    ]


def end_session(*, user: User, key: str, at: datetime) -> None:
    """End one of one's own sessions; NotFound for any other."""
    with transaction.atomic():
        own = [row for row in Session.objects.filter(user=user) if _public(row.session_key) == key]
        if not own:
            raise NotFound("session")
        own[0].delete()
        _record(user, at, sessions=1)


def end_other_sessions(*, user: User, current: str | None, at: datetime) -> int:
    """End all of one's own sessions but this one; how many."""
    with transaction.atomic():
        others_qs = Session.objects.filter(user=user, expire_date__gt=at)
        ended: int = others_qs.exclude(session_key=current).delete()[0]
        if ended:
            _record(user, at, sessions=ended)
    return ended


def browser_of(agent: str) -> str:
    """What a browser's own name says, in a few words: "Firefox on Linux"."""
    browser = next((name for mark, name in BROWSERS if re.search(rf"\b{mark}/", agent)), "")
    system = next((name for mark, name in SYSTEMS if mark in agent), "")
    if not browser:
        return gettext("Unknown browser")
    return gettext("{browser} on {system}").format(browser=browser, system=system or "?")


def _public(session_key: str) -> str:
    return hashlib.sha256(session_key.encode()).hexdigest()[:16]


def _record(user: User, at: datetime, **after: int) -> None:
    audit.record(
        collection=None,
        actor=user,
        at=at,
        action="sessions.ended",
        subject=user.username,
        after=after,
    )
