"""Purging an archived collection: all that belongs to it goes, for good.

What stays is an emptied row under its number, which sealed audit entries hold, those entries
without their details, and one entry that says what was purged.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from django.apps import apps
from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.db.models import FileField, Model, QuerySet

from config.privacy.belonging import belongings, dependences
from config.privacy.erasing import delete_bytes_too, empty_log, erase_rows
from config.privacy.ledger import add_purge, list_purges
from config.roles import OWNS, SUPERUSER, list_excess_rights
from judgments.audit import services as audit
from judgments.models import (
    AuditEntry,
    Collection,
    Job,
    Membership,
    OutboxMessage,
    SideText,
    User,
    WebhookAttempt,
    WebhookDelivery,
)
from judgments.triggers import without_triggers
from touchstone.errors import DomainError

ARCHIVED_FOR: Final = timedelta(days=30)
# PostgreSQL looks for rows that refer to each deleted one, and reads whole tables without an index
UNINDEXED: Final = """
SELECT conrelid::regclass::text, attname FROM pg_constraint
JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
WHERE contype = 'f' AND confrelid = ANY(%s::regclass[]) AND NOT EXISTS (
  SELECT FROM pg_index WHERE indrelid = conrelid AND indkey[0] = conkey[1] AND indpred IS NULL
) ORDER BY 1, 2
"""


class PurgeRefused(DomainError):
    """The collection can't be purged, or not yet."""


@dataclass(frozen=True)
class Purged:
    """What went, or would go. rows: by table. texts: what people wrote beside facts, and details of
    audit entries. files: uploads. names: accounts that labels were imported under, which are
    erased."""

    rows: Mapping[str, int]
    texts: int
    files: int
    names: int


def count_purge(*, collection: Collection) -> Purged:
    """What `purge_collection` would delete."""
    rows = {
        own.model._meta.db_table: count
        for own in belongings().values()
        if (count := own.rows(collection).count())
    }
    texts = sum(texts_qs.count() for texts_qs in _texts(collection))
    return Purged(rows, texts, len(_files(collection)), len(_names(collection)))


def check_may_purge(*, collection: Collection, at: datetime, force: bool) -> None:
    """Refuse a collection that is in use, was archived lately, or that others depend on.

    force: also one that was archived lately. Raises PurgeRefused.
    """
    rights = list_excess_rights()
    if connection.vendor == "postgresql" and not {OWNS, SUPERUSER} & set(rights):
        message = "Only the role that owns the tables can delete facts. Run it as `migrate` is run."
        raise PurgeRefused("not_owner", message)
    if collection.archived_at is None:
        raise PurgeRefused("not_archived", f"Archive {collection.slug} first.")
    since = at - collection.archived_at
    if since < ARCHIVED_FOR and not force:
        message = (
            f"{collection.slug} was archived {since.days} days ago. It can be purged after "
            f"{ARCHIVED_FOR.days} days, or with --force."
        )
        raise PurgeRefused("archived_lately", message)
    running = (Job.State.QUEUED, Job.State.RUNNING)
    if Job.objects.filter(collection=collection, state__in=running).exists():
        raise PurgeRefused("job_running", "A background job is not done yet.")
    outside = list_outside(collection)
    if outside:
        tables = ", ".join(outside)
        raise PurgeRefused("in_use", f"Rows that are not of {collection.slug} need it: {tables}.")


def list_outside(collection: Collection) -> list[str]:
    """The tables with rows that refer to the collection's and are not its own."""
    result = set()
    for one in dependences():
        rows_qs = one.model._base_manager.filter(**{one.path: collection})
        if own := belongings().get(one.model):
            rows_qs = rows_qs.filter(~own.condition(collection))
        if rows_qs.exists():
            result.add(one.model._meta.db_table)
    return sorted(result)


def purge_collection(
    *, collection: Collection, by: User | None, at: datetime, force: bool
) -> Purged:
    """Delete a collection and all that belongs to it for good, also from backups restored later.

    by: None for the command line. force: though it was archived lately. Raises PurgeRefused.
    """
    with _unchecked_keys(), transaction.atomic():
        locked = Collection.objects.select_for_update().get(pk=collection.pk)
        check_may_purge(collection=locked, at=at, force=force)
        purged = _purge(locked, by, at)
        # last: with a line too many, a collection that is still there would go with a restore
        add_purge(locked.pk, locked.created_at, at)
    return purged


def replay_purges(*, at: datetime) -> int:
    """Purge every collection that the ledger names and that is there again; how many."""
    result = 0
    for number, created_at in list_purges():
        with _unchecked_keys(), transaction.atomic():
            again_qs = Collection.objects.select_for_update()
            collection = again_qs.filter(pk=number, created_at=created_at).first()
            if collection:
                _purge(collection, None, at)
                result += 1
    return result


