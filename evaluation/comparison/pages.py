"""The page that compares runs: how large the differences are, how sure, and where they lie."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

import numpy as np

from evaluation.comparison.measure_orders import MeasureOrders, get_measure_orders
from evaluation.comparison.ranking_changes import RankingChanges, get_ranking_changes
from evaluation.comparison.targeted_changes import Intended, get_intended
from evaluation.evaluations.measure_sets import get_test
from evaluation.evaluations.queries import FilterRefused, SetChoice
from evaluation.runs.selection import (
    ChosenRuns,
    ComparedRun,
    Differences,
    RunsFilters,
    by_segment,
    compare_with_baseline,
    differences_of,
    get_chosen_runs,
    pick_run,
    uneven_judging,
)
from evaluation.stability.reports import Stability, ask_order, get_stability
from judgments.collections.queries import list_query_ids
from judgments.collections.query_metadata import get_query_traits
from judgments.lists.queries import HEAD
from judgments.models import Query
from judgments.permissions import Access
from touchstone.measures.wording import describe
from touchstone.statistics.named_tests import TESTS, Test
from touchstone.statistics.paired import FEWEST, Comparison
from touchstone.statistics.tukey import PairOfRankers, tukey_hsd
from touchstone.statistics.verdicts import LEVEL, verdict

LISTED: Final = 10  # queries named at either end
MOST_BARS: Final = 400  # differences drawn one by one; beyond, the drawing shows quantiles


@dataclass(frozen=True)
class CompareFilters(RunsFilters):
    """With which of the runs is compared, which comparison is shown in full, and by which test.

    test: "" for the list's.
    """

    baseline: str = ""
    against: str = ""
    test: str = ""


@dataclass(frozen=True)
class OtherRun:
    """A run against the baseline. p_value: after Holm's correction for all runs of the page.

    warning: why the difference may be about judging instead of ranking; "" where there is none.
    """

    own: ComparedRun
    comparison: Comparison
    p_value: float | None
    words: str
    warning: str
    address: str

    @property
    def is_significant(self) -> bool:
        return self.p_value is not None and self.p_value <= LEVEL

    @property
    def p_words(self) -> str:
        return p_words(self.p_value)


@dataclass(frozen=True)
class QueryDifference:
    """A query on which two runs differ."""

    qid: str
    text: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        return self.second - self.first


@dataclass(frozen=True)
class SegmentRow:
    """The comparison within a segment."""

    name: str
    first: float
    second: float
    comparison: Comparison


@dataclass(frozen=True)
class TukeyRow:
    """Two runs out of all of them, with what Tukey's test says of the pair."""

    first: ComparedRun
    second: ComparedRun
    pair: PairOfRankers

    @property
    def is_significant(self) -> bool:
        return self.pair.p_value <= LEVEL

    @property
    def p_words(self) -> str:
        return p_words(self.pair.p_value)


@dataclass(frozen=True)
class Detail:
    """One run against the baseline, query by query.

    drawn: every difference, the largest gain first, or quantiles where there are too many.
    points: the queries themselves in that order; of too many, only those at the ends.
    gains, losses: the queries at the ends. intended: where the page is about a saved set.
    """

    other: OtherRun
    drawn: tuple[float, ...]
    points: tuple[QueryDifference, ...]
    gains: tuple[QueryDifference, ...]
    losses: tuple[QueryDifference, ...]
    segments: tuple[SegmentRow, ...]
    changes: RankingChanges | None
    intended: Intended | None

    @property
    def is_quantiles(self) -> bool:
        return len(self.drawn) < self.other.comparison.n

    @property
    def scatter_label(self) -> str:
        """The drawing of both values in words."""
        own = self.other.comparison
        return f"Both values of {len(self.points)} queries: {own.wins} lie above the diagonal"

    @property
    def chart_label(self) -> str:
        """The drawing in words."""
        own = self.other.comparison
        return f"Differences: {own.wins} queries gain, {own.losses} lose, {own.ties} are equal"


