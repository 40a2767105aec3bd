"""Sessions in the database, as Django keeps them, read by a prepared query."""

from typing import Any

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.db import models
from django.utils import timezone

from judgments.prepared import PreparedObjects, slot


class SessionStore(DatabaseStore):
    """Django's store. Every request reads its session, so that is all that is done otherwise."""

    def _get_session_from_db(self) -> Any:
        key = self.session_key or ""
        found = _session.list(key=key, now=timezone.now()) if "\0" not in key else []
        if not found:
            self._session_key = None
            return None
        return found[0]


def _build() -> "models.QuerySet[Any]":
    return SessionStore.get_model_class().objects.filter(
        session_key=slot("key", models.CharField), expire_date__gt=slot("now", models.DateTimeField)
    )


_session: PreparedObjects[Any] = PreparedObjects(_build)
