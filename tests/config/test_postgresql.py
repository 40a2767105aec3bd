"""Whether PostgreSQL is still there is seen without asking it."""

from typing import Any

import pytest
from django.db import close_old_connections, connection, connections

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def ask() -> int:
    """As a request does: look at the connection, then use it; the server's process."""
    close_old_connections()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_a_live_server_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    process = ask()
    asked: list[Any] = []
    monkeypatch.setattr(type(connections["default"]), "is_usable", asked.append)
    assert (ask(), ask(), asked) == (process, process, [])


def test_a_connection_whose_server_is_gone_is_replaced_before_it_is_used() -> None:
    process = ask()
    other = connections["default"].copy("other")
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [process])
    other.close()
    assert ask() != process