def _purge(collection: Collection, by: User | None, at: datetime) -> Purged:
    delete_bytes_too()
    purged, files, slug = count_purge(collection=collection), _files(collection), collection.slug
    names = _names(collection)
    owned = {own.model._meta.db_table for own in belongings().values()}
    append_only = [
        table
        for app in apps.get_app_configs()
        for table in getattr(app, "append_only", ())
        if table.table in owned and purged.rows.get(table.table)
    ]
    with without_triggers(connection, append_only), _indexes(owned, purged):
        _delete_deliveries(collection)
        for texts_qs in _texts(collection):
            _delete(texts_qs)
        for own in belongings().values():
            _delete(own.rows(collection))
        connection.check_constraints(sorted(owned))
    for user in names:
        erase_rows(user=user, by=by, at=at)
    Collection.objects.filter(pk=collection.pk).update(
        slug=f"purged-{uuid4().hex[:12]}",
        name="",
        description="",
        picture_fields=[],
        archived_at=collection.archived_at or at,
        purged_at=at,
    )
    audit.record(
        collection=None,
        actor=by,
        at=at,
        action="collection.purged",
        subject=slug,
        after={"number": collection.pk, "rows": dict(purged.rows)},
    )
    transaction.on_commit(lambda: _delete_files(files), robust=True)
    transaction.on_commit(empty_log, robust=True)
    return purged


def _texts(collection: Collection) -> Iterator[QuerySet[SideText]]:
    """What people wrote beside the collection's facts, a query for each column."""
    entries_qs = AuditEntry.objects.filter(collection=collection)
    yield SideText.objects.filter(pk__in=entries_qs.values("detail_id"))
    for own in belongings().values():
        for field in own.model._meta.concrete_fields:
            if field.related_model is SideText:
                digests_qs = own.rows(collection).exclude(**{field.name: None})
                yield SideText.objects.filter(pk__in=digests_qs.values(field.attname))


def _names(collection: Collection) -> list[User]:
    """Accounts of imported labels, which no one can use, and that are of no other collection."""
    others_qs = Membership.ever.exclude(collection=collection)
    names_qs = User.objects.filter(
        is_active=False,
        suspended_at=None,
        erased_at=None,
        pk__in=Membership.ever.filter(collection=collection).values("user"),
    )
    return list(names_qs.exclude(pk__in=others_qs.values("user")).order_by("pk"))


def _files(collection: Collection) -> list[str]:
    return [
        name
        for own in belongings().values()
        for field in own.model._meta.concrete_fields
        if isinstance(field, FileField)
        for name in own.rows(collection).values_list(field.name, flat=True)
        if name
    ]


def _delete_files(names: list[str]) -> None:
    for name in names:
        default_storage.delete(name)


def _delete_deliveries(collection: Collection) -> None:
    """What webhooks were sent or will be: also those of the installation, about this collection."""
    slug = f'"collection": "{collection.slug}"'
    for rows_qs in (
        WebhookDelivery.objects.filter(endpoint__collection=collection),
        WebhookDelivery.objects.filter(endpoint__collection=None, body__contains=slug),
    ):
        keys = [
            f"webhook:{one.public_id.hex}:{replay}"
            for one in rows_qs.only("public_id", "replays").iterator()
            for replay in range(one.replays + 1)
        ]
        for first in range(0, len(keys), 500):
            OutboxMessage.objects.filter(key__in=keys[first : first + 500]).delete()
        _delete(WebhookAttempt.objects.filter(delivery__in=rows_qs))
        _delete(rows_qs)


def _delete(rows_qs: QuerySet[Any]) -> None:
    """Delete rows in one statement: Django's own way reads them first, and what refers to them."""
    model: type[Model] = rows_qs.model
    pk = model._meta.pk
    assert pk is not None
    chosen, values = rows_qs.order_by().values(pk.attname).query.sql_with_params()
    table = connection.ops.quote_name(model._meta.db_table)
    column = connection.ops.quote_name(str(pk.column))
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE {column} IN ({chosen})", values)  # noqa: S608


@contextmanager
def _unchecked_keys() -> Iterator[None]:
    """On SQLite, check foreign keys once at the end, not by reading tables for each deleted row."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.constraint_checks_disabled():
            yield
        return
    yield


@contextmanager
def _indexes(owned: set[str], purged: Purged) -> Iterator[None]:
    """On PostgreSQL, index for the moment the keys that are looked at for each deleted row."""
    if connection.vendor != "postgresql":
        yield
        return
    tables = sorted(table for table in owned if purged.rows.get(table))
    with connection.cursor() as cursor:
        cursor.execute(UNINDEXED, [tables])
        keys = cursor.fetchall()
        for number, (table, column) in enumerate(keys):
            cursor.execute(f'CREATE INDEX "purge_{number}" ON {table} ("{column}")')
        yield
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for number in range(len(keys)):
            cursor.execute(f'DROP INDEX "purge_{number}"')
