"""Reading lists, their versions and releases."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.core.paginator import Page
from django.db.models import CharField, Count, QuerySet

from judgments.collections.queries import list_document_ids, list_query_ids
from judgments.lists.citations import Cited
from judgments.models import Judgment, JudgmentList, JudgmentVersion, Query, Release
from judgments.pages.answers import ON_PAGES
from judgments.pages.paging import paginate
from judgments.permissions import (
    Access,
    NotFound,
    check_may_see_rankings,
    may_see_people,
)
from judgments.storage.prepared import PreparedObjects, slot
from judgments.versions.click_grades import (
    click_words,
    count_click_grades,
    with_click_grades,
)
from judgments.versions.judgment_cache import count_all_grades
from judgments.versions.machine_grades import count_machine_grades, machine_words
from judgments.versions.queries import get_judged
from judgments.versions.takes import takes_words
from touchstone.files.learning import Features, write_learning
from touchstone.files.rating_rows import JudgedPair
from touchstone.files.ratings import TREC, RatingFormat, write_ratings
from touchstone.files.trec import format_qrels
from touchstone.scales import Scale

HEAD = "head"


def _lists_qs() -> QuerySet[JudgmentList]:
    is_own = {"collection": slot("collection"), "slug": slot("slug", CharField)}
    return JudgmentList.objects.filter(**is_own).order_by()


_lists: PreparedObjects[JudgmentList] = PreparedObjects(_lists_qs)  # open leaderboards ask


def get_list(*, access: Access, slug: str) -> JudgmentList:
    """The list of the collection with this slug, for those who may see grades."""
    check_may_see_rankings(access)
    found = _lists.list(collection=access.collection.pk, slug=slug)
    result = next(iter(found), None)
    if result is None:
        raise NotFound("list")
    result.collection = access.collection
    return result


def get_version(*, judgment_list: JudgmentList, name: str = HEAD) -> JudgmentVersion:
    """A version by its number, by a release's name, or the "head"; NotFound if there is none."""
    versions = JudgmentVersion.objects.filter(list=judgment_list).select_related("author")
    if name == HEAD:
        result = versions.order_by("-number").first()
    elif name.isascii() and name.isdecimal():
        result = versions.filter(number=int(name)).first() if len(name) < 10 else None
    else:
        result = versions.filter(releases__list=judgment_list, releases__name=name).first()
    if result is None:
        raise NotFound("version")
    result.list = judgment_list
    return result


def find_version_number(*, judgment_list: JudgmentList, name: str) -> int:
    """As `get_version`, but 0, the empty list, is a version too."""
    if name == "0" or (name == HEAD and judgment_list.head == 0):
        return 0
    return get_version(judgment_list=judgment_list, name=name).number


def get_qrels(*, judgment_list: JudgmentList, number: int) -> bytes:
    """The grades of a version as qrels, in the one canonical form that a release's digest is of."""
    judged = get_judged(list_id=judgment_list.pk, version=number)
    collection = judgment_list.collection
    qids = list_query_ids(collection=collection, pks=set(judged.query_ids.tolist()))
    docids = list_document_ids(collection=collection, pks=set(judged.document_ids.tolist()))
    pairs = judged.pairs().items()
    return format_qrels((qids[q], docids[d], grade) for (q, d), grade in pairs)


def get_judgment_file(*, judgment_list: JudgmentList, number: int, form: RatingFormat) -> bytes:
    """The grades of a version in a format of another tool; as qrels, what `get_qrels` gives.

    Raises FormatRefused where a file that names queries by their text can't tell two apart.
    """
    if form.name == TREC:
        return get_qrels(judgment_list=judgment_list, number=number)
    return write_ratings(form, _list_judged_pairs(judgment_list, number))


def get_learning_file(
    *, judgment_list: JudgmentList, number: int, kind: str, features: Features
) -> bytes:
    """The grades of a version with features, for training a ranker; as `write_learning`."""
    return write_learning(kind, _list_judged_pairs(judgment_list, number), features)


def _list_judged_pairs(judgment_list: JudgmentList, number: int) -> list[JudgedPair]:
    judged = get_judged(list_id=judgment_list.pk, version=number)
    queries = Query.objects.in_bulk(set(judged.query_ids.tolist()))
    docids = list_document_ids(
        collection=judgment_list.collection, pks=set(judged.document_ids.tolist())
    )
    return [
        JudgedPair(queries[q].qid, queries[q].text, docids[d], grade)
        for (q, d), grade in judged.pairs().items()
    ]


@dataclass(frozen=True)
class GradeShown:
    """A grade as the tag `grade` draws it."""

    code: int
    name: str
    position: int
    count: int


