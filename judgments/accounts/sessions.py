"""Sessions in the database, as Django keeps them, that their owner can list and end."""

import time
from datetime import UTC, datetime
from typing import Any, Final, cast

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.db import InterfaceError, OperationalError
from django.db.models import CharField, DateTimeField, QuerySet
from django.utils import timezone

from judgments.models import Session
from judgments.storage.prepared import PreparedRows, slot

RENEWED: Final = 300  # seconds until a use is noted again
LONGEST_AGENT: Final = 200
STARTED, SEEN, AGENT = "started", "seen", "agent"
CONFIRMED = "confirmed"  # when the person last showed that it is them, in seconds since 1970


class SessionStore(DatabaseStore):
    """Django's store, where a session that is used lasts longer, up to a limit.

    It ends TOUCHSTONE_SESSION_IDLE after its last use, and TOUCHSTONE_SESSION_LIFETIME after the
    sign-in. It also bears keys with a NUL, and a database that is away.
    """

    _is_renewed = False

    @classmethod
    def get_model_class(cls) -> type[Session]:
        """The table of the sessions."""
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        """The row, with whose session it is."""
        row = cast(Session, super().create_model_instance(data))
        if SESSION_KEY in data:
            row.user_id = int(data[SESSION_KEY])
            row.agent = data.get(AGENT, "")
            row.started_at, row.seen_at = _moment(data[STARTED]), _moment(data[SEEN])
        return row

    def get_session_cookie_age(self) -> int:
        """Seconds until the session ends, if it is not used again."""
        idle: int = settings.SESSION_COOKIE_AGE
        started = self.get(STARTED)
        if started is None:
            return idle
        return max(0, min(idle, int(started + settings.SESSION_LIFETIME - time.time())))

    def load(self) -> dict[str, Any]:
        """The data of the session; empty where there is none, or it has ended.

        A key with a NUL, which no session has, would be an error of PostgreSQL's.
        """
        if "\0" in (self.session_key or ""):
            self._session_key = None
            return {}
        rows = _stored.list(key=self.session_key, now=timezone.now())
        if not rows:
            self._session_key = None
            return {}
        data: dict[str, Any] = self.decode(rows[0][0])
        if SESSION_KEY in data and time.time() - data[SEEN] > RENEWED:
            data[SEEN] = int(time.time())
            self.modified = self._is_renewed = True
        return data

    def save(self, must_create: bool = False) -> None:
        """Django's, which would blame the session if the database can't be reached."""
        try:
            super().save(must_create=must_create)
        except UpdateError as error:
            if isinstance(error.__context__, OperationalError | InterfaceError):
                raise error.__context__ from error.__context__.__cause__
            if not self._is_renewed:  # else it was ended during this request, which was answered
                raise


def _stored_qs() -> QuerySet[Any, Any]:
    own_qs = Session.objects.filter(
        session_key=slot("key", CharField), expire_date__gt=slot("now", DateTimeField)
    )
    return own_qs.values_list("session_data")


_stored: PreparedRows[Any] = PreparedRows(_stored_qs)  # every request runs it


def note_sign_in(request: Any, **_: object) -> None:
    """Keep when a session began, and in which browser; called at every sign-in."""
    now = int(time.time())
    request.session[STARTED] = request.session[SEEN] = request.session[CONFIRMED] = now
    request.session[AGENT] = request.headers.get("User-Agent", "")[:LONGEST_AGENT]


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
