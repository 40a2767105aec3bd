"""A consistent copy of the database while it is being written to, and the way back.

SQLite copies itself into a file. PostgreSQL's tables are copied as text in one transaction that
sees a single moment; that needs no client program of the server's own version.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

import psycopg
from django.apps import apps
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

from config.backups.archive import Manifest
from config.backups.refusing import BackupRefused

SQLITE: Final = "database.sqlite3"
MIGRATIONS: Final = "django_migrations"
RELEASES: Final = (
    "SELECT c.slug, l.slug, r.name, r.sha256 FROM judgments_release r "  # noqa: S608
    + "JOIN judgments_judgmentlist l ON l.id = r.list_id "
    + "JOIN judgments_collection c ON c.id = l.collection_id"
)
OPEN_JOBS: Final = "SELECT file FROM judgments_job WHERE state IN ('queued', 'running')"


@dataclass
class Snapshot:
    """A copy of one moment. uploads: the names of files that jobs still need."""

    manifest: Manifest
    files: dict[str, Path]
    uploads: list[str] = field(default_factory=list)


@contextmanager
def one_moment() -> Iterator[None]:
    """Let all reading within see one moment; SQLite copies itself that way anyhow."""
    if connection.vendor == "sqlite":
        yield
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def copy_database(*, directory: Path, at: datetime) -> Snapshot:
    """Copy the database into files below `directory`; on PostgreSQL call it in `one_moment`."""
    if connection.vendor == "sqlite":
        path = directory / SQLITE
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(path)])
        copy = connection.copy(alias="backup")
        copy.settings_dict = {**connection.settings_dict, "NAME": str(path)}
        try:
            return Snapshot(*_describe(copy, at, {SQLITE: path}))
        finally:
            copy.close()
    snapshot = Snapshot(*_describe(connection, at, {}))
    with connection.cursor() as cursor:
        for table in sorted(snapshot.manifest.rows.keys() - {MIGRATIONS}):
            columns = _columns(cursor, table)
            snapshot.manifest.columns[table] = columns
            snapshot.files[f"tables/{table}"] = path = directory / table
            statement = copy_statement(table, columns, "TO STDOUT")
            with path.open("wb") as file, cursor.copy(statement) as copy:
                for block in copy:
                    file.write(block)
    return snapshot


def check_restorable(manifest: Manifest) -> None:
    """Refuse a backup that does not fit, and an installation in which there is anything."""
    if manifest.engine != connection.vendor:
        raise BackupRefused(
            "backup_engine",
            f"It was made on {manifest.engine} and can't be restored on {connection.vendor}.",
        )
    list_todays(manifest.migrations)
    tables = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for table in ("judgments_user", "judgments_collection"):
            if table in tables and _count(cursor, table):
                raise BackupRefused(
                    "not_empty",
                    "This installation is not empty. Restore into an empty one.",
                )


def list_todays(applied: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """The migrations of this version that a backup has, in order; a squashed one once.

    applied: [app, name] as the backup has them. Raises BackupRefused for one that is not known, and
    where only some of those that a squashed one replaces are there.
    """
    known = MigrationLoader(connection).disk_migrations
    squashed = {old: key for key, one in known.items() for old in one.replaces}
    there = dict.fromkeys((app, name) for app, name in applied)
    result: dict[tuple[str, str], None] = {}
    for key in there:
        if key not in known and key not in squashed:
            raise BackupRefused(
                "backup_newer", f"It was made by a newer version: {'.'.join(key)} is not known."
            )
        today = key if key in known else squashed[key]
        if key != today and not there.keys() >= set(known[today].replaces):
            raise BackupRefused(
                "backup_older",
                f"It was made before {'.'.join(known[today].replaces[-1])}: restore it with the "
                "version that made it, upgrade that one step by step, and back it up again.",
            )
        result[today] = None
    return list(result)


def put_database(*, manifest: Manifest, directory: Path) -> None:
    """Make the database what it was, then bring it to the migrations of this version."""
    if connection.vendor == "sqlite":
        _put_sqlite(directory / SQLITE)
    else:
        _put_postgresql(manifest, directory)
    call_command("migrate", verbosity=0, interactive=False)
    reset = connection.ops.sequence_reset_sql(
        no_style(), apps.get_models(include_auto_created=True)
    )
    with connection.cursor() as cursor:
        for statement in reset:
            cursor.execute(statement)


def count_rows(tables: list[str]) -> dict[str, int]:
    """How many rows each of these tables has now; those that are gone are left out."""
    there = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        return {table: _count(cursor, table) for table in tables if table in there}


def _describe(
    database: BaseDatabaseWrapper, at: datetime, files: dict[str, Path]
) -> tuple[Manifest, dict[str, Path], list[str]]:
    tables = sorted(database.introspection.table_names())
    with database.cursor() as cursor:
        rows = {table: _count(cursor, table) for table in tables}
        cursor.execute(f"SELECT app, name FROM {MIGRATIONS} ORDER BY id")  # noqa: S608
        migrations = [list(row) for row in cursor.fetchall()]
        cursor.execute(RELEASES)
        releases = {"/".join(row[:3]): row[3] for row in cursor.fetchall()}
        cursor.execute(OPEN_JOBS)
        uploads = [row[0] for row in cursor.fetchall() if row[0]]
    manifest = Manifest(
        made_at=at.isoformat(),
        engine=database.vendor,
        migrations=migrations,
        rows=rows,
        releases=releases,
    )
    return manifest, files, uploads


def _count(cursor: CursorWrapper, table: str) -> int:
    cursor.execute(f"SELECT count(*) FROM {_quoted(table)}")  # noqa: S608
    return int(cursor.fetchone()[0])


def _quoted(name: str) -> str:
    """A name for either database; unlike Django's quote_name, also if it is quoted already."""
    return sql.Identifier(name).as_string()