def show_grade(scale: Scale, code: int) -> GradeShown:
    """What a grade looks like on its scale."""
    position = scale.codes.index(code)
    return GradeShown(code, scale.grades[position].name, position, len(scale.codes))


def votes_in(access: Access, evidence: Mapping[str, Any]) -> str:
    """How people voted, as "3 × 2, 1 × 1, decided"; for those who may see people, else "".

    Of a grade that comes from clicks or a machine judge, what or which.
    """
    if other := click_words(evidence) or machine_words(evidence):
        return other
    if not may_see_people(access) or "votes" not in evidence:
        return ""
    votes = sorted(evidence["votes"].items(), key=lambda vote: -int(vote[0]))
    said = [f"{grade} × {count}" for grade, count in votes]
    return ", ".join([*said, "decided"] if evidence.get("adjudicated") else said)


@dataclass(frozen=True)
class SignalGrade:
    """The grade of a signal in the imported file; `>=60` is a threshold for numbers."""

    signal: str
    grade: int


@dataclass(frozen=True)
class VersionRow:
    """A version of a list. author, reason: empty for viewers without access to people.

    signals: the mapping of raw values to grades, if there was one. takes: where the grades come
    from: people, machine_elsewhere (where people have none) or machine (only). grades_from: in
    words, with the machine judge.

    On pages, confirmed: how many grades a version that changes none has new evidence for.
    """

    number: int
    created_at: datetime
    source: str
    added: int
    changed: int
    removed: int
    releases: list[str]
    author: str
    reason: str
    signals: list[SignalGrade]
    takes: str
    grades_from: str
    confirmed: int = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class GradeCount:
    """How many pairs have a grade."""

    grade: GradeShown
    pairs: int


@dataclass(frozen=True)
class Grades:
    """What a version holds: how many of each grade, worst first.

    from_clicks, from_machines: of them all.
    """

    rows: list[GradeCount]
    total: int
    queries: int
    from_clicks: int
    from_machines: int

    @property
    def counts(self) -> list[int]:
        return [row.pairs for row in self.rows]

    @property
    def names(self) -> list[str]:
        return [f"{row.grade.code} {row.grade.name}" for row in self.rows]


@dataclass(frozen=True)
class ListRow:
    """A list as the page of all lists shows it."""

    slug: str
    name: str
    description: str
    head: int
    scale: str
    last_at: datetime | None
    releases: list[str]


@dataclass(frozen=True)
class ListsPage:
    """archived: how many others are archived. shows_archived: these are shown."""

    rows: list[ListRow]
    archived: int
    shows_archived: bool


@dataclass(frozen=True)
class ReleaseRow:
    """A release. sha256: of the bytes of its qrels.

    quality: the verdict on the list's labels when it was released, quality_tone: good, warn or bad;
    both empty if there was none.

    On pages, who: made it, for those who may see people.
    """

    name: str
    version: int
    sha256: str
    notes: str
    quality: str
    quality_tone: str
    created_at: datetime
    who: str = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class ListPage:
    slug: str
    name: str
    description: str
    head: int
    scale: list[tuple[int, str]]
    grades: Grades
    releases: list[ReleaseRow]
    versions: "Page[VersionRow]"
    shows_people: bool
    is_archived: bool
    takes: str
    grades_from: str


def get_lists_page(*, access: Access, shows_archived: bool = False) -> ListsPage:
    """The collection's lists. shows_archived: those that are archived, and no others."""
    check_may_see_rankings(access)
    lists = JudgmentList.objects.filter(collection=access.collection).order_by("id")
    archived, others = lists.exclude(archived_at=None), lists.filter(archived_at=None)
    return ListsPage(
        rows=[_list_row(one) for one in (archived if shows_archived else others)],
        archived=0 if shows_archived else archived.count(),
        shows_archived=shows_archived,
    )


def _list_row(one: JudgmentList) -> ListRow:
    newest = JudgmentVersion.objects.filter(list=one, number=one.head).first()
    releases = Release.objects.filter(list=one).order_by("-id").values_list("name", flat=True)
    return ListRow(
        slug=one.slug,
        name=one.name,
        description=one.description,
        head=one.head,
        scale=str(Scale.from_json(one.scale)),
        last_at=newest.created_at if newest else None,
        releases=list(releases[:3]),
    )


