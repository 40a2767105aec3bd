"""The leaderboard of a list: every run's values, of which version, and how sure they are."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from django.db.models import Count, Max

from evaluation.evaluations.due import list_failures
from evaluation.evaluations.measure_sets import get_leaderboard
from evaluation.evaluations.queries import (
    FilterRefused,
    RunSums,
    choose_set,
    chosen_columns,
    counting_measures,
    judged_shown,
    kept_measures,
    list_run_sums,
    with_judged,
)
from evaluation.leaderboards.board import (
    BoardLink,
    Cell,
    Column,
    Filters,
    LeaderboardPage,
    Picker,
    Row,
    Value,
    VersionShown,
)
from evaluation.leaderboards.offers import list_offers
from evaluation.models import Evaluation, RefreshAttempt, Run
from judgments.collections.query_metadata import list_segments
from judgments.lists.queries import HEAD, get_list, get_version
from judgments.models import JudgmentList, JudgmentVersion, Release, SavedSet
from judgments.permissions import Access, check_may_see_rankings
from touchstone.measures.asking import Asked, recognise
from touchstone.measures.averages import Average
from touchstone.measures.defaults import CUTOFF_USES
from touchstone.measures.definition import Measure
from touchstone.measures.wording import describe

NEWEST: Final = "newest"
BY_TAG: Final = "tag"


def get_leaderboard_page(*, access: Access, slug: str, filters: Filters) -> LeaderboardPage:
    """The leaderboard of a list, as a URL asks for it.

    Raises MeasureError or FilterRefused for what can't be asked for, NotFound for a version.
    """
    judgment_list = get_list(access=access, slug=slug)
    # first, so that what comes meanwhile makes another state
    state = get_state(judgment_list=judgment_list)
    asked = chosen_columns(judgment_list, filters.measures)
    columns = with_judged([one.measure for one in asked])
    counting = counting_measures(judgment_list, columns)
    columns = tuple(dict.fromkeys((*columns, *(counting or ()))))
    version = _version(judgment_list, filters.version)
    sets = choose_set(access=access, judgment_list=judgment_list, slug=filters.set)
    found = list_run_sums(
        judgment_list=judgment_list,
        version=version,
        measures=columns,
        segment=filters.segment,
        saved_set=sets.chosen,
        only_newest=filters.runs == NEWEST,
    )
    tags = sorted({tag for own in found for tag in own.run.ranker.tags})
    found = [own for own in found if not filters.tag or filters.tag in own.run.ranker.tags]
    found = [own for own in found if _is_looked_for(own.run, filters)]
    problems = {f.run_id: f.problem for f in list_failures(list_id=judgment_list.pk)}
    counts = None if counting is None else [columns.index(measure) for measure in counting]
    rows = _marked(_rows(found, version, problems, counts), columns)
    sort = filters.sort or f"-{asked[0].canonical}"
    waiting = sum(not row.is_current and not row.problem for row in rows)
    headings = tuple(_column(one, columns.index(one.measure), rows) for one in asked)
    baseline = _baseline(rows, filters.baseline)
    places = _places(asked, columns)
    since, earlier = _earlier(judgment_list, filters, columns, sets.chosen)
    rows = [
        replace(
            row,
            is_baseline=row is baseline,
            cells=_cells(row, headings, places, baseline, earlier.get(row.run_id)),
        )
        for row in rows
    ]
    ordered = _sorted(rows, headings, sort)
    return LeaderboardPage(
        list_slug=judgment_list.slug,
        list_name=judgment_list.name,
        version=_version_shown(judgment_list, version) if version else None,
        columns=headings,
        asked=asked,
        rows=tuple(_arranged(ordered, by_tag=filters.group == BY_TAG)),
        waiting=waiting,
        filters=filters,
        sort=sort,
        releases=_release_names(judgment_list),
        picker=_picker(kept_measures(judgment_list), asked),
        segments=_segments(version),
        sets=sets,
        runs=tuple(sorted((row.name, row.label) for row in rows)),
        tags=tuple(tags),
        since=since,
        state=state + ("~" if waiting else ""),
    )


def _is_looked_for(run: Run, filters: Filters) -> bool:
    """Whether a name has the part that is asked for; the baseline stays in any case."""
    if filters.baseline in (f"{run.ranker.slug}/{run.name}", str(run.public_id)):
        return True
    names = (run.ranker.slug, run.ranker.name, run.name)
    return any(filters.find.casefold() in name.casefold() for name in names)


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


def _picker(kept: Sequence[Measure], asked: Sequence[Asked]) -> Picker:
    shown = {one.canonical for one in asked}
    known = [recognise(measure) for measure in kept]
    names = [one.canonical for one in known]
    offered = [
        (one.canonical, one.canonical in shown)
        for one in known
        if one.measure.family != "Judged" or one.canonical in shown
    ]
    others = " ".join(one.canonical for one in asked if one.canonical not in names)
    return Picker(tuple(offered), others, list_offers(asked[0].plain), CUTOFF_USES)


def _version(judgment_list: JudgmentList, name: str) -> JudgmentVersion | None:
    if name != HEAD:
        return get_version(judgment_list=judgment_list, name=name)
    if judgment_list.head == 0:
        return None
    # by its number: one that was made since the list was read is for the next look
    return get_version(judgment_list=judgment_list, name=str(judgment_list.head))


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
    found: Sequence[RunSums],
    version: JudgmentVersion | None,
    problems: Mapping[int, str],
    counts: Sequence[int] | None,
) -> list[Row]:
    """counts: where the averages tell the queries that a run answers, and all of them."""
    rows = [
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
            values=tuple(Value(one.value, one.error, one.n) for one in own.averages),
            group=next(iter(own.run.ranker.tags), ""),
        )
        for own in found
    ]
    if counts is None:
        return rows
    answered, every = counts
    return [
        replace(row, answered=row.values[answered].n, queries=row.values[every].n)
        if row.values
        else row
        for row in rows
    ]


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


def _column(asked: Asked, place: int, rows: Sequence[Row]) -> Column:
    measure, plain, tool = asked.measure, asked.plain, asked.preset
    family, bracket, rest = plain.name.partition("(")
    detail, _, cutoff = rest.rpartition(")")
    heading = f"{family}{cutoff} {detail}" if bracket else plain.name
    return Column(
        name=asked.canonical,
        heading=heading if tool is None else f"{heading} {tool.name}",
        description=describe(measure),
        is_judged=measure.family == "Judged",
        queries=max((row.values[place].n for row in rows if row.values), default=0),
        definition=measure.name,
        preset="" if tool is None else tool.name,
        caveat="" if tool is None else tool.caveat,
    )


def _baseline(rows: Sequence[Row], name: str) -> Row | None:
    """The run that a name means. Raises FilterRefused where there is none of this name."""
    if not name:
        return None
    for row in rows:
        if name in (row.name, str(row.run_id)):
            return row
    raise FilterRefused("no_run", f"There is no run called {name[:60]} on this leaderboard.")


def _earlier(
    judgment_list: JudgmentList,
    filters: Filters,
    columns: tuple[Measure, ...],
    saved_set: SavedSet | None,
) -> tuple[int | None, dict[UUID, tuple[Average, ...]]]:
    """The version that changes are asked for since, and each run's values at it."""
    if not filters.since:
        return None, {}
    version = get_version(judgment_list=judgment_list, name=filters.since)
    try:
        found = list_run_sums(
            judgment_list=judgment_list,
            version=version,
            measures=columns,
            segment=filters.segment,
            saved_set=saved_set,
        )
    except FilterRefused:  # none of these queries was judged then
        return version.number, {}
    # a run that is still behind the head may be behind that version as well
    known = [own for own in found if own.version == version.number]
    return version.number, {own.run.public_id: own.averages for own in known}


