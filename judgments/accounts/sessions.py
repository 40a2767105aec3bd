"""Sessions in the database, as Django keeps them, and who they are of, read by prepared queries."""

from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.db import InterfaceError, OperationalError, models
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from judgments.models import User
from judgments.storage.prepared import PreparedObjects, slot


class SessionStore(DatabaseStore):
    """Django's store. Every request reads its session, by a prepared query."""

    def _get_session_from_db(self) -> Any:
        key = self.session_key or ""
        found = _session.list(key=key, now=timezone.now()) if "\0" not in key else []
        if not found:
            self._session_key = None
            return None
        return found[0]

    def save(self, must_create: bool = False) -> None:
        """Django's, which would blame the session if the database can't be reached."""
        try:
            super().save(must_create=must_create)
        except UpdateError as error:
            if isinstance(error.__context__, OperationalError | InterfaceError):
                raise error.__context__ from error.__context__.__cause__
            raise


def _build() -> "models.QuerySet[Any]":
    return SessionStore.get_model_class().objects.filter(
        session_key=slot("key", models.CharField), expire_date__gt=slot("now", models.DateTimeField)
    )


_session: PreparedObjects[Any] = PreparedObjects(_build)


def get_person(request: HttpRequest) -> User | AnonymousUser:
    """Whoever has signed in, as Django's `get_user` says; it is asked with every request.

    Somebody active, under a session of their password as it is now, is found here. For all else,
    which can end a session or renew it, Django is asked itself.
    """
    session = request.session
    number, backend = str(session.get(SESSION_KEY, "")), session.get(BACKEND_SESSION_KEY)
    if number.isdecimal() and backend in settings.AUTHENTICATION_BACKENDS:
        found = next(iter(_person.list(person=int(number))), None)
        if found is not None and found.is_active:
            sealed = session.get(HASH_SESSION_KEY) or ""
            if constant_time_compare(sealed, found.get_session_auth_hash()):
                return found
    return get_user(request)


_person: PreparedObjects[User] = PreparedObjects(lambda: User.objects.filter(pk=slot("person")))
