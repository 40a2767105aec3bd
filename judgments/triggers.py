"""Immutability kept by the database itself, on SQLite and on PostgreSQL.

Each app declares what its append-only tables allow; the triggers are (re)installed after
every `migrate`, because SQLite forgets a table's triggers whenever Django alters it.

On PostgreSQL, triggers also announce whose access changed, however it was changed: the listener
(config/live_listener.py) then ends the streams of that person.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from django.apps import AppConfig
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.signals import post_migrate

from judgments.live import CHANNEL, PERSON

POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION touchstone_append_only() RETURNS trigger AS $$ BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = '23000';
END $$ LANGUAGE plpgsql
"""


# fires for each change of what a person may see; the argument is the column that says who it is
ACCESS_FUNCTION: Final = f"""
CREATE OR REPLACE FUNCTION touchstone_access_changed() RETURNS trigger AS $$ BEGIN
  PERFORM pg_notify(
    '{CHANNEL}',
    '{PERSON}' || (coalesce(to_jsonb(OLD), to_jsonb(NEW)) ->> TG_ARGV[0])
  );
  RETURN NULL;
END $$ LANGUAGE plpgsql
"""
# of an account: what ends all its sessions, or what it may do everywhere
ACCOUNT: Final = ("is_active", "is_superuser", "password", "session_epoch")
# of what table, after what, whose
ACCESS: Final = {
    "judgments_membership": ("INSERT OR UPDATE OR DELETE", "user_id", ""),
    "judgments_session": ("DELETE", "user_id", "OLD.user_id IS NOT NULL"),
    "judgments_user": (
        "UPDATE",
        "id",
        " OR ".join(f"OLD.{one} IS DISTINCT FROM NEW.{one}" for one in ACCOUNT),
    ),
}


@dataclass(frozen=True)
class AppendOnly:
    """A table whose rows are never changed.

    table: the table's name.
    closes: the one column that may go from null to a value, once, with nothing else changing.
    empties: columns of text or bytes that may become empty, with nothing else changing.
    deletable: True where whole rows may still be deleted (stored evaluations are thinned).
    """

    table: str
    closes: str | None = None
    deletable: bool = False
    empties: tuple[str, ...] = ()


def keep_append_only(app: AppConfig, tables: list[AppendOnly]) -> None:
    """Install the triggers of an app's tables after each migrate; called from its `ready`."""

    def install(using: str, **_: Any) -> None:
        connection = connections[using]
        existing = set(connection.introspection.table_names())
        install_triggers(connection, [table for table in tables if table.table in existing])

    post_migrate.connect(install, sender=app, weak=False, dispatch_uid=f"{app.label}.append_only")


def announce_access(using: str, **_: Any) -> None:
    """Install the triggers that announce whose access changed; after each migrate."""
    connection = connections[using]
    if connection.vendor != "postgresql":
        return
    existing = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        cursor.execute(ACCESS_FUNCTION)
        for table, (events, column, when) in ACCESS.items():
            if table in existing:
                cursor.execute(f'DROP TRIGGER IF EXISTS "{table}_access" ON "{table}"')
                cursor.execute(
                    f'CREATE TRIGGER "{table}_access" AFTER {events} ON "{table}" FOR EACH ROW '
                    + (f"WHEN ({when}) " if when else "")
                    + f"EXECUTE FUNCTION touchstone_access_changed('{column}')"
                )


def install_triggers(connection: BaseDatabaseWrapper, tables: list[AppendOnly]) -> None:
    """Create or replace the triggers of the given tables; safe to run again."""
    remove_triggers(connection, tables)
    with connection.cursor() as cursor:
        for table in tables:
            columns = [
                column.name
                for column in connection.introspection.get_table_description(cursor, table.table)
            ]
            if connection.vendor == "postgresql":
                statements = _postgresql(table, columns)
            else:
                statements = _sqlite(table, columns)
            for statement in statements:
                cursor.execute(statement)


