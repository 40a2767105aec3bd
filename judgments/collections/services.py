"""Collections, and what is loaded into them: queries and documents."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from django.db import connection, models, transaction

from judgments.audit import services as audit
from judgments.collections.content_hash import content_hash
from judgments.collections.naming import check_name, unless_taken
from judgments.collections.queries import Keys, find_documents, map_documents, map_queries
from judgments.collections.query_metadata_services import commit_traits
from judgments.models import Collection, Document, Membership, Query, Role, User
from judgments.models.collections import SLUG
from judgments.pages.markup import clean_html
from judgments.permissions import check_may_create_collection
from judgments.pictures.naming import keep_data, name_pictures
from judgments.pictures.storing import ensure_fetching
from judgments.storage.bulk import insert_ids, insert_rows, values_list
from touchstone.errors import DomainError
from touchstone.files.collections import DocumentRecord, QueryRecord
from touchstone.files.id_columns import IdColumn
from touchstone.measures.traits import Traits

T = TypeVar("T")
CHUNK = 2_000


class CollectionRefused(DomainError):
    """The collection can't be made like this."""


def create_collection(
    *, by: User | None, at: datetime, slug: str, name: str, description: str = ""
) -> Collection:
    """Make an empty collection; `by`, if anyone, becomes its first lead.

    Raises CollectionRefused for a slug that is taken or not made of a-z, 0-9 and hyphens,
    CreationRefused where only administrators make collections and `by` is none.
    """
    if by is not None:
        check_may_create_collection(by)
    check_name(slug, SLUG, refused=CollectionRefused, code="slug_invalid")
    with unless_taken(CollectionRefused("slug_taken", f"The collection {slug} already exists.")):
        collection = Collection.objects.create(
            slug=slug,
            name=name.strip() or slug,
            description=description.strip(),
            created_at=at,
            created_by=by,
        )
        if by is not None:
            Membership.objects.create(
                collection=collection,
                user=by,
                role=Role.LEAD,
                pseudonym="person 1",
                created_at=at,
            )
        audit.record(
            collection=collection,
            actor=by,
            at=at,
            action="collection.created",
            subject=slug,
        )
    return collection


