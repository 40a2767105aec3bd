"""Sessions in the database, as Django keeps them."""

from typing import Any

from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.db import InterfaceError, OperationalError


class SessionStore(DatabaseStore):
    """Django's store, but for what a cookie may hold and for a database that is away."""

    def load(self) -> dict[str, Any]:
        """Django's; a key with a NUL, which no session has, would be an error of PostgreSQL's."""
        if "\0" in (self.session_key or ""):
            self._session_key = None
            return {}
        return super().load()

    def save(self, must_create: bool = False) -> None:
        """Django's, which would blame the session if the database can't be reached."""
        try:
            super().save(must_create=must_create)
        except UpdateError as error:
            if isinstance(error.__context__, OperationalError | InterfaceError):
                raise error.__context__ from error.__context__.__cause__
            raise
