"""Lists of things for programs: in a total order, one part after the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db import models
from django.db.models import QuerySet

from judgments.models import (
    Collection,
    Document,
    JudgmentList,
    JudgmentVersion,
    Membership,
    Query,
    Release,
    User,
)
from judgments.permissions import (
    ADMIN,
    Access,
    NotFound,
    check_may_see_content,
    check_may_see_rankings,
)
from judgments.selectors.changes import get_changes
from judgments.selectors.collections import list_document_ids, list_query_ids
from judgments.selectors.lists import VersionRow, show_versions

Row = TypeVar("Row")
Shown = TypeVar("Shown")
Stored = TypeVar("Stored", bound=models.Model)


@dataclass(frozen=True)
class Part(Generic[Row]):
    """Some rows of a list. after: what the next part begins after; None where this is the last."""

    rows: list[Row]
    after: int | None


@dataclass(frozen=True)
class CollectionRow:
    """A collection, and the viewer's own role in it."""

    slug: str
    name: str
    description: str
    role: str
    created_at: datetime


@dataclass(frozen=True)
class ChangeRow:
    """A pair whose grade differs between two versions; None where it has none."""

    query_id: str
    doc_id: str
    before: int | None
    after: int | None


def list_collections(*, viewer: User, after: int, limit: int) -> Part[CollectionRow]:
    """The collections that the viewer is a member of; all of them for an admin."""
    roles = dict(Membership.objects.filter(user=viewer).values_list("collection_id", "role"))
    collections = Collection.objects.all()
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
    found = Document.objects.filter(collection=access.collection, docid=docid).first()
    if found is None:
        raise NotFound("document")
    return found


def list_lists(*, access: Access, after: int, limit: int) -> Part[JudgmentList]:
    """The collection's judgment lists."""
    check_may_see_rankings(access)
    lists = JudgmentList.objects.filter(collection=access.collection)
    return part_of(lists, after, limit, list)


def list_versions(
    *, access: Access, judgment_list: JudgmentList, after: int, limit: int
) -> Part[VersionRow]:
    """The list's versions, the newest first. after: a version's number; 0 for the newest."""
    versions = JudgmentVersion.objects.filter(list=judgment_list).select_related("author")
    if after:
        versions = versions.filter(number__lt=after)
    rows = list(versions.order_by("-number")[: limit + 1])
    last = rows[limit - 1].number if len(rows) > limit else None
    return Part(show_versions(access, rows[:limit]), last)


def list_releases(*, judgment_list: JudgmentList, after: int, limit: int) -> Part[Release]:
    """The list's releases, oldest first."""
    releases = Release.objects.filter(list=judgment_list).select_related("version")
    return part_of(releases, after, limit, list)


def list_changes(
    *, judgment_list: JudgmentList, before: int, after: int, skip: int, limit: int
) -> tuple[dict[str, int], Part[ChangeRow]]:
    """What differs between two versions: how many of each kind, and the pairs after `skip`."""
    changes = get_changes(judgment_list=judgment_list, before=before, after=after)
    counts = changes.counts()
    shown = changes[skip : skip + limit]
    end = skip + len(shown)
    collection = judgment_list.collection
    qids = list_query_ids(collection=collection, pks={one.query_id for one in shown})
    docids = list_document_ids(collection=collection, pks={one.document_id for one in shown})
    rows = [
        ChangeRow(qids[one.query_id], docids[one.document_id], one.before, one.after)
        for one in shown
    ]
    return counts, Part(rows, end if end < len(changes) else None)


def _collection_row(collection: Collection, role: str) -> CollectionRow:
    return CollectionRow(
        slug=collection.slug,
        name=collection.name,
        description=collection.description,
        role=role,
        created_at=collection.created_at,
    )


def parted(
    after: int, limit: int
) -> Callable[[Sequence[Row], Callable[[list[Row]], list[Shown]]], Part[Shown]]:
    """A way to part rows: at most `limit` of them behind the first `after`."""

    def part(rows: Sequence[Row], show: Callable[[list[Row]], list[Shown]]) -> Part[Shown]:
        own = list(rows[after : after + limit])
        end = after + len(own)
        return Part(show(own), end if end < len(rows) else None)

    return part


def part_of(
    rows: "QuerySet[Stored, Stored]",
    after: int,
    limit: int,
    show: Callable[[list[Stored]], list[Shown]],
) -> Part[Shown]:
    """At most `limit` rows after the one with the pk `after`, in the order of their pks."""
    found: list[Any] = list(rows.filter(pk__gt=after).order_by("pk")[: limit + 1])
    return Part(show(found[:limit]), found[limit - 1].pk if len(found) > limit else None)
