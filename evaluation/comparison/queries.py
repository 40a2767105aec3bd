"""Runs compared with a baseline: how large the differences are, how sure, and where they lie."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from evaluation.comparison.differences import (
    Differences,
    by_segment,
    compare_with_baseline,
    differences_of,
)
from evaluation.comparison.measure_orders import (
    MeasureOrder,
    MeasureOrders,
    get_measure_orders,
)
from evaluation.comparison.ranking_changes import RankingChanges, get_ranking_changes
from evaluation.comparison.targeted_changes import Intended, get_intended
from evaluation.corrected.queries import CorrectedDifferences, get_corrected_differences
from evaluation.evaluations.measure_sets import get_test
from evaluation.evaluations.queries import FilterRefused, SetChoice
from evaluation.evaluations.query_values import KEPT
from evaluation.runs.names import pick_run, without_alias
from evaluation.runs.selection import (
    ChosenRuns,
    ComparedRun,
    RunMean,
    RunsFilters,
    get_chosen_runs,
)
from evaluation.samples.queries import SampleDifferences, get_differences
from judgments.collections.queries import list_query_ids
from judgments.collections.query_metadata import get_query_traits, list_segments
from judgments.models import Query
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access
from judgments.storage.caches import get_or_compute
from touchstone.statistics.named_tests import TESTS, Test
from touchstone.statistics.non_inferiority import LEVEL as NON_INFERIORITY_LEVEL
from touchstone.statistics.non_inferiority import NonInferiority, Verdict, non_inferiority
from touchstone.statistics.non_inferiority import check as check_verdict
from touchstone.statistics.paired import FEWEST, Comparison
from touchstone.statistics.sentences import LEVEL
from touchstone.statistics.tukey import PairOfRankers, tukey_hsd

LISTED: Final = 10  # queries named at either end
MOST_BARS: Final = 400  # differences drawn one by one; beyond, the drawing shows quantiles


@dataclass(frozen=True)
class CompareFilters(RunsFilters):
    """With which of the runs is compared, which comparison is shown in full, and by which test.

    test: "" for the list's. margin: how much worse a run may be, in the measure's units. level: of
    the interval that this is told by.
    """

    baseline: str = ""
    against: str = ""
    test: str = ""
    margin: float = 0.0
    level: float = NON_INFERIORITY_LEVEL


@dataclass(frozen=True, kw_only=True)
class Difference(Comparison):
    """A run compared with the baseline, over the `n` queries that are in both means.

    mean: mean difference, run minus baseline; low, high: its 95 % interval (BCa). p_value:
    two-sided; null below six queries. p_corrected: with Holm's correction for all runs of the
    response. effect: the mean in standard deviations of the differences. detectable: minimum
    detectable difference, with 80 % power. warning: why the difference may be due to judging; else
    empty. sentence: a summary.

    difference: `mean`. ci: its Student's t interval at the requested level. verdict: better, no
    worse, worse or inconclusive, by this interval and the margin. mdd: minimum detectable
    difference (80 % power, the requested level). needed: number of queries that would probably be
    conclusive.
    """

    run: RunMean
    baseline: RunMean = field(metadata=ON_PAGES)
    p_corrected: float | None
    difference: float | None
    ci: tuple[float | None, ...]
    verdict: Verdict
    mdd: float | None
    needed: int | None

    @property
    def is_significant(self) -> bool:
        return self.p_corrected is not None and self.p_corrected <= LEVEL


@dataclass(frozen=True)
class QueryDifference:
    """A query on which two runs differ."""

    query_id: str
    text: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        return self.second - self.first


@dataclass(frozen=True)
class SegmentDifference:
    """The comparison within a segment. p_value: not corrected for the other segments."""

    name: str
    first: float
    second: float
    n: int
    mean: float
    low: float | None
    high: float | None
    p_value: float | None


@dataclass(frozen=True)
class RunPair:
    """Two of at least three runs: second minus first, by Tukey's test for all pairs."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float
    runs: tuple[RunMean, RunMean] = field(metadata=ON_PAGES)

    @property
    def is_significant(self) -> bool:
        return self.p_value <= LEVEL


@dataclass(frozen=True)
class Detail:
    """One run compared with the baseline. changes: null if no query is compared.

    intended: null unless a saved set is requested.

    On pages, drawn: every difference, the largest gain first, or quantiles where there are too
    many. points: the queries themselves in that order; of too many, only those at the ends.
    gains, losses: the queries at the ends.
    """

    run: str
    changes: RankingChanges | None
    segments: tuple[SegmentDifference, ...]
    intended: Intended | None
    other: Difference = field(metadata=ON_PAGES)
    drawn: tuple[float, ...] = field(metadata=ON_PAGES)
    points: tuple[QueryDifference, ...] = field(metadata=ON_PAGES)
    gains: tuple[QueryDifference, ...] = field(metadata=ON_PAGES)
    losses: tuple[QueryDifference, ...] = field(metadata=ON_PAGES)

    @property
    def names(self) -> list[str]:
        """The baseline and the run, as addresses name them."""
        return [self.other.baseline.name, self.run]

    @property
    def is_quantiles(self) -> bool:
        return len(self.drawn) < self.other.n


