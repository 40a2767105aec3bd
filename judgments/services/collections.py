"""Collections, and what is loaded into them: queries and documents."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TypeVar

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from judgments.bulk import insert_rows
from judgments.content import content_hash
from judgments.errors import DomainError
from judgments.models import Collection, Document, Membership, Query, Role, User
from judgments.models.collections import SLUG
from judgments.selectors.collections import map_documents, map_queries
from judgments.services import audit

Progress = Callable[[int], None]
T = TypeVar("T")
CHUNK = 2_000


class CollectionRefused(DomainError):
    """The collection can't be made like this."""


def create_collection(
    *, by: User | None, at: datetime, slug: str, name: str, description: str = ""
) -> Collection:
    """Make an empty collection; `by`, if anybody, becomes its first lead.

    Raises CollectionRefused for a slug that is taken or not made of a-z, 0-9 and hyphens.
    """
    try:
        SLUG(slug)
    except ValidationError as error:
        raise CollectionRefused("slug_invalid", error.messages[0]) from error
    try:
        with transaction.atomic():
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
    except IntegrityError as error:
        raise CollectionRefused("slug_taken", f"There is already a collection {slug}.") from error
    return collection


def ensure_queries(*, collection: Collection, qids: Iterable[str]) -> dict[str, int]:
    """The pk of each query by its id; unknown ids become stubs, of which only the id is known."""
    wanted = set(qids)
    known = map_queries(collection=collection, qids=wanted)
    missing = sorted(wanted - known.keys())
    if missing:
        rows = [(collection.pk, qid, "", "", "", 1.0, True) for qid in missing]
        columns = (
            "collection_id", "qid", "text", "description", "segment", "weight", "is_stub",
        )  # fmt: skip
        insert_rows(Query, columns, rows, ignore_conflicts=True)
        known |= map_queries(collection=collection, qids=missing)
    return known


def ensure_documents(*, collection: Collection, docids: Iterable[str]) -> dict[str, int]:
    """The pk of each document by its id; unknown ids become stubs."""
    wanted = set(docids)
    known = map_documents(collection=collection, docids=wanted)
    missing = sorted(wanted - known.keys())
    if missing:
        nothing = content_hash("", "")
        rows = [(collection.pk, docid, "", "", "", "{}", nothing, True) for docid in missing]
        columns = (
            "collection_id", "docid", "title", "body", "url", "fields", "content_hash", "is_stub",
        )  # fmt: skip
        insert_rows(Document, columns, rows, ignore_conflicts=True)
        known |= map_documents(collection=collection, docids=missing)
    return known
