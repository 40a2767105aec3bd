"""What a version holds and changed, and what differs between any two of a list."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from django.core.paginator import Page
from django.db.models import Q

from judgments.collections.queries import map_queries
from judgments.collections.query_metadata import list_trait_changes
from judgments.lists.queries import (
    Grades,
    GradeShown,
    ReleaseRow,
    VersionRow,
    find_version_number,
    get_grades,
    get_list,
    get_version,
    list_releases,
    show_grade,
    show_versions,
    votes_in,
)
from judgments.models import Document, Judgment, JudgmentList, Query
from judgments.pages.paging import paginate
from judgments.permissions import Access, may_see_people
from judgments.versions.changes import get_changes, kind_of
from judgments.versions.takes import takes_at
from judgments.versions.temporal import Difference, TraitChange
from touchstone.measures.traits import Traits
from touchstone.scales import Scale

SHOWN_TRAITS: Final = 100


@dataclass(frozen=True)
class DiffRow:
    """A pair whose grade differs; None where it has none.

    kind: added, changed or removed. votes: behind the later grade, for those who may see people.
    """

    qid: str
    query_text: str
    docid: str
    title: str
    before: GradeShown | None
    after: GradeShown | None
    kind: str
    votes: str


@dataclass(frozen=True)
class TraitsRow:
    """A query whose segment or weight differs."""

    qid: str
    query_text: str
    before: Traits
    after: Traits

    @property
    def is_segment_changed(self) -> bool:
        return self.before.segment != self.after.segment

    @property
    def is_weight_changed(self) -> bool:
        return self.before.weight != self.after.weight


@dataclass(frozen=True)
class TraitsDiff:
    """The queries whose traits differ: how many, and the first of them."""

    count: int
    rows: list[TraitsRow]

    @property
    def more(self) -> int:
        return self.count - len(self.rows)


@dataclass(frozen=True)
class DiffPage:
    """before, after: version numbers. before_takes, after_takes: where their grades come from, in
    words. counts: by kind, before any filter."""

    list_slug: str
    list_name: str
    before: int
    after: int
    before_name: str
    after_name: str
    before_takes: str
    after_takes: str
    counts: dict[str, int]
    traits: TraitsDiff
    rows: "Page[DiffRow]"
    kind: str
    qid: str
    shows_people: bool


@dataclass(frozen=True)
class VersionPage:
    list_slug: str
    list_name: str
    head: int
    version: VersionRow
    releases: list[ReleaseRow]
    grades: Grades
    diff: DiffPage
    shows_people: bool


def get_version_page(
    *, access: Access, slug: str, name: str, kind: str, qid: str, page: str
) -> VersionPage:
    """A version: what it holds, and what it changed."""
    one = get_list(access=access, slug=slug)
    version = get_version(judgment_list=one, name=name)
    previous = version.number - 1
    diff = _diff_page(access, one, previous, version.number, kind=kind, qid=qid, page=page)
    return VersionPage(
        list_slug=one.slug,
        list_name=one.name,
        head=one.head,
        version=show_versions(access, [version])[0],
        releases=[row for row in list_releases(access, one) if row.version == version.number],
        grades=get_grades(judgment_list=one, number=version.number),
        diff=diff,
        shows_people=may_see_people(access),
    )


def get_diff_page(
    *, access: Access, slug: str, before: str, after: str, kind: str, qid: str, page: str
) -> DiffPage:
    """What differs between two versions or releases, by query; in either direction."""
    one = get_list(access=access, slug=slug)
    return _diff_page(
        access,
        one,
        find_version_number(judgment_list=one, name=before),
        find_version_number(judgment_list=one, name=after),
        names=(before, after),
        kind=kind,
        qid=qid,
        page=page,
    )


def _diff_page(
    access: Access,
    one: JudgmentList,
    before: int,
    after: int,
    *,
    names: tuple[str, str] | None = None,
    kind: str,
    qid: str,
    page: str,
) -> DiffPage:
    changes = get_changes(judgment_list=one, before=before, after=after)
    counts = changes.counts()
    if kind in counts:
        changes = changes.of_kind(kind)
    traits = list_trait_changes(list_id=one.pk, before=before, after=after)
    if qid:
        asked = map_queries(collection=one.collection, qids=[qid]).get(qid, 0)
        changes = changes.of_query(asked)
        traits = [change for change in traits if change.query_id == asked]
    before_name, after_name = names or (str(before), str(after))
    return DiffPage(
        list_slug=one.slug,
        list_name=one.name,
        before=before,
        after=after,
        before_name=before_name,
        after_name=after_name,
        before_takes=takes_at(list_id=one.pk, version=before),
        after_takes=takes_at(list_id=one.pk, version=after),
        counts=counts,
        traits=_traits_diff(traits),
        rows=paginate(changes, page=page, show=partial(_diff_rows, access, one, after)),
        kind=kind if kind in counts else "",
        qid=qid,
        shows_people=may_see_people(access),
    )


def _traits_diff(changes: list[TraitChange]) -> TraitsDiff:
    shown = changes[:SHOWN_TRAITS]
    queries = Query.objects.only("qid", "text").in_bulk([change.query_id for change in shown])
    rows = [
        TraitsRow(queries[pk].qid, queries[pk].text, before, after) for pk, before, after in shown
    ]
    return TraitsDiff(len(changes), rows)


def _diff_rows(
    access: Access, one: JudgmentList, after: int, changes: list[Difference]
) -> list[DiffRow]:
    scale = Scale.from_json(one.scale)
    votes = _votes(access, one, after, changes)
    queries = Query.objects.filter(collection=one.collection).in_bulk(
        {change.query_id for change in changes}
    )
    documents = (
        Document.objects.filter(collection=one.collection)
        .only("id", "docid", "title")
        .in_bulk({change.document_id for change in changes})
    )
    return [
        DiffRow(
            qid=queries[change.query_id].qid,
            query_text=queries[change.query_id].text,
            docid=documents[change.document_id].docid,
            title=documents[change.document_id].title,
            before=None if change.before is None else show_grade(scale, change.before),
            after=None if change.after is None else show_grade(scale, change.after),
            kind=kind_of(change),
            votes=votes.get((change.query_id, change.document_id), ""),
        )
        for change in changes
    ]


def _votes(
    access: Access, one: JudgmentList, version: int, changes: list[Difference]
) -> dict[tuple[int, int], str]:
    """The votes behind the grades that hold at the version, by pair; only for leads and admins."""
    if not may_see_people(access):
        return {}
    holding = Judgment.objects.filter(
        Q(until=None) | Q(until__gt=version),
        list=one,
        since__lte=version,
        query__in={change.query_id for change in changes},
        document__in={change.document_id for change in changes},
    )
    rows = holding.values_list("query_id", "document_id", "evidence").order_by("id")
    return {(query, document): votes_in(access, evidence) for query, document, evidence in rows}