def list_columns(table: str, existing: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The table's own columns in the order that a backup has them in.

    existing: what the database says that the table has. No other name is ever used: BackupRefused
    for one, for a column twice, and for one that is missing.
    """
    if sorted(existing) != sorted(wanted):
        strange = sorted(set(wanted) ^ set(existing)) or sorted(wanted)
        raise BackupRefused(
            "backup_unknown", f"Its columns of {table} are not those here: {strange[0]!r}."
        )
    return [existing[existing.index(name)] for name in wanted]


def _columns(cursor: CursorWrapper, table: str) -> list[str]:
    description = connection.introspection.get_table_description(cursor, table)
    return [column.name for column in description]


def copy_statement(
    table: str, columns: list[str], direction: Literal["TO STDOUT", "FROM STDIN"]
) -> sql.Composed:
    """COPY of a table's columns. Anything in a name that is no name stays within its quotes."""
    return sql.SQL("COPY {} ({}) {}").format(
        sql.Identifier(table),
        sql.SQL(", ").join(map(sql.Identifier, columns)),
        sql.SQL(direction),
    )


def check_sqlite(copy: Path) -> None:
    """Drop the copy's triggers, which `migrate` makes again, and refuse what we never make.

    A trigger that came with a backup would go on running with every write.
    """
    with closing(sqlite3.connect(copy, isolation_level=None)) as database:
        try:
            names = database.execute(
                "SELECT type, name, coalesce(sql, '') FROM sqlite_master"
            ).fetchall()
            for kind, name, text in names:
                if kind == "view" or text.upper().startswith("CREATE VIRTUAL"):
                    raise BackupRefused("backup_unknown", f"Its database has a {kind}, {name!r}.")
                if kind == "trigger":
                    database.execute(f"DROP TRIGGER {_quoted(name)}")
        except sqlite3.DatabaseError as error:
            raise BackupRefused("backup_unknown", f"Its database can't be read: {error}") from error


def _put_sqlite(copy: Path) -> None:
    check_sqlite(copy)
    target = Path(connection.settings_dict["NAME"])
    connection.close()
    for suffix in ("-wal", "-shm"):
        target.with_name(target.name + suffix).unlink(missing_ok=True)
    # both lie in the same folder: see restore
    os.replace(copy, target)  # noqa: PTH105


def _put_postgresql(manifest: Manifest, directory: Path) -> None:
    for app, name in dict(list_todays(manifest.migrations)).items():
        call_command("migrate", app, name, verbosity=0, interactive=False)
    with transaction.atomic(), connection.cursor() as cursor:
        there = set(connection.introspection.table_names(cursor)) - {MIGRATIONS}
        orders = {
            table: list_columns(table, _columns(cursor, table), manifest.columns[table])
            for table in sorted(there & manifest.columns.keys())
        }
        if missing := sorted(manifest.columns.keys() - there):
            raise BackupRefused("backup_unknown", f"There is no table {missing[0]!r} here.")
        # what the migrations put there; TRUNCATE is refused even where there is no row
        for table in sorted(there):
            cursor.execute(f"DELETE FROM {_quoted(table)}")  # noqa: S608
        for table, columns in orders.items():
            _put_rows(cursor, table, columns, directory / "tables" / table)


def _put_rows(cursor: CursorWrapper, table: str, columns: list[str], path: Path) -> None:
    try:
        statement = copy_statement(table, columns, "FROM STDIN")
        with path.open("rb") as file, cursor.copy(statement) as copy:
            while block := file.read(1024 * 1024):
                copy.write(block)
    except FileNotFoundError as error:
        raise BackupRefused("backup_short", f"The rows of {table} are missing.") from error
    except psycopg.Error as error:
        raise BackupRefused(
            "backup_damaged", f"The rows of {table} can't be restored: {error}"
        ) from error