@dataclass(frozen=True)
class ComparePage:
    """baseline, detail: None where nothing can be compared.

    test: that p-values are of; list_test: the one that leads chose for the list.
    axis: what the intervals are drawn on, from −axis to +axis.
    """

    chosen: ChosenRuns
    filters: CompareFilters
    tests: Mapping[Test, str]
    test: Test
    list_test: Test
    baseline: ComparedRun | None
    others: tuple[OtherRun, ...]
    axis: float
    detail: Detail | None
    pairs: tuple[TukeyRow, ...]
    stability: Stability | None
    orders: MeasureOrders | None

    @property
    def sets(self) -> SetChoice:
        """The saved sets to choose from."""
        return self.chosen.sets

    @property
    def measure_name(self) -> str:
        """What the measure is called: a tool's name where it is the tool's definition."""
        return self.chosen.asked.canonical

    @property
    def description(self) -> str:
        """The measure in plain words."""
        return describe(self.chosen.asked.measure)

    @property
    def tests_used(self) -> str:
        """The test in words."""
        return self.tests[self.test]

    @property
    def is_list_test(self) -> bool:
        return self.test == self.list_test

    @property
    def list_test_words(self) -> str:
        """The list's own test in words."""
        return self.tests[self.list_test]

    @property
    def axis_low(self) -> float:
        return -self.axis

    @property
    def next_address(self) -> str:
        """The parameters of the page that says what to judge next for these runs."""
        runs = [("runs", one.name) for one in (self.baseline, *(o.own for o in self.others)) if one]
        segment = [("segment", self.filters.segment)] if self.filters.segment else []
        return urlencode([*runs, ("measure", self.measure_name), *segment])

    @property
    def moved_address(self) -> str:
        """The parameters of the page of what moved between the baseline and the run in detail."""
        return self._address((self.baseline, self.detail.other.own) if self.detail else ())

    @property
    def without_address(self) -> str:
        """The parameters of the page of the same runs without each annotator."""
        return self._address((self.baseline, *(one.own for one in self.others)))

    def _address(self, own: Sequence[ComparedRun | None]) -> str:
        more = {
            "measure": self.measure_name,
            "version": "" if self.chosen.is_head else str(self.chosen.version),
            "segment": self.filters.segment,
            "set": self.sets.slug,
        }
        runs = [("runs", one.name) for one in own if one]
        return urlencode([*runs, *((name, value) for name, value in more.items() if value)])

    @property
    def explain_address(self) -> str:
        """The parameters of the page that explains one of these values."""
        chosen = self.chosen
        return urlencode(
            {"list": chosen.list.slug, "version": chosen.version, "measure": self.measure_name}
        )


def p_words(p_value: float | None) -> str:
    """A p-value as far as resampling knows it: small ones only as small."""
    if p_value is None:
        return "–"
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def get_compare_page(*, access: Access, slug: str, filters: CompareFilters) -> ComparePage:
    """Runs compared as an address asks for it.

    Raises MeasureError or FilterRefused for what can't be asked for, NotFound for a version.
    """
    chosen = get_chosen_runs(access=access, slug=slug, filters=filters)
    list_test = _test(get_test(judgment_list=chosen.list))
    test = _test(filters.test) if filters.test else list_test
    baseline, rest = _parted(chosen.compared, filters.baseline)
    others = _others(baseline, rest, filters, test) if baseline else ()
    detail = None
    if baseline and others:
        chosen_run = pick_run([one.own.run for one in others], filters.against)
        against = next((one for one in others if one.own.run == chosen_run), others[0])
        detail = _detail(access, chosen, baseline, against, test=test, segment=filters.segment)
    return ComparePage(
        chosen=chosen,
        filters=filters,
        tests=TESTS,
        test=test,
        list_test=list_test,
        baseline=baseline,
        others=others,
        axis=_axis(others),
        detail=detail,
        pairs=_pairs(chosen.compared),
        stability=_stability(chosen, filters),
        orders=get_measure_orders(
            judgment_list=chosen.list, version=chosen.version, asked=chosen.asked
        ),
    )


def address_of(filters: CompareFilters, **changes: str) -> str:
    """The parameters of the page that shows the same with some of it changed."""
    asked = {
        "baseline": filters.baseline,
        "against": filters.against,
        "measure": filters.measure,
        "version": "" if filters.version == HEAD else filters.version,
        "segment": filters.segment,
        "set": filters.set,
        "test": filters.test,
    } | changes
    runs = [("runs", name) for name in filters.runs]
    return urlencode([*runs, *((name, value) for name, value in asked.items() if value)])


def _stability(chosen: ChosenRuns, filters: CompareFilters) -> Stability | None:
    """None for fewer than two runs."""
    if len(chosen.compared) < 2:
        return None
    asked = ask_order(
        judgment_list=chosen.list,
        version=chosen.version,
        asked=chosen.asked,
        runs=[one.run for one in chosen.compared],
        segment=filters.segment,
        saved_set=chosen.sets.chosen,
    )
    return get_stability(asked=asked, named=[one.name for one in chosen.compared])