def remove_triggers(connection: BaseDatabaseWrapper, tables: list[AppendOnly]) -> None:
    """Drop the triggers of the given tables, for a migration that changes their rows."""
    with connection.cursor() as cursor:
        for table in tables:
            for event in ("update", "delete", "truncate"):
                name = f"{table.table}_{event}"
                if connection.vendor == "postgresql":
                    cursor.execute(f'DROP TRIGGER IF EXISTS "{name}" ON "{table.table}"')
                else:
                    cursor.execute(f'DROP TRIGGER IF EXISTS "{name}"')


@contextmanager
def without_triggers(connection: BaseDatabaseWrapper, tables: list[AppendOnly]) -> Iterator[None]:
    """Let rows of these tables be deleted, by the role that owns them, within a transaction.

    No other connection sees the tables without their triggers: on PostgreSQL they can be read but
    not written until the transaction ends, and SQLite has one writer.
    """
    if connection.vendor != "postgresql":
        remove_triggers(connection, tables)
        yield
        install_triggers(connection, tables)
        return
    # a table can't be altered while checks of its foreign keys wait for the end of the transaction
    now, later = "SET CONSTRAINTS ALL IMMEDIATE", "SET CONSTRAINTS ALL DEFERRED"
    with connection.cursor() as cursor:
        cursor.execute(f"{now};{later}")
        for table in tables:
            cursor.execute(f'ALTER TABLE "{table.table}" DISABLE TRIGGER USER')
        yield
        cursor.execute(f"{now};{later}")
        for table in tables:
            cursor.execute(f'ALTER TABLE "{table.table}" ENABLE TRIGGER USER')


def _forbidden(table: AppendOnly, columns: list[str], differs: str) -> str:
    """The SQL condition under which an update is refused; `differs` is the null-safe unequal."""
    if table.empties:
        stay = [name for name in columns if name not in table.empties]
        others = [f'NEW."{name}" {differs} OLD."{name}"' for name in stay]
        filled = [
            f'(NEW."{one}" {differs} OLD."{one}" AND length(NEW."{one}") > 0)'
            for one in table.empties
        ]
        return " OR ".join(others + filled)
    if table.closes is None:
        return "1 = 1"
    changed = " OR ".join(
        f'NEW."{name}" {differs} OLD."{name}"' for name in columns if name != table.closes
    )
    return f'{changed} OR OLD."{table.closes}" IS NOT NULL OR NEW."{table.closes}" IS NULL'


def _sqlite(table: AppendOnly, columns: list[str]) -> list[str]:
    refuse = f"SELECT RAISE(ABORT, '{table.table} is append-only');"
    forbidden = _forbidden(table, columns, "IS NOT")
    statements = [
        f'CREATE TRIGGER "{table.table}_update" BEFORE UPDATE ON "{table.table}" WHEN {forbidden} '
        + f"BEGIN {refuse} END"
    ]
    if not table.deletable:
        statements.append(
            f'CREATE TRIGGER "{table.table}_delete" BEFORE DELETE ON "{table.table}" '
            + f"BEGIN {refuse} END"
        )
    return statements


def _postgresql(table: AppendOnly, columns: list[str]) -> list[str]:
    forbidden = _forbidden(table, columns, "IS DISTINCT FROM")
    statements = [
        POSTGRESQL_FUNCTION,
        f'CREATE TRIGGER "{table.table}_update" BEFORE UPDATE ON "{table.table}" FOR EACH ROW '
        + f"WHEN ({forbidden}) EXECUTE FUNCTION touchstone_append_only()",
    ]
    if not table.deletable:
        statements.append(
            f'CREATE TRIGGER "{table.table}_delete" BEFORE DELETE ON "{table.table}" '
            + "FOR EACH ROW EXECUTE FUNCTION touchstone_append_only()"
        )
        # emptying a table at once is no deletion of rows to PostgreSQL; SQLite has no such thing
        statements.append(
            f'CREATE TRIGGER "{table.table}_truncate" BEFORE TRUNCATE ON "{table.table}" '
            + "FOR EACH STATEMENT EXECUTE FUNCTION touchstone_append_only()"
        )
    return statements
