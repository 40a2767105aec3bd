"""Whether the role that the application connects as has more rights than it needs."""

from typing import Any, Final

from django.core import checks
from django.db import connection

RIGHTS: Final = """
WITH tables AS (
  SELECT oid, relowner FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
)
SELECT rolsuper, rolcreaterole,
  EXISTS (SELECT FROM tables WHERE pg_has_role(relowner, 'MEMBER')),
  EXISTS (SELECT FROM tables WHERE has_table_privilege(oid, 'TRUNCATE')),
  has_schema_privilege(current_schema(), 'CREATE')
FROM pg_roles WHERE rolname = current_user
"""
SUPERUSER: Final = "is a superuser"
OWNS: Final = "owns tables"
NAMES: Final = (
    SUPERUSER,
    "may create roles",
    OWNS,
    "may truncate tables",
    "may create tables",
)


def list_excess_rights() -> list[str]:
    """What the connection's role may do on PostgreSQL besides reading and writing rows.

    With any of these, someone who takes over the web process can drop the triggers that keep labels
    and judgments append-only. SQLite has no roles.
    """
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(RIGHTS)
        (row,) = cursor.fetchall()
    result = [name for name, is_so in zip(NAMES, row, strict=True) if is_so]
    return result[:1] if row[0] else result  # a superuser may do all of it


@checks.register(checks.Tags.database, deploy=True)
def check_role(databases: Any = None, **_: Any) -> list[checks.CheckMessage]:
    """What `check --deploy --database default` warns of; not `migrate`, which the owner runs."""
    rights = list_excess_rights() if databases else []
    return [
        checks.Warning(
            f"The database role of the application {', '.join(rights)}.",
            hint="Connect as a role that only reads and writes rows; see docs/operations.md.",
            id="touchstone.W002",
        )
        for _ in rights[:1]
    ]