@dataclass(frozen=True)
class RunsCompared:
    """A comparison. version: 0 on a list without any; baseline: null where nothing is there.

    test: that p-values are of; list_test: the one that leads chose for the list. measures: how far
    others agree about the order of three runs or more. sample: the differences per query and per
    search, estimated from the list's newest sample; null without one, or of a part of the queries.
    corrected: the same by each machine judge of the list, corrected by the sample's people.
    """

    version: int
    measure: str
    segment: str
    test: Test
    list_test: Test
    baseline: RunMean | None
    margin: float
    level: float
    comparisons: tuple[Difference, ...]
    detail: Detail | None
    pairs: tuple[RunPair, ...]
    measures: tuple[MeasureOrder, ...]
    sample: SampleDifferences | None
    corrected: tuple[CorrectedDifferences, ...]
    orders: MeasureOrders | None = field(metadata=ON_PAGES)
    chosen: ChosenRuns = field(metadata=ON_PAGES)

    @property
    def sets(self) -> SetChoice:
        """The saved sets to choose from."""
        return self.chosen.sets

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of an axis with 0 in its middle that has room for every interval."""
        pairs = [(one.low, one.high) for one in self.comparisons]
        reach = max((abs(end) for pair in pairs for end in pair if end is not None), default=0) or 1
        return -reach, reach

    @property
    def names(self) -> list[str]:
        """The runs, the baseline first, as addresses name them."""
        return [one.name for one in (self.baseline, *(own.run for own in self.comparisons)) if one]


def get_comparison(*, access: Access, slug: str, filters: CompareFilters) -> RunsCompared:
    """Runs compared as an address asks for it.

    Raises MeasureError or FilterRefused for what can't be asked for, NotFound for a version.
    """
    _check_verdict(filters)
    wanted = without_alias(access, filters.baseline)
    chosen = get_chosen_runs(access=access, slug=slug, filters=filters, baseline=wanted)
    list_test = _test(get_test(judgment_list=chosen.list))
    test = _test(filters.test) if filters.test else list_test
    baseline, rest = _parted(chosen.compared, wanted)
    comparisons: tuple[Difference, ...] = ()
    detail = None
    if baseline and rest:
        paired = [differences_of(baseline, one) for one in rest]
        comparisons = tuple(
            _difference(
                baseline,
                one,
                own,
                p_corrected,
                non_inferiority(their.values, margin=filters.margin, level=filters.level),
            )
            for one, their, (own, p_corrected) in zip(
                rest, paired, compare_with_baseline(paired, test=test), strict=True
            )
        )
        against = pick_run([one.run for one in rest], without_alias(access, filters.against))
        at = next((position for position, one in enumerate(rest) if one.run == against), 0)
        detail = _detail(
            access, chosen, (baseline, rest[at]), paired[at], comparisons[at], test=test
        )
    orders = get_measure_orders(
        judgment_list=chosen.list, version=chosen.version, asked=chosen.asked
    )
    return RunsCompared(
        version=chosen.version,
        measure=chosen.asked.canonical,
        segment=chosen.segment,
        test=test,
        list_test=list_test,
        baseline=baseline.shown if baseline else None,
        margin=filters.margin,
        level=filters.level,
        comparisons=comparisons,
        detail=detail,
        pairs=_pairs(chosen.compared),
        measures=orders.orders if orders else (),
        sample=_sample(chosen, baseline, rest),
        corrected=_corrected(chosen, baseline, rest),
        orders=orders,
        chosen=chosen,
    )


def _sample(
    chosen: ChosenRuns, baseline: ComparedRun | None, rest: Sequence[ComparedRun]
) -> SampleDifferences | None:
    """What the list's newest sample says of all queries; None where only some are chosen."""
    if baseline is None or chosen.segment or chosen.sets.chosen:
        return None
    return get_differences(
        judgment_list=chosen.list,
        version=chosen.version,
        measure=chosen.asked.measure,
        baseline=baseline,
        others=rest,
    )


def _corrected(
    chosen: ChosenRuns, baseline: ComparedRun | None, rest: Sequence[ComparedRun]
) -> tuple[CorrectedDifferences, ...]:
    """What machine judges say, corrected; of all queries alone."""
    if baseline is None:
        return ()
    return get_corrected_differences(
        judgment_list=chosen.list,
        version=chosen.version,
        measure=chosen.asked.measure,
        baseline=baseline,
        others=rest,
        is_part=bool(chosen.segment or chosen.sets.chosen),
    )


