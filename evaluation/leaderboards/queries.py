"""The leaderboard of a list: every run's values, of which version, and how sure they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from django.db.models import Count, Max

from evaluation.evaluations.due import list_failures
from evaluation.evaluations.measure_sets import get_leaderboard as get_kept
from evaluation.evaluations.queries import (
    FilterRefused,
    RunSums,
    choose_set,
    chosen_columns,
    counting_measures,
    judged_shown,
    list_run_sums,
    with_judged,
)
from evaluation.leaderboards.board import Column, Filters, LeaderboardTable, Row, Value, column_of
from evaluation.models import CorrectedEvaluation, Evaluation, RefreshAttempt, Run, SampleEvaluation
from evaluation.runs.names import list_named_runs, name_of, without_alias
from judgments.lists.queries import HEAD, get_list, get_version
from judgments.models import JudgmentList, JudgmentVersion, Release, SavedSet
from judgments.permissions import Access, check_may_see_rankings
from judgments.versions.click_grades import count_click_grades
from judgments.versions.machine_grades import count_machine_grades
from judgments.versions.takes import takes_at
from touchstone.measures.asking import Asked
from touchstone.measures.averages import Average
from touchstone.measures.definition import Measure
from touchstone.statistics.intervals import mean_interval

NEWEST: Final = "newest"
BY_TAG: Final = "tag"


@dataclass(frozen=True)
class _Columns:
    """The measures computed, and where the averages of a run have what a column shows.

    places: of each column's own mean, and of the share of judged documents beside it. counting: of
    means over the queries that a run answers, and over all of them; None where none tell.
    """

    asked: tuple[Asked, ...]
    measures: tuple[Measure, ...]
    places: tuple[tuple[int, int | None], ...]
    counting: tuple[int, int] | None


def get_leaderboard(*, access: Access, slug: str, filters: Filters) -> LeaderboardTable:
    """The leaderboard of a list, as an address asks for it.

    Raises MeasureError or FilterRefused for what can't be asked for, NotFound for a version.
    """
    judgment_list = get_list(access=access, slug=slug)
    filters = replace(filters, baseline=without_alias(access, filters.baseline))
    # first, so that what comes meanwhile makes another state
    state = get_state(judgment_list=judgment_list)
    columns = _columns(judgment_list, filters.measures)
    version = _version(judgment_list, filters.version)
    sets = choose_set(access=access, judgment_list=judgment_list, slug=filters.set)
    every = list_run_sums(
        judgment_list=judgment_list,
        version=version,
        measures=columns.measures,
        segment=filters.segment,
        saved_set=sets.chosen,
        only_newest=filters.runs == NEWEST,
        named=_named(access, filters),
    )
    result = [own for own in every if _is_asked_for(own.run, filters)]
    baseline = _baseline(result, filters.baseline)
    since, earlier = _earlier(judgment_list, filters, columns.measures, sets.chosen)
    headings, rows = _rows(
        judgment_list=judgment_list,
        version=version,
        columns=columns,
        found=result,
        baseline=baseline,
        earlier=earlier,
    )
    waiting = sum(row.computing for row in rows)
    sort = filters.sort or f"-{headings[0].name}"
    ordered = _sorted(rows, headings, sort)
    if filters.group == BY_TAG:  # the nameless group last
        ordered = sorted(ordered, key=lambda row: (not row.group, row.group))
    else:
        ordered = sorted(ordered, key=lambda row: not row.is_baseline)
    releases = (
        Release.objects.filter(version=version).order_by("name")
        if version
        else Release.objects.none()
    )
    return LeaderboardTable(
        version=version.number if version else None,
        is_head=version is None or version.number == judgment_list.head,
        releases=tuple(releases.values_list("name", flat=True)),
        segment=filters.segment,
        computing=waiting > 0,
        measures=headings,
        runs=tuple(ordered),
        list=judgment_list,
        created_at=version.created_at if version else None,
        sets=sets,
        sort=sort,
        waiting=waiting,
        since=since,
        state=state + ("~" if waiting else ""),
    )


def click_grades_of(board: LeaderboardTable) -> int:
    """How many grades of the board's version come from clicks."""
    if board.version is None:
        return 0
    return count_click_grades(list_id=board.list.pk, version=board.version)


def machine_grades_of(board: LeaderboardTable) -> int:
    """How many grades of the board's version come from machine judges."""
    if board.version is None:
        return 0
    return count_machine_grades(list_id=board.list.pk, version=board.version)


