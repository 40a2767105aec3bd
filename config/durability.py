"""Whether the database keeps what it said it had stored, also if it crashes."""

from typing import Any, Final

from django.core import checks
from django.db import connection

KEEPING: Final = ("fsync", "full_page_writes", "synchronous_commit")


def list_risks() -> list[str]:
    """Settings of PostgreSQL, as this connection has them, that let a crash take what was stored.

    SQLite's are not left to a server: config/settings.py sets them.
    """
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name FROM pg_settings WHERE name = ANY(%s) AND setting = 'off' ORDER BY name",
            [list(KEEPING)],
        )
        return [name for (name,) in cursor.fetchall()]


@checks.register(checks.Tags.database)
def check_durability(databases: Any = None, **_: Any) -> list[checks.CheckMessage]:
    """What `migrate` and `check --database default` warn of."""
    risks = list_risks() if databases else []
    return [
        checks.Warning(
            f"PostgreSQL runs with {name}=off: labels shown as saved can be lost.",
            hint="Turn it on; see docs/operations.md.",
            id="touchstone.W001",
        )
        for name in risks
    ]
