"""The leaderboard of a list: every run's values, of which version, and how sure they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Count, Max

from evaluation.exact import IntArray, counts, means, standard_errors
from evaluation.measures.defaults import CUTOFF_USES, CutoffUse, judged_beside
from evaluation.measures.definition import Measure
from evaluation.measures.wording import describe
from evaluation.models import Evaluation, RefreshAttempt, Run
from evaluation.selectors.due import list_failures
from evaluation.selectors.measure_sets import get_leaderboard
from evaluation.selectors.run_sums import (
    FilterRefused,
    RunSums,
    chosen_measures,
    kept_measures,
    list_run_sums,
    with_judged,
)
from judgments.models import JudgmentList, JudgmentVersion, Release
from judgments.permissions import Access, check_may_see_rankings
from judgments.selectors import list_segments
from judgments.selectors.lists import HEAD, get_list, get_version

NEWEST: Final = "newest"


@dataclass(frozen=True)
class Filters:
    """What the page's address asks for. version: a number, a release's name, or "head"."""

    measures: str = ""
    version: str = HEAD
    segment: str = ""
    runs: str = ""
    sort: str = ""


@dataclass(frozen=True)
class Value:
    """One number: the mean over n queries, and its standard error. None: unknown."""

    value: float | None
    error: float | None
    n: int
    is_best: bool = False


@dataclass(frozen=True)
class Row:
    """One run. version: the one that its values are of; None while there are none."""

    place: int
    run_id: UUID
    run_name: str
    ranker_slug: str
    ranker_name: str
    version: int | None
    is_current: bool
    problem: str
    values: tuple[Value, ...]
    cells: tuple["Cell", ...] = ()

    @property
    def stale_words(self) -> str:
        return f"still of version {self.version}"


@dataclass(frozen=True)
class Cell:
    """One number of one run. judged: the share of the documents that it looks at that is judged.

    None beside a number that is such a share itself.
    """

    column: "Column"
    value: Value
    judged: Value | None


@dataclass(frozen=True)
class Column:
    """One measure. is_judged: it says how much of what is shown is judged, not how good it is.

    heading: the name in two words, so that it can be broken: "nDCG@10 gain='exp2'".
    """

    name: str
    heading: str
    description: str
    is_judged: bool
    queries: int


@dataclass(frozen=True)
class VersionShown:
    """The version of the page. releases: the names it has been given."""

    number: int
    created_at: datetime
    releases: tuple[str, ...]
    is_head: bool


@dataclass(frozen=True)
class Picker:
    """What the form that chooses the columns offers.

    kept: the measures that the list keeps current, and whether each is shown. others: the rest.
    """

    kept: tuple[tuple[str, bool], ...]
    others: str
    uses: tuple[CutoffUse, ...]


@dataclass(frozen=True)
class BoardLink:
    """A list, as the page of all leaderboards shows it."""

    slug: str
    name: str
    head: int


@dataclass(frozen=True)
class LeaderboardPage:
    """waiting: runs whose values are of an older version, or not there yet.

    state: changes whenever the table does. version: None on a list without one.
    """

    list_slug: str
    list_name: str
    version: VersionShown | None
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    waiting: int
    filters: Filters
    sort: str
    releases: tuple[str, ...]
    picker: Picker
    segments: tuple[str, ...]
    state: str

    @property
    def waiting_words(self) -> str:
        return f"computing {self.waiting} runs"


def get_leaderboard_page(*, access: Access, slug: str, filters: Filters) -> LeaderboardPage:
    """The leaderboard of a list, as a URL asks for it.

    Raises MeasureError or FilterRefused for what can't be asked for, NotFound for a version.
    """
    judgment_list = get_list(access=access, slug=slug)
    measures = chosen_measures(judgment_list, filters.measures)
    columns = with_judged(measures)
    version = _version(judgment_list, filters.version)
    found = list_run_sums(
        judgment_list=judgment_list,
        version=version,
        measures=columns,
        segment=filters.segment,
        only_newest=filters.runs == NEWEST,
    )
    problems = {f.run_id: f.problem for f in list_failures(list_id=judgment_list.pk)}
    rows = _marked(_rows(found, version, problems), columns)
    sort = filters.sort or f"-{columns[0].name}"
    waiting = sum(not row.is_current and not row.problem for row in rows)
    headings = tuple(_column(measure, place, rows) for place, measure in enumerate(measures))
    rows = [replace(row, cells=_cells(row, headings, columns)) for row in rows]
    return LeaderboardPage(
        list_slug=judgment_list.slug,
        list_name=judgment_list.name,
        version=_version_shown(judgment_list, version) if version else None,
        columns=headings,
        rows=_sorted(rows, measures, sort),
        waiting=waiting,
        filters=filters,
        sort=sort,
        releases=_release_names(judgment_list),
        picker=_picker(kept_measures(judgment_list), measures),
        segments=_segments(version),
        state=get_state(judgment_list=judgment_list) + ("~" if waiting else ""),
    )


def list_leaderboards(*, access: Access) -> list[BoardLink]:
    """The lists of the collection, each with a leaderboard of its own."""
    check_may_see_rankings(access)
    lists = JudgmentList.objects.filter(collection=access.collection).order_by("pk")
    return [BoardLink(own.slug, own.name, own.head) for own in lists]


def get_state(*, judgment_list: JudgmentList) -> str:
    """Changes whenever a leaderboard of the list at its head does; cheap to ask for."""
    leaderboard = get_leaderboard(judgment_list=judgment_list)
    set_id = leaderboard.measure_set_id if leaderboard else 0
    runs = Run.objects.filter(
        ranker__collection=judgment_list.collection_id, withdrawn_at__isnull=True
    ).aggregate(count=Count("pk"), last=Max("pk"))
    evaluated = Evaluation.objects.filter(
        version__list=judgment_list, version__number=judgment_list.head, measure_set=set_id
    ).count()
    failed = RefreshAttempt.objects.filter(list=judgment_list).exclude(problem="").count()
    parts = (judgment_list.head, set_id, runs["count"], runs["last"] or 0, evaluated, failed)
    return "-".join(map(str, parts))


def _release_names(judgment_list: JudgmentList) -> tuple[str, ...]:
    releases = Release.objects.filter(list=judgment_list).order_by("-pk")
    return tuple(releases.values_list("name", flat=True))


def _picker(kept: Sequence[Measure], shown: Sequence[Measure]) -> Picker:
    offered = [(m.name, m in shown) for m in kept if m.family != "Judged" or m in shown]
    others = " ".join(measure.name for measure in shown if measure not in kept)
    return Picker(tuple(offered), others, CUTOFF_USES)


def _version(judgment_list: JudgmentList, name: str) -> JudgmentVersion | None:
    if judgment_list.head == 0 and name == HEAD:
        return None
    return get_version(judgment_list=judgment_list, name=name)


def _segments(version: JudgmentVersion | None) -> tuple[str, ...]:
    if version is None:
        return ()
    return tuple(list_segments(list_id=version.list_id, version=version.number))


def _version_shown(judgment_list: JudgmentList, version: JudgmentVersion) -> VersionShown:
    releases = Release.objects.filter(version=version).order_by("name")
    names = tuple(releases.values_list("name", flat=True))
    is_head = version.number == judgment_list.head
    return VersionShown(version.number, version.created_at, names, is_head)


def _rows(
    found: Sequence[RunSums], version: JudgmentVersion | None, problems: Mapping[int, str]
) -> list[Row]:
    return [
        Row(
            place=0,
            run_id=own.run.public_id,
            run_name=own.run.name,
            ranker_slug=own.run.ranker.slug,
            ranker_name=own.run.ranker.name,
            version=None if own.sums is None else own.version,
            is_current=own.sums is not None
            and version is not None
            and own.version == version.number,
            problem=problems.get(own.run.pk, ""),
            values=() if own.sums is None else _values(own.sums),
        )
        for own in found
    ]


def _values(sums: IntArray) -> tuple[Value, ...]:
    return tuple(map(Value, means(sums), standard_errors(sums), counts(sums)))


def _marked(rows: Sequence[Row], columns: Sequence[Measure]) -> list[Row]:
    """The rows with the best value of each column marked; there is no best share of judged."""
    best = []
    for place, measure in enumerate(columns):
        values = [row.values[place].value for row in rows if row.values]
        known = [value for value in values if value is not None]
        no_contest = measure.family == "Judged" or len(known) < 2
        best.append(None if no_contest else max(known))
    return [
        replace(
            row,
            values=tuple(
                replace(own, is_best=top is not None and own.value == top)
                for own, top in zip(row.values, best, strict=True)
            ),
        )
        if row.values
        else row
        for row in rows
    ]


def _column(measure: Measure, place: int, rows: Sequence[Row]) -> Column:
    queries = max((row.values[place].n for row in rows if row.values), default=0)
    family, bracket, rest = measure.name.partition("(")
    detail, _, cutoff = rest.rpartition(")")
    heading = f"{family}{cutoff} {detail}" if bracket else measure.name
    is_judged = measure.family == "Judged"
    return Column(measure.name, heading, describe(measure), is_judged, queries)


def _cells(row: Row, headings: Sequence[Column], columns: Sequence[Measure]) -> tuple[Cell, ...]:
    if not row.values:
        return ()
    beside = [judged_beside(measure) for measure in columns[: len(headings)]]
    judged = [None if own is None else row.values[columns.index(own)] for own in beside]
    return tuple(map(Cell, headings, row.values, judged))


def _sorted(rows: Sequence[Row], columns: Sequence[Measure], sort: str) -> tuple[Row, ...]:
    """The rows in the order asked for, numbered; runs without the value last."""
    key, descending = sort.removeprefix("-"), sort.startswith("-")
    by_name = sorted(rows, key=lambda row: (row.ranker_name.casefold(), row.run_name.casefold()))
    if key == "name":
        return _numbered(by_name[::-1] if descending else by_name)
    names = [measure.name for measure in columns]
    if key not in names:
        raise FilterRefused("no_column", f"The table can't be sorted by {key}.")
    place = names.index(key)
    pairs = [(row.values[place].value if row.values else None, row) for row in by_name]
    known = [(value, row) for value, row in pairs if value is not None]
    known.sort(key=lambda pair: pair[0], reverse=descending)
    return _numbered([*(row for _, row in known), *(row for value, row in pairs if value is None)])


def _numbered(rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple(replace(row, place=place) for place, row in enumerate(rows, start=1))