def grades_from(board: LeaderboardTable) -> str:
    """Where the grades of the board's version come from, in words."""
    return takes_at(list_id=board.list.pk, version=board.version)


def list_lists(*, access: Access) -> list[JudgmentList]:
    """The lists of the collection, each with a leaderboard of its own."""
    check_may_see_rankings(access)
    own_qs = JudgmentList.objects.filter(collection=access.collection, archived_at=None)
    return list(own_qs.order_by("pk"))


def board_measures(judgment_list: JudgmentList, text: str) -> tuple[Measure, ...]:
    """All that a leaderboard of these columns computes, in its order: what its sums are kept by.

    Raises MeasureError for what can't be computed on this list.
    """
    return _columns(judgment_list, text).measures


def get_state(*, judgment_list: JudgmentList) -> str:
    """Changes whenever a leaderboard of the list at its head does; cheap to ask for."""
    leaderboard = get_kept(judgment_list=judgment_list)
    set_id = leaderboard.measure_set_id if leaderboard else 0
    runs = Run.objects.filter(
        ranker__collection=judgment_list.collection_id, withdrawn_at__isnull=True
    ).aggregate(count=Count("pk"), last=Max("pk"))
    evaluated = Evaluation.objects.filter(
        version__list=judgment_list, version__number=judgment_list.head, measure_set=set_id
    ).count()
    sampled = SampleEvaluation.objects.filter(plan__list=judgment_list).aggregate(last=Max("pk"))
    failed = RefreshAttempt.objects.filter(list=judgment_list).exclude(problem="").count()
    corrected = CorrectedEvaluation.objects.filter(plan__list=judgment_list).aggregate(
        last=Max("pk")
    )
    newest = runs["last"] or 0, sampled["last"] or 0, corrected["last"] or 0
    parts = (judgment_list.head, set_id, runs["count"], *newest, evaluated, failed)
    return "-".join(map(str, parts))


def _named(access: Access, filters: Filters) -> list[Run] | None:
    """The runs that an address names, and the baseline; None where it names none."""
    if filters.runs in ("", NEWEST):
        return None
    names = [filters.runs, *([filters.baseline] if filters.baseline else [])]
    result = list_named_runs(access=access, names=names)
    return [run for run in result if run.withdrawn_at is None]


def _columns(judgment_list: JudgmentList, text: str) -> _Columns:
    asked = chosen_columns(judgment_list, text)
    shown = with_judged([one.measure for one in asked])
    counting = counting_measures(judgment_list, shown)
    measures = tuple(dict.fromkeys((*shown, *(counting or ()))))
    beside = [judged_shown(one.measure) for one in asked]
    return _Columns(
        asked=asked,
        measures=measures,
        places=tuple(
            (measures.index(one.measure), None if judged is None else measures.index(judged))
            for one, judged in zip(asked, beside, strict=True)
        ),
        counting=None
        if counting is None
        else (measures.index(counting[0]), measures.index(counting[1])),
    )


def _version(judgment_list: JudgmentList, name: str) -> JudgmentVersion | None:
    if name != HEAD:
        return get_version(judgment_list=judgment_list, name=name)
    if judgment_list.head == 0:
        return None
    # by its number: one that was made since the list was read is for the next look
    return get_version(judgment_list=judgment_list, name=str(judgment_list.head))


def _is_asked_for(run: Run, filters: Filters) -> bool:
    """Whether a run has the tag, and its names the part asked for, which a baseline need not."""
    if filters.tag and filters.tag not in run.ranker.tags:
        return False
    if filters.baseline in (name_of(run), str(run.public_id)):
        return True
    names = (run.ranker.slug, run.ranker.name, run.name)
    return any(filters.find.casefold() in name.casefold() for name in names)


def _baseline(found: Sequence[RunSums], name: str) -> RunSums | None:
    """The run that a name means. Raises FilterRefused where there is none of this name."""
    if not name:
        return None
    for own in found:
        if name in (name_of(own.run), str(own.run.public_id)):
            return own
    raise FilterRefused("no_run", f"No run named {name[:60]} on this leaderboard.")


