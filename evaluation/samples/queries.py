"""What a list's samples say of its runs, for pages and programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from evaluation.evaluations.measure_sets import get_leaderboard, grades_of, measures_of
from evaluation.evaluations.queries import FilterRefused
from evaluation.evaluations.query_values import QueryValues, values_under
from evaluation.models import Run, SampleEvaluation
from evaluation.runs.names import name_of, run_label
from evaluation.runs.selection import ComparedRun
from evaluation.samples.corrections import Correction
from evaluation.samples.drawn import (
    Counted,
    get_counted,
    get_drawn,
    last_touched,
    list_unanswered,
)
from evaluation.samples.figures import Readings, from_json, readings_of_differences
from judgments.lists.queries import get_list
from judgments.models import JudgmentList, SamplePlan
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access
from judgments.samples.origins import Origins, get_origins
from judgments.samples.queries import design_words, list_plans
from judgments.versions.machine_grades import has_other_sources
from touchstone.measures.definition import Measure
from touchstone.sampling.readings import SampleReading
from touchstone.statistics.intervals import half_interval

# Effective queries that were not certain to be drawn, below which 95 % intervals held the mean less
# than 93 % of the time (tests/touchstone/sampling/coverage.py)
FEWEST: Final = 40
FEWEST_SIMPLE: Final = 15  # of a mean per query of a simple random sample: all weights are equal
FEWEST_POST_STRATIFIED: Final = 80  # of a post-stratified mean per search


@dataclass(frozen=True)
class Estimate:
    """A mean, or mean difference, estimated from a sample. n: queries that count.

    standard_error: design-based; null where the design gives none. half: of the 95 % interval
    (Student's t). design_effect: Kish's; effective_n: n divided by it. is_reliable: whether such
    intervals hold the mean as often as they say: not with unequal weights and fewer than 40
    effective queries that were not certain to be drawn (80 for a post-stratified mean per search),
    with fewer than 15 of a simple random sample, nor for a mean per search of such a sample, which
    misses the most frequent queries.
    """

    mean: float | None
    standard_error: float | None
    half: float | None
    n: int
    design_effect: float | None
    effective_n: float | None
    is_reliable: bool


@dataclass(frozen=True)
class EstimatedRun:
    """A run. version: of the list, that its estimates are of; null while none is computed.

    stale: grades of the sample have changed since, and a worker computes it again.
    """

    run: str
    version: int | None
    stale: bool
    per_query: Estimate
    per_search: Estimate
    label: str = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class SampleChoice:
    """A sample of the list."""

    number: int
    name: str
    size: int


@dataclass(frozen=True, kw_only=True)
class Estimates:
    """What a sample says of every run by a measure, best per search first.

    sample: its number, 0 where the list has none. design: in words. size: drawn queries, judged:
    those of them that people judged, without_results: those that count as empty rankings.
    is_complete: that is all of them; else the means are not yet estimates. unanswered: queries that
    are neither, and for which no run has a document. has_searches: the queries are of a traffic
    log; else each counts once, and means per search are those per query. post_stratified: strata
    count by what they are in the newest traffic, `traffic`; "" if the sample has no strata.
    is_simulated: the searches are made up. computing: a worker computes some of it; ask again.
    corrections: by each machine judge that has labels on the list.

    On pages, origins: how the judged queries of the list were chosen.
    """

    sample: int
    name: str
    design: str
    size: int
    judged: int
    without_results: int
    unanswered: int
    is_complete: bool
    is_simulated: bool
    has_searches: bool
    post_stratified: bool
    traffic: str
    measure: str
    computing: bool
    runs: tuple[EstimatedRun, ...]
    corrections: tuple[Correction, ...] = ()
    list: JudgmentList = field(metadata=ON_PAGES)
    samples: tuple[SampleChoice, ...] = field(metadata=ON_PAGES)
    measures: tuple[str, ...] = field(metadata=ON_PAGES)
    frame: str = field(default="", metadata=ON_PAGES)
    origins: Origins | None = field(default=None, metadata=ON_PAGES)

    @property
    def readings(self) -> tuple[str, ...]:
        """The means that pages show."""
        return ("query", "search") if self.has_searches else ("query",)

    @property
    def unreliable(self) -> bool:
        """Whether a shown interval is too short to be relied on."""
        pairs = ((one.per_query, one.per_search) for one in self.runs)
        return any(one.mean is not None and not one.is_reliable for pair in pairs for one in pair)


@dataclass(frozen=True)
class EstimatedDifference:
    """A run's difference from the baseline in both readings, over the sample."""

    run: str
    per_query: Estimate
    per_search: Estimate
    label: str = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class SampleDifferences:
    """What a sample says of differences from a baseline.

    size: drawn queries; judged: of those; without_results: those that count as empty rankings.
    has_searches: the queries are of a traffic log; else each counts once.
    """

    sample: int
    name: str
    size: int
    judged: int
    without_results: int
    is_simulated: bool
    has_searches: bool
    differences: tuple[EstimatedDifference, ...]

    @property
    def readings(self) -> tuple[str, ...]:
        """The means that pages show."""
        return ("query", "search") if self.has_searches else ("query",)

    @property
    def is_complete(self) -> bool:
        """Whether every drawn query is judged or without results; else they are no estimates."""
        return self.judged + self.without_results == self.size


@dataclass(frozen=True)
class SampleFilters:
    """What an address asks for; "" are the newest sample and the list's first measure.

    post_stratified: strata are weighted by the newest traffic, not by that of the draw.
    """

    sample: str = ""
    measure: str = ""
    post_stratified: bool = False


def get_estimates(*, access: Access, slug: str, filters: SampleFilters) -> Estimates:
    """The estimates of a list's runs, as far as a worker has computed them.

    Raises FilterRefused for a sample that the list does not have or a measure that it does not
    keep: only kept measures are estimated.
    """
    judgment_list = get_list(access=access, slug=slug)
    plans = list_plans(judgment_list=judgment_list)
    board = get_leaderboard(judgment_list=judgment_list)
    measures = measures_of(board.measure_set) if board else ()
    place = _place(measures, filters.measure)
    names = tuple(measure.name for measure in measures)
    result = Estimates(
        sample=0,
        name="",
        design="",
        size=0,
        judged=0,
        without_results=0,
        unanswered=0,
        is_complete=False,
        is_simulated=False,
        has_searches=True,
        post_stratified=filters.post_stratified,
        traffic="",
        measure=names[place] if names else "",
        computing=False,
        runs=(),
        list=judgment_list,
        samples=tuple(SampleChoice(one.number, one.name, one.size) for one in plans),
        measures=names,
    )
    plan = choose_plan(plans, filters.sample)
    if plan is None:
        return result
    plan.list = judgment_list
    version = last_touched(plan)
    counted = get_counted(get_drawn(plan), version)
    if filters.post_stratified and counted.traffic is None:
        message = "This sample was drawn without strata, so there is nothing to post-stratify by."
        raise FilterRefused("no_strata", message)
    at = version, counted.basis
    stored = SampleEvaluation.objects.filter(
        plan=plan, measure_set=board.measure_set_id if board else 0
    )
    newest = {row.run_id: row for row in stored.order_by("version", "pk")}
    runs = tuple(_estimated_runs(plan, at, newest, place, post_stratified=filters.post_stratified))
    judged, without = counted.n_judged, len(counted.zero_results)
    is_complete = judged + without == plan.size
    return replace(
        result,
        sample=plan.number,
        name=plan.name,
        design=design_words(plan.design),
        size=plan.size,
        judged=judged,
        without_results=without,
        unanswered=0 if is_complete else len(list_unanswered(plan)),
        is_complete=is_complete,
        is_simulated=plan.frame.is_simulated
        or bool(filters.post_stratified and counted.traffic and counted.traffic.is_simulated),
        has_searches=plan.frame.of_list_id is None,
        computing=any(one.stale for one in runs),
        runs=runs,
        traffic=counted.traffic.name if counted.traffic else "",
        frame=plan.frame.name,
        origins=get_origins(judgment_list=judgment_list),
    )


def choose_plan(plans: Sequence[SamplePlan], number: str) -> SamplePlan | None:
    """The sample that an address names, or the newest; None where a list has none."""
    if not number:
        return plans[0] if plans else None
    result = next((one for one in plans if str(one.number) == number), None)
    if result is None:
        raise FilterRefused("no_sample", f"This list has no sample {number[:20]}.")
    return result


def _place(measures: Sequence[Measure], name: str) -> int:
    if not name:
        return 0
    names = [measure.name for measure in measures]
    if name not in names:
        message = f"Samples estimate the measures that the list keeps, and {name[:80]} is not kept."
        raise FilterRefused("measure_not_kept", message)
    return names.index(name)


def _estimated_runs(
    plan: SamplePlan,
    at: tuple[int, str],
    newest: Mapping[int, SampleEvaluation],
    place: int,
    *,
    post_stratified: bool,
) -> list[EstimatedRun]:
    """at: the version, and the basis. newest: by run. place: of the measure."""
    chosen = slice(2, 4) if post_stratified else slice(2)
    runs_qs = Run.objects.filter(
        ranker__collection=plan.list.collection_id, withdrawn_at__isnull=True
    ).select_related("ranker")
    rows = []
    for run in runs_qs.order_by("pk"):
        row = newest.get(run.pk)
        result = from_json(row.readings)[place][chosen] if row else ()
        per_query, per_search = estimates_of(
            result or (NONE, NONE), plan, post_stratified=post_stratified
        )
        is_stale = bool(at[0]) and (row is None or (row.version, row.basis) != at)
        rows.append(
            EstimatedRun(
                name_of(run),
                row.version if row else None,
                is_stale,
                per_query,
                per_search,
                run_label(run.ranker.name, name_of(run)),
            )
        )
    return sorted(rows, key=lambda one: -(one.per_search.mean or 0.0))


NONE: Final = SampleReading(None, None, 0, 0, None, None, None)


def estimates_of(
    pair: Readings, plan: SamplePlan, *, post_stratified: bool = False
) -> tuple[Estimate, Estimate]:
    """Both readings with their intervals."""
    is_simple = not plan.design["by_size"] and len(plan.design["strata"]) == 1
    of_query = _estimate(pair[0], True, FEWEST_SIMPLE if is_simple else FEWEST)
    if plan.frame.of_list_id is not None:  # each query is one search
        return of_query, of_query
    fewest = FEWEST_POST_STRATIFIED if post_stratified else FEWEST
    return of_query, _estimate(pair[1], not is_simple, fewest)


def _estimate(reading: SampleReading, suits: bool, fewest: int) -> Estimate:
    return Estimate(
        reading.value,
        reading.standard_error,
        half_interval(reading.standard_error, reading.df + 1),
        reading.n,
        reading.design_effect,
        reading.effective_n,
        suits and (reading.uncertain_n is None or reading.uncertain_n >= fewest),
    )


def get_differences(
    *,
    judgment_list: JudgmentList,
    version: int,
    measure: Measure,
    baseline: ComparedRun,
    others: Sequence[ComparedRun],
) -> SampleDifferences | None:
    """What the list's newest sample says of differences at a version; None without one judged.

    baseline, others: with their values of all judged queries. Grades of clicks and machine judges
    do not count.
    """
    plan = next(iter(list_plans(judgment_list=judgment_list)), None)
    if plan is None or not others:
        return None
    plan.list = judgment_list
    drawn = get_drawn(plan)
    counted = get_counted(drawn, version)
    if not counted.n_judged:
        return None
    pairs = readings_of_differences(
        drawn=drawn,
        counted=counted,
        measure=measure,
        baseline=_by_people(baseline, judgment_list, version, counted, measure),
        others=[_by_people(one, judgment_list, version, counted, measure) for one in others],
    )
    rows = tuple(
        EstimatedDifference(one.name, *estimates_of(pair, plan), one.label)
        for one, pair in zip(others, pairs, strict=True)
    )
    return SampleDifferences(
        plan.number,
        plan.name,
        plan.size,
        counted.n_judged,
        len(counted.zero_results),
        plan.frame.is_simulated,
        plan.frame.of_list_id is None,
        rows,
    )


def _by_people(
    run: ComparedRun,
    judgment_list: JudgmentList,
    version: int,
    counted: Counted,
    measure: Measure,
) -> QueryValues:
    """A run's values of drawn queries by people's grades alone."""
    if not has_other_sources(list_id=judgment_list.pk, version=version):
        return run.values
    return values_under(
        run=run.run,
        judged=counted.judged,
        query_ids=np.unique(counted.judged.query_ids),
        grades=grades_of(judgment_list),
        measure=measure,
    )