def _difference(
    baseline: ComparedRun,
    run: ComparedRun,
    own: Comparison,
    p_corrected: float | None,
    found: NonInferiority,
) -> Difference:
    return Difference(
        **vars(own),
        run=run.shown,
        baseline=baseline.shown,
        p_corrected=p_corrected,
        difference=found.difference,
        ci=(found.low, found.high),
        verdict=found.verdict,
        mdd=found.mdd,
        needed=found.needed,
    )


def _check_verdict(filters: CompareFilters) -> None:
    try:
        check_verdict(margin=filters.margin, level=filters.level)
    except ValueError as error:
        raise FilterRefused("no_verdict", f"No verdict: {error}.") from None


def _test(name: str) -> Test:
    for test in TESTS:
        if test == name:
            return test
    raise FilterRefused("no_test", f"Unknown test {name[:60]}. Choose one of: {', '.join(TESTS)}.")


def _parted(
    compared: Sequence[ComparedRun], name: str
) -> tuple[ComparedRun | None, list[ComparedRun]]:
    """The baseline, by default the first run, and the others."""
    if not compared:
        return None, []
    wanted = pick_run([one.run for one in compared], name or compared[0].name)
    if wanted is None:
        message = f"The baseline {name[:60]} is not one of the compared runs."
        raise FilterRefused("no_baseline", message)
    return (
        next(one for one in compared if one.run == wanted),
        [one for one in compared if one.run != wanted],
    )


def _detail(
    access: Access,
    chosen: ChosenRuns,
    runs: tuple[ComparedRun, ComparedRun],
    paired: Differences,
    other: Difference,
    *,
    test: Test,
) -> Detail:
    order = np.argsort(-paired.values, kind="stable")
    drawn = paired.values[order]
    ends = order
    if len(order) > MOST_BARS:
        ends = np.concatenate([order[:LISTED], order[-LISTED:]])
        drawn = -np.quantile(-drawn, (np.arange(MOST_BARS) + 0.5) / MOST_BARS)
    points = _query_differences(access, paired, ends.tolist())
    first, second = runs
    return Detail(
        run=other.run.name,
        changes=get_ranking_changes(
            first=first.run,
            second=second.run,
            query_ids=paired.query_ids.tolist(),
            k=chosen.depth,
        ),
        segments=_segments(chosen, paired, test),
        intended=get_intended(chosen=chosen, baseline=first, other=second),
        other=other,
        drawn=tuple(drawn.tolist()),
        points=points,
        gains=tuple(one for one in points if one.difference > 0)[:LISTED],
        losses=tuple(one for one in reversed(points) if one.difference < 0)[:LISTED],
    )


def _segments(chosen: ChosenRuns, paired: Differences, test: Test) -> tuple[SegmentDifference, ...]:
    names = list_segments(list_id=chosen.list.pk, version=chosen.version)
    if not names:
        return ()
    members: dict[str, list[int]] = {name: [] for name in names}
    traits = get_query_traits(
        list_id=chosen.list.pk, version=chosen.version, query_ids=paired.query_ids.tolist()
    )
    for query_id, own in traits.items():
        if own.segment in members:
            members[own.segment].append(query_id)
    return tuple(
        SegmentDifference(
            name=name,
            first=float(part.first.mean()),
            second=float(part.second.mean()),
            n=own.n,
            mean=float(part.values.mean()),
            low=own.low,
            high=own.high,
            p_value=own.p_value,
        )
        for name, part, own in by_segment(paired, list(members.items()), test=test)
    )


def _query_differences(
    access: Access, paired: Differences, places: Sequence[int]
) -> tuple[QueryDifference, ...]:
    ids = [int(paired.query_ids[place]) for place in places]
    query_ids = list_query_ids(collection=access.collection, pks=ids)
    texts = dict(Query.objects.filter(pk__in=ids).values_list("pk", "text"))
    return tuple(
        QueryDifference(
            query_ids[pk], texts[pk], float(paired.first[place]), float(paired.second[place])
        )
        for pk, place in zip(ids, places, strict=True)
    )


def _pairs(compared: Sequence[ComparedRun]) -> tuple[RunPair, ...]:
    """All pairs, where there are more than one: over the queries that are in every mean."""
    if len(compared) < 3:
        return ()
    everywhere = np.logical_and.reduce([one.values.counted for one in compared])
    table = np.stack([one.values.values[everywhere] for one in compared], axis=1)
    if len(table) < FEWEST:
        return ()
    # its p-values are integrals: a second for twelve runs
    digest = hashlib.sha256(table.tobytes()).hexdigest()
    result = get_or_compute(
        f"tukey:1:{len(compared)}:{digest}", list[PairOfRankers], KEPT, lambda: tukey_hsd(table)
    )
    return tuple(
        RunPair(
            compared[own.first].name,
            compared[own.second].name,
            own.difference,
            own.low,
            own.high,
            own.p_value,
            (compared[own.first].shown, compared[own.second].shown),
        )
        for own in result
    )