@dataclass(frozen=True)
class Loaded:
    """The result of an upload: how many are new, changed and unchanged."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0

    def plus(self, other: "Loaded") -> "Loaded":
        return Loaded(
            self.added + other.added,
            self.changed + other.changed,
            self.unchanged + other.unchanged,
        )


def load_queries(
    *, collection: Collection, records: Iterable[QueryRecord], by: User | None, at: datetime
) -> Loaded:
    """Add the queries, and update those that differ; all or nothing, in one transaction.

    A stub becomes a query with a text. The same content again changes nothing. What `records`
    raises while it is read (FileRefused) undoes everything. Where the segment or weight of judged
    queries changes, each list that judged them gets a version.
    """
    before: dict[str, Traits] = {}
    columns = (
        "collection_id", "qid", "text", "description", "segment", "weight", "is_stub",
    )  # fmt: skip

    def load(chunk: list[QueryRecord]) -> Loaded:
        rows = {
            record.query_id: (
                record.text, record.description, record.segment, record.weight, False,
            )
            for record in chunk
        }  # fmt: skip
        known = _rows_of(Query, "qid", collection, rows, columns[2:])
        for qid, row in known.items():
            if row[2:4] != rows[qid][2:4]:
                before.setdefault(qid, Traits(*row[2:4]))
        return _upsert(Query, columns, collection, rows, known)

    with transaction.atomic():
        loaded = _load(collection, records, load, action="queries.loaded", by=by, at=at)
        commit_traits(collection=collection, before=before, by=by, at=at)
    return loaded


def load_documents(
    *, collection: Collection, records: Iterable[DocumentRecord], by: User | None, at: datetime
) -> Loaded:
    """Add the documents, and update those whose content differs; otherwise as `load_queries`.

    Labels name the hash of the content that was shown, so a changed document is noticed. Pictures
    that the documents hold as data are stored apart; those that they name wait to be fetched.
    """
    columns = (
        "collection_id", "docid", "content_hash", "is_stub", "title", "body", "url", "fields",
        "clean_html",
    )  # fmt: skip

    def load(chunk: list[DocumentRecord]) -> Loaded:
        hashes = {
            record.doc_id: (
                content_hash(record.title, record.text, record.fields, record.url), False
            )
            for record in chunk
        }  # fmt: skip
        # the hash stands for all that follows it
        known = _rows_of(Document, "docid", collection, hashes, columns[2:4])
        rows = {
            record.doc_id: (
                *(own := hashes[record.doc_id]),
                record.title, record.text, record.url, json.dumps(dict(record.fields)),
                # what is stored alike is not written, and need not be cleaned again
                "" if known.get(record.doc_id) == own else clean_html(record.fields),
            )
            for record in chunk
        }  # fmt: skip
        loaded = _upsert(Document, columns, collection, rows, known)
        if collection.picture_fields:
            changed = {
                record.doc_id: record.fields
                for record in chunk
                if known.get(record.doc_id) != hashes[record.doc_id]
            }
            ids = map_documents(collection=collection, docids=changed)
            documents = [(ids[docid], fields) for docid, fields in changed.items()]
            name_pictures(collection=collection, documents=documents)
        return loaded

    with transaction.atomic():
        # a concurrent choice of fields waits for the documents, or was made before them
        Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        collection.refresh_from_db(fields=["picture_fields"])
        kept = keep_data(collection=collection, records=records)
        loaded = _load(collection, kept, load, action="documents.loaded", by=by, at=at)
        ensure_fetching(collection=collection, by=by, at=at)
    return loaded


def _load(
    collection: Collection,
    records: Iterable[T],
    load: Callable[[list[T]], Loaded],
    *,
    action: str,
    by: User | None,
    at: datetime,
) -> Loaded:
    total = Loaded()
    with transaction.atomic():
        # one load of a collection at a time; rows that only refer to it are not in the way
        Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        for chunk in _chunks(records):
            total = total.plus(load(chunk))
        audit.record(
            collection=collection,
            actor=by,
            at=at,
            action=action,
            subject=collection.slug,
            after=asdict(total),
        )
    return total


def _chunks(records: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(records)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def _rows_of(
    model: type[models.Model],
    key: str,
    collection: Collection,
    rows: Mapping[str, tuple[Any, ...]],
    columns: Sequence[str],
) -> dict[str, tuple[Any, ...]]:
    """The stored values of `columns` by id, of those ids that exist."""
    subquery, parameter = values_list(rows, "text")
    names = ", ".join(f'"{name}"' for name in (key, *columns))
    with connection.cursor() as cursor:
        cursor.execute(
            f'SELECT {names} FROM "{model._meta.db_table}" '  # noqa: S608
            + f'WHERE collection_id = %s AND "{key}" {subquery}',
            [collection.pk, parameter],
        )
        return {row[0]: tuple(row[1:]) for row in cursor.fetchall()}


def _upsert(
    model: type[models.Model],
    columns: Sequence[str],
    collection: Collection,
    rows: Mapping[str, tuple[Any, ...]],
    known: Mapping[str, tuple[Any, ...]],
) -> Loaded:
    """Write the rows that are new or begin with other values than those known."""
    differ = {
        key: row
        for key, row in rows.items()
        if key not in known or row[: len(known[key])] != known[key]
    }
    insert_rows(
        model,
        columns,
        [(collection.pk, key, *row) for key, row in differ.items()],
        update_on=columns[:2],
    )
    changed = len(differ.keys() & known.keys())
    return Loaded(len(differ) - changed, changed, len(rows) - len(differ))


def ensure_queries(*, collection: Collection, qids: Iterable[str]) -> dict[str, int]:
    """The pk of each query by its id; unknown ids become stubs."""
    wanted = set(qids)
    known = map_queries(collection=collection, qids=wanted)
    missing = sorted(wanted - known.keys())
    if missing:
        own: dict[str, object] = {"collection_id": collection.pk, "is_stub": True}
        own |= {"text": "", "description": "", "segment": "", "weight": 1.0}
        insert_ids(Query, "qid", missing, own)
        known |= map_queries(collection=collection, qids=missing)
    return known


def ensure_documents(*, collection: Collection, docids: IdColumn) -> Keys:
    """The pk of each document, in the order of the ids; unknown ids become stubs.

    docids: those that `find_documents` did not find; one that came in between is no error.
    """
    own: dict[str, object] = {"collection_id": collection.pk, "is_stub": True}
    own |= {"title": "", "body": "", "url": "", "fields": "{}"}
    own["content_hash"] = content_hash("", "")
    for _, texts in docids.parts():
        insert_ids(Document, "docid", texts, own)
    return find_documents(collection=collection, docids=docids)