def _test(name: str) -> Test:
    for test in TESTS:
        if test == name:
            return test
    raise FilterRefused("no_test", f"There is no test called {name[:60]}: {', '.join(TESTS)}.")


def _parted(
    compared: Sequence[ComparedRun], name: str
) -> tuple[ComparedRun | None, list[ComparedRun]]:
    """The baseline, by default the first run, and the others."""
    if not compared:
        return None, []
    wanted = pick_run([one.run for one in compared], name or compared[0].name)
    if wanted is None:
        message = f"The baseline {name[:60]} is not one of the runs compared."
        raise FilterRefused("no_baseline", message)
    return (
        next(one for one in compared if one.run == wanted),
        [one for one in compared if one.run != wanted],
    )


def _others(
    baseline: ComparedRun, rest: Sequence[ComparedRun], filters: CompareFilters, test: Test
) -> tuple[OtherRun, ...]:
    found = compare_with_baseline([differences_of(baseline, one) for one in rest], test=test)
    return tuple(
        OtherRun(
            own=one,
            comparison=comparison,
            p_value=p_value,
            words=verdict(comparison, p_value=p_value, baseline=baseline.label, other=one.label),
            warning=uneven_judging(baseline, one),
            address=address_of(filters, against=one.name),
        )
        for one, (comparison, p_value) in zip(rest, found, strict=True)
    )


def _detail(
    access: Access,
    chosen: ChosenRuns,
    baseline: ComparedRun,
    other: OtherRun,
    *,
    test: Test,
    segment: str,
) -> Detail:
    found = differences_of(baseline, other.own)
    ranked = np.argsort(-found.values, kind="stable")
    values = found.values[ranked]
    few = len(ranked) <= MOST_BARS
    ends = list(ranked) if few else [*ranked[:LISTED], *ranked[-LISTED:]]
    named = _named(access, found, [int(place) for place in ends])
    drawn = values
    if not few:
        drawn = -np.quantile(-values, (np.arange(MOST_BARS) + 0.5) / MOST_BARS)
    return Detail(
        other=other,
        drawn=tuple(drawn.tolist()),
        points=tuple(named),
        gains=tuple(one for one in named if one.difference > 0)[:LISTED],
        losses=tuple(one for one in reversed(named) if one.difference < 0)[:LISTED],
        segments=_segments(chosen, found, test),
        changes=get_ranking_changes(
            first=baseline.run,
            second=other.own.run,
            query_ids=found.query_ids.tolist(),
            k=chosen.depth,
        ),
        intended=get_intended(
            chosen=chosen, baseline=baseline, other=other.own, segment=segment, k=chosen.depth
        ),
    )


def _segments(chosen: ChosenRuns, found: Differences, test: Test) -> tuple[SegmentRow, ...]:
    members: dict[str, list[int]] = {name: [] for name in chosen.segments}
    traits = get_query_traits(
        list_id=chosen.list.pk, version=chosen.version, query_ids=found.query_ids.tolist()
    )
    for query_id, own in traits.items():
        if own.segment in members:
            members[own.segment].append(query_id)
    return tuple(
        SegmentRow(name, float(part.first.mean()), float(part.second.mean()), comparison)
        for name, part, comparison in by_segment(found, list(members.items()), test=test)
    )


def _named(access: Access, found: Differences, places: Sequence[int]) -> list[QueryDifference]:
    ids = [int(found.query_ids[place]) for place in places]
    qids = list_query_ids(collection=access.collection, pks=ids)
    texts = dict(Query.objects.filter(pk__in=ids).values_list("pk", "text"))
    return [
        QueryDifference(qids[pk], texts[pk], float(found.first[place]), float(found.second[place]))
        for pk, place in zip(ids, places, strict=True)
    ]


def _axis(others: Sequence[OtherRun]) -> float:
    edges = [
        abs(edge)
        for one in others
        for edge in (one.comparison.low, one.comparison.high)
        if edge is not None
    ]
    return max(edges, default=0.0) or 1.0


def _pairs(compared: Sequence[ComparedRun]) -> tuple[TukeyRow, ...]:
    """All pairs, where there are more than one: over the queries that are in every mean."""
    if len(compared) < 3:
        return ()
    everywhere = np.logical_and.reduce([one.values.counted for one in compared])
    table = np.stack([one.values.values[everywhere] for one in compared], axis=1)
    if len(table) < FEWEST:
        return ()
    return tuple(
        TukeyRow(compared[pair.first], compared[pair.second], pair) for pair in tukey_hsd(table)
    )
