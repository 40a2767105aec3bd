"""Reading saved sets: which there are, what is in them, who looked at those that are held out."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.core.paginator import Page
from django.db.models import Count, QuerySet

from judgments.models import Query, SavedSet, SavedSetQuery, SetLook
from judgments.pages.paging import Part, paginate, part_of
from judgments.permissions import (
    Access,
    NotFound,
    check_may_see_rankings,
    may_change_set,
    may_see_people,
)
from judgments.sets.looks import Looks
from touchstone.files.query_ids import QueryIds

LOOKS_SHOWN: Final = 50
TYPED_AT_MOST: Final = 5_000  # ids that a form begins with


@dataclass(frozen=True)
class SetRow:
    """A saved set. queries: their number. looks: number of looks while it was held out.

    archived_at: when it was archived; null if it is not.
    """

    slug: str
    name: str
    description: str
    held_out: bool
    queries: int
    looks: Looks
    created_at: datetime
    archived_at: datetime | None


@dataclass(frozen=True)
class SetsPage:
    """rows: the sets that are offered. archived: those that are no longer."""

    rows: list[SetRow]
    archived: list[SetRow]


@dataclass(frozen=True)
class LookRow:
    """A look. who: only for those who may see people, and of oneself; else ""."""

    at: datetime
    who: str
    page: str
    list_name: str


@dataclass(frozen=True)
class SetPage:
    """A set with its queries, and the newest looks at it."""

    row: SetRow
    queries: "Page[Query]"
    looks: list[LookRow]
    who: str
    may_change: bool


def list_sets(*, access: Access) -> list[SavedSet]:
    """The sets of the collection by name, archived ones too."""
    check_may_see_rankings(access)
    return list(SavedSet.objects.filter(collection=access.collection).order_by("name", "pk"))


def find_set(*, access: Access, slug: str) -> SavedSet | None:
    """The set with this slug, if there is one."""
    check_may_see_rankings(access)
    return SavedSet.objects.filter(collection=access.collection, slug=slug).first()


def get_set(*, access: Access, slug: str) -> SavedSet:
    """The set with this slug; NotFound where there is none."""
    result = find_set(access=access, slug=slug)
    if result is None:
        raise NotFound("set")
    return result


def list_set_queries(*, set_id: int) -> list[int]:
    """The pks of the queries in a set, ascending."""
    members = SavedSetQuery.objects.filter(saved_set=set_id).order_by("query")
    return list(members.values_list("query", flat=True))


def list_set_ids(*, set_id: int) -> list[str]:
    """The ids of the queries in a set, in the order of the collection."""
    members = SavedSetQuery.objects.filter(saved_set=set_id).order_by("query")
    return list(members.values_list("query__qid", flat=True))


def get_segment_ids(*, access: Access, segment: str) -> QueryIds:
    """The queries that are in a segment now."""
    check_may_see_rankings(access)
    result = Query.objects.filter(collection=access.collection, segment=segment).order_by("pk")
    qids = result.values_list("qid", flat=True)
    return QueryIds(segment, {qid: line for line, qid in enumerate(qids, start=1)})


def count_looks(*, set_id: int) -> Looks:
    """How often a set was looked at."""
    return Looks(SetLook.objects.filter(saved_set=set_id).count())


def get_sets_page(*, access: Access) -> SetsPage:
    """The collection's sets."""
    rows = _rows(list_sets(access=access))
    return SetsPage(
        rows=[row for row in rows if row.archived_at is None],
        archived=[row for row in rows if row.archived_at is not None],
    )


def get_set_page(*, access: Access, slug: str, page: str) -> SetPage:
    """A set: its queries in the order of the collection, and who looked."""
    saved = get_set(access=access, slug=slug)
    (row,) = _rows([saved])
    queries = Query.objects.filter(pk__in=saved.members.values("query")).order_by("pk")
    maker = saved.created_by
    return SetPage(
        row=row,
        queries=paginate(queries, page=page, show=list),
        looks=_looks(access, saved),
        who=str(maker) if maker and may_see_people(access) else "",
        may_change=may_change_set(access, saved),
    )


def list_set_rows(*, access: Access, after: int, limit: int) -> Part[SetRow]:
    """The sets for programs, in the order they were made."""
    check_may_see_rankings(access)
    sets: QuerySet[SavedSet] = SavedSet.objects.filter(collection=access.collection)
    return part_of(sets, after, limit, _rows)


def get_set_row(*, access: Access, slug: str) -> tuple[SetRow, list[str]]:
    """A set and the ids of its queries."""
    saved = get_set(access=access, slug=slug)
    (row,) = _rows([saved])
    return row, list_set_ids(set_id=saved.pk)


def _rows(sets: list[SavedSet]) -> list[SetRow]:
    pks = [one.pk for one in sets]
    queries, looks = (
        dict(
            model.objects.filter(saved_set__in=pks)
            .order_by()
            .values_list("saved_set")
            .annotate(Count("pk"))
        )
        for model in (SavedSetQuery, SetLook)
    )
    return [
        SetRow(
            slug=one.slug,
            name=one.name,
            description=one.description,
            held_out=one.is_held_out,
            queries=queries.get(one.pk, 0),
            looks=Looks(looks.get(one.pk, 0)),
            created_at=one.created_at,
            archived_at=one.archived_at,
        )
        for one in sets
    ]


def _looks(access: Access, saved: SavedSet) -> list[LookRow]:
    rows = SetLook.objects.filter(saved_set=saved).select_related("user", "list").order_by("-pk")
    people = may_see_people(access)
    return [
        LookRow(
            look.at,
            "you" if look.user == access.user else str(look.user) if people else "",
            SetLook.Page(look.page).label,
            look.list.name,
        )
        for look in rows[:LOOKS_SHOWN]
    ]
