"""Databases are emptied after tests with real commits.

Django's `flush` has permissions made and triggers installed again, which takes a second of a
processor. Here what `migrate` made stays, and triggers are only set aside.
"""

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.db import connections, transaction

MADE_BY_MIGRATE = {"auth_permission", "django_content_type", "django_migrations"}


def empty_databases(*_: Any) -> None:
    """Delete all rows that were not there before the first test."""
    for alias in connections:
        own = connections[alias]
        tables = sorted(set(own.introspection.table_names()) - MADE_BY_MIGRATE)
        if own.vendor == "postgresql":
            _empty_postgresql(own, tables)
        else:
            _empty_sqlite(own, tables)


def _empty_postgresql(own: Any, tables: Sequence[str]) -> None:
    kept = [table.table for app in apps.get_app_configs() for table in _append_only(app)]
    looks = (f"SELECT '{name}' WHERE EXISTS (SELECT FROM \"{name}\")" for name in tables)  # noqa: S608
    with transaction.atomic(using=own.alias), own.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(looks))
        filled = [f'"{name}"' for (name,) in cursor.fetchall()]
        if filled:
            cursor.execute(_for_each(kept, "DISABLE TRIGGER USER"))
            cursor.execute(f"TRUNCATE {', '.join(filled)} CASCADE")
            cursor.execute(_for_each(kept, "ENABLE TRIGGER USER"))


def _append_only(app: Any) -> Sequence[Any]:
    return getattr(app, "append_only", ())


def _for_each(tables: Sequence[str], change: str) -> str:
    return ";".join(f'ALTER TABLE "{name}" {change}' for name in tables)


def _empty_sqlite(own: Any, tables: Sequence[str]) -> None:
    with (
        own.constraint_checks_disabled(),
        transaction.atomic(using=own.alias),
        own.cursor() as cursor,
    ):
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        triggers = cursor.fetchall()
        for name, _ in triggers:
            cursor.execute(f'DROP TRIGGER "{name}"')
        for name in tables:
            cursor.execute(f'DELETE FROM "{name}"')  # noqa: S608
        for _, made in triggers:
            cursor.execute(made, None)