def get_list_page(*, access: Access, slug: str, page: str) -> ListPage:
    """A list: what its head holds, its releases, its versions from the newest on."""
    one = get_list(access=access, slug=slug)
    scale = Scale.from_json(one.scale)
    versions = JudgmentVersion.objects.filter(list=one).select_related("author", "reason_text")
    grades = get_grades(judgment_list=one, number=one.head)
    return ListPage(
        slug=one.slug,
        name=one.name,
        description=one.description,
        head=one.head,
        scale=[(grade.code, grade.name) for grade in scale.grades],
        grades=grades,
        releases=list_releases(access, one),
        versions=paginate(
            versions.order_by("-number"), page=page, show=partial(show_versions, access)
        ),
        shows_people=may_see_people(access),
        is_archived=one.archived_at is not None,
        takes=one.takes,
        grades_from=takes_words(one.takes, one.takes_from, has_clicks=bool(grades.from_clicks)),
    )


def get_grades(*, judgment_list: JudgmentList, number: int) -> Grades:
    """How many judgments of each grade a version holds."""
    scale = Scale.from_json(judgment_list.scale)
    counts = count_all_grades(list_id=judgment_list.pk, version=number, codes=scale.codes)
    return Grades(
        rows=[
            GradeCount(show_grade(scale, code), count)
            for code, count in zip(scale.codes, counts.of_codes, strict=True)
        ],
        total=counts.judgments,
        queries=counts.queries,
        from_clicks=count_click_grades(list_id=judgment_list.pk, version=number),
        from_machines=count_machine_grades(list_id=judgment_list.pk, version=number),
    )


def show_versions(access: Access, versions: Iterable[JudgmentVersion]) -> list[VersionRow]:
    """The versions as the viewer may see them."""
    shown = list(versions)
    names: dict[int, list[str]] = {}
    result = Release.objects.filter(version__in=[version.pk for version in shown]).order_by("id")
    for version_id, name in result.values_list("version_id", "name"):
        names.setdefault(version_id, []).append(name)
    people = may_see_people(access)
    confirmed, by_clicks = _count_confirmed(shown), with_click_grades(shown)
    return [
        VersionRow(
            number=version.number,
            created_at=version.created_at,
            source=JudgmentVersion.Source(version.source).label,
            added=version.added,
            changed=version.changed,
            removed=version.removed,
            releases=names.get(version.pk, []),
            author=str(version.author or "") if people else "",
            reason=version.reason if people else "",
            signals=[SignalGrade(signal, grade) for signal, grade in version.signals],
            takes=version.takes,
            grades_from=takes_words(
                version.takes, version.takes_from, has_clicks=version.pk in by_clicks
            ),
            confirmed=confirmed.get((version.list_id, version.number), 0),
        )
        for version in shown
    ]


def _count_confirmed(versions: Iterable[JudgmentVersion]) -> dict[tuple[int, int], int]:
    """The judgments that versions confirmed with the same grade, of those that change no grade."""
    still = [one for one in versions if not one.added + one.changed + one.removed]
    if not still:
        return {}
    rows_qs = Judgment.objects.filter(
        list__in={one.list_id for one in still}, since__in=[one.number for one in still]
    )
    rows = rows_qs.order_by().values_list("list", "since").annotate(Count("pk"))
    return {(list_id, since): count for list_id, since, count in rows}


def list_releases(access: Access, one: JudgmentList) -> list[ReleaseRow]:
    """The list's releases, the newest first."""
    return show_releases(access, releases_qs(one).order_by("-pk"))


def releases_qs(one: JudgmentList) -> QuerySet[Release]:
    """The list's releases, with what `show_releases` reads of each."""
    releases = Release.objects.filter(list=one)
    return releases.select_related("version", "created_by", "notes_text")


def show_releases(access: Access, releases: Iterable[Release]) -> list[ReleaseRow]:
    """The releases as the viewer may see them."""
    people = may_see_people(access)
    return [
        ReleaseRow(
            name=release.name,
            version=release.version.number,
            sha256=release.sha256,
            notes=release.notes,
            quality=release.quality,
            quality_tone=release.quality_tone,
            created_at=release.created_at,
            who=str(release.created_by or "") if people else "",
        )
        for release in releases
    ]


def get_release(*, access: Access, slug: str, name: str) -> ReleaseRow:
    """The release of a list with this name."""
    one = get_list(access=access, slug=slug)
    result = releases_qs(one).filter(name=name).first()
    if result is None:
        raise NotFound("release")
    return show_releases(access, [result])[0]


def cite(*, access: Access, list_slug: str, list_name: str, release: ReleaseRow, url: str) -> Cited:
    """How a release is cited, by the address that it keeps."""
    return Cited(
        collection=access.collection.name,
        collection_slug=access.collection.slug,
        list_name=list_name,
        list_slug=list_slug,
        release=release.name,
        version=release.version,
        sha256=release.sha256,
        released_at=release.created_at,
        url=url,
        caveat=release.quality if release.quality_tone == "bad" else "",
    )
