"""Collections, queries and documents for programs: in a total order, one part after the other."""

from dataclasses import dataclass
from datetime import datetime

from judgments.models import (
    Collection,
    Document,
    Membership,
    Query,
    User,
)
from judgments.pages.paging import Part, part_of
from judgments.permissions import (
    ADMIN,
    Access,
    NotFound,
    check_may_see_content,
)


@dataclass(frozen=True)
class CollectionRow:
    """A collection. role: your role in it. archived_at: since when it is archived; else null."""

    slug: str
    name: str
    description: str
    role: str
    created_at: datetime
    archived_at: datetime | None


def list_collections(
    *, viewer: User, after: int, limit: int, archived: bool = False
) -> Part[CollectionRow]:
    """The collections that the viewer is a member of; all of them for an admin.

    archived: those that are archived, and no others.
    """
    roles = dict(Membership.objects.filter(user=viewer).values_list("collection_id", "role"))
    collections = Collection.objects.filter(archived_at__isnull=not archived)
    if not viewer.is_superuser:
        collections = collections.filter(pk__in=roles)

    def show(rows: list[Collection]) -> list[CollectionRow]:
        return [_collection_row(row, roles.get(row.pk, ADMIN)) for row in rows]

    return part_of(collections, after, limit, show)


def get_collection_row(access: Access) -> CollectionRow:
    """The collection of an access."""
    return _collection_row(access.collection, access.role)


def list_queries(*, access: Access, segment: str | None, after: int, limit: int) -> Part[Query]:
    """The collection's queries in the order they were loaded, of a segment if one is given."""
    check_may_see_content(access)
    queries = Query.objects.filter(collection=access.collection)
    if segment is not None:
        queries = queries.filter(segment=segment)
    return part_of(queries, after, limit, list)


def list_documents(*, access: Access, after: int, limit: int) -> Part[Document]:
    """The collection's documents in the order they were loaded, without their texts."""
    check_may_see_content(access)
    documents = Document.objects.filter(collection=access.collection).defer(
        "body", "fields", "clean_html"
    )
    return part_of(documents, after, limit, list)


def get_document(*, access: Access, docid: str) -> Document:
    """A document with its text."""
    check_may_see_content(access)
    if "\x00" in docid:  # which PostgreSQL refuses to look for
        raise NotFound("document")
    result = Document.objects.filter(collection=access.collection, docid=docid).first()
    if result is None:
        raise NotFound("document")
    return result


def _collection_row(collection: Collection, role: str) -> CollectionRow:
    return CollectionRow(
        slug=collection.slug,
        name=collection.name,
        description=collection.description,
        role=role,
        created_at=collection.created_at,
        archived_at=collection.archived_at,
    )