def _earlier(
    judgment_list: JudgmentList,
    filters: Filters,
    measures: tuple[Measure, ...],
    saved_set: SavedSet | None,
) -> tuple[int | None, dict[int, tuple[Average, ...]]]:
    """The version that changes are asked for since, and each run's (pk) values at it."""
    if not filters.since:
        return None, {}
    version = get_version(judgment_list=judgment_list, name=filters.since)
    try:
        result = list_run_sums(
            judgment_list=judgment_list,
            version=version,
            measures=measures,
            segment=filters.segment,
            saved_set=saved_set,
        )
    except FilterRefused:  # none of these queries was judged then
        return version.number, {}
    # a run whose values are older than the head's may have older ones than that version's as well
    known = [own for own in result if own.version == version.number]
    return version.number, {own.run.pk: own.averages for own in known}


def _rows(
    *,
    judgment_list: JudgmentList,
    version: JudgmentVersion | None,
    columns: _Columns,
    found: Sequence[RunSums],
    baseline: RunSums | None,
    earlier: Mapping[int, tuple[Average, ...]],
) -> tuple[tuple[Column, ...], list[Row]]:
    """The columns, and a row a run, without its place."""
    problems = {one.run_id: one.problem for one in list_failures(list_id=judgment_list.pk)}
    averages = {own.run.pk: own.averages for own in found}
    known = [own for own in averages.values() if own]
    headings = tuple(
        column_of(one, queries=max((own[place].n for own in known), default=0))
        for one, (place, _) in zip(columns.asked, columns.places, strict=True)
    )
    best = [
        _best(heading, [own[place].value for own in known])
        for heading, (place, _) in zip(headings, columns.places, strict=True)
    ]

    def values(own: RunSums) -> dict[str, Value]:
        run, mine = own.run, averages[own.run.pk]
        bases = averages[baseline.run.pk] if baseline and baseline is not own else ()
        return {
            heading.name: _value(
                heading, mine, place, bases=bases, earlier=earlier.get(run.pk, ()), best=top
            )
            for heading, place, top in zip(headings, columns.places, best, strict=True)
            if mine
        }

    def row(own: RunSums) -> Row:
        run, mine = own.run, averages[own.run.pk]
        is_current = bool(mine) and version is not None and own.version == version.number
        problem = problems.get(run.pk, "")
        answered, every = columns.counting or (0, 0)
        counts = (mine[answered].n, mine[every].n) if columns.counting and mine else (None, None)
        return Row(
            ranker=run.ranker.slug,
            run=run.name,
            id=run.public_id,
            version=own.version if mine else None,
            computing=not is_current and not problem,
            problem=problem,
            answered=counts[0],
            queries=counts[1],
            values=values(own),
            ranker_name=run.ranker.name,
            group=next(iter(run.ranker.tags), ""),
            is_baseline=own is baseline,
        )

    return headings, [row(own) for own in found]


def _best(column: Column, values: Sequence[float | None]) -> float | None:
    """The best of two values or more; there is no best share of judged documents."""
    known = [value for value in values if value is not None]
    return None if column.is_judged or len(known) < 2 else max(known)


def _value(
    column: Column,
    averages: Sequence[Average],
    places: tuple[int, int | None],
    *,
    bases: Sequence[Average],
    earlier: Sequence[Average],
    best: float | None,
) -> Value:
    place, judged = places
    own = averages[place]
    low, high = mean_interval(own.value, own.error, own.n) or (None, None)
    return Value(
        mean=own.value,
        standard_error=own.error,
        low=low,
        high=high,
        difference=_minus(own.value, bases[place].value if bases else None),
        change=_minus(own.value, earlier[place].value if earlier else None),
        n=own.n,
        judged=None if judged is None else averages[judged].value,
        column=column,
        is_best=best is not None and own.value == best,
    )


def _minus(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def _sorted(rows: Sequence[Row], columns: Sequence[Column], sort: str) -> list[Row]:
    """The rows in the order asked for, numbered; runs without the value last."""
    key, descending = sort.removeprefix("-"), sort.startswith("-")
    ordered = sorted(rows, key=lambda row: (row.ranker_name.casefold(), row.run.casefold()))
    if key == "name":
        ordered = ordered[::-1] if descending else ordered
    elif key in [column.name for column in columns]:
        means = [(row.values[key].mean if row.values else None, row) for row in ordered]
        known = [(mean, row) for mean, row in means if mean is not None]
        known.sort(key=lambda pair: pair[0], reverse=descending)
        ordered = [*(row for _, row in known), *(row for mean, row in means if mean is None)]
    else:
        raise FilterRefused("no_column", f"Can’t sort by {key}.")
    return [replace(row, place=position) for position, row in enumerate(ordered, start=1)]