def _places(
    asked: Sequence[Asked], columns: Sequence[Measure]
) -> tuple[tuple[int, int | None], ...]:
    """Where a row's values have each column's own, and the share of judged beside it."""
    beside = [judged_shown(one.measure) for one in asked]
    return tuple(
        (columns.index(one.measure), None if judged is None else columns.index(judged))
        for one, judged in zip(asked, beside, strict=True)
    )


def _cells(
    row: Row,
    headings: Sequence[Column],
    places: Sequence[tuple[int, int | None]],
    baseline: Row | None,
    earlier: Sequence[Average] | None,
) -> tuple[Cell, ...]:
    if not row.values:
        return ()
    bases = baseline.values if baseline and baseline is not row else ()
    return tuple(
        Cell(
            heading,
            row.values[own],
            None if judged is None else row.values[judged],
            _minus(row.values[own].value, bases[own].value if bases else None),
            _minus(row.values[own].value, earlier[own].value if earlier else None),
        )
        for heading, (own, judged) in zip(headings, places, strict=True)
    )


def _minus(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def _arranged(rows: Sequence[Row], *, by_tag: bool) -> list[Row]:
    """The baseline first; by tag, the groups in the order of their names, the nameless one last."""
    if by_tag:
        return sorted(rows, key=lambda row: (not row.group, row.group))
    return sorted(rows, key=lambda row: not row.is_baseline)


def _sorted(rows: Sequence[Row], columns: Sequence[Column], sort: str) -> tuple[Row, ...]:
    """The rows in the order asked for, numbered; runs without the value last."""
    key, descending = sort.removeprefix("-"), sort.startswith("-")
    by_name = sorted(rows, key=lambda row: (row.ranker_name.casefold(), row.run_name.casefold()))
    if key == "name":
        return _numbered(by_name[::-1] if descending else by_name)
    names = [column.name for column in columns]
    if key not in names:
        raise FilterRefused("no_column", f"The table can't be sorted by {key}.")
    place = names.index(key)
    pairs = [(row.cells[place].value.value if row.cells else None, row) for row in by_name]
    known = [(value, row) for value, row in pairs if value is not None]
    known.sort(key=lambda pair: pair[0], reverse=descending)
    return _numbered([*(row for _, row in known), *(row for value, row in pairs if value is None)])


def _numbered(rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple(replace(row, place=place) for place, row in enumerate(rows, start=1))
