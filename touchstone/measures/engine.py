"""The engine: many measures of many rankings at once.

What it takes and how to get it:

(a) all queries of one run, at one version of a list

    levels = grades.levels(codes)                     # grade codes -> levels, once
    judgments = Judgments(documents, levels, lengths) # the version's, query after query
    ranked = unpack_ranked(documents, orders)         # touchstone.measures.packing
    rankings = judge_rankings(ranked.documents, ranked.lengths(), judgments,
                              n_grades=len(grades.codes), width=depth_needed(measures),
                              returned=counts_needed(measures))
    values = evaluate_batch(measures, rankings, grades)
    sums = exact_sums(values.values, values.counted)

    with one row per judged query: a query that the run does not answer has length 0, and gets 0.

(b) a few touched queries of many runs, under two versions

    The rows are (run, query) pairs: `queries` says which row of `judgments` each belongs to. Call
    it for the old version and for the new; reshape the values to (n_runs, n_touched, n_measures)
    and give them to `exact_sums`: (n_runs, n_measures, 6).

A row's values do not depend on the other rows, to the last bit: in (a) and in (b), alone and among
thousands, they are the same. `Values.counted` says per row and measure whether the query is in the
mean; it follows from the row alone as well.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from touchstone.measures.binary import BINARY, binary, judged_counts, judged_share
from touchstone.measures.browsing import err, rbp, rbp_residual, satisfactions
from touchstone.measures.counting import Proportion
from touchstone.measures.definition import Measure
from touchstone.measures.discounts import FloatArray
from touchstone.measures.errors import MeasureError, ZeroIdealError
from touchstone.measures.exact import LARGEST_VALUE
from touchstone.measures.grades import Grades
from touchstone.measures.ndcg import gains, ndcg
from touchstone.measures.preference import bpref, inferred_ap
from touchstone.measures.rankings import BoolArray, GradedRankings
from touchstone.measures.rounding import rounded_values
from touchstone.measures.views import ViewKey, seen, seen_grades, view_key

_CELLS: Final = 1 << 18  # of a matrix that is worked on at once: its columns stay in the cache


@dataclass(frozen=True)
class Values:
    """values: float64 (n_rankings, n_measures), 0 where not counted. counted: bool, likewise."""

    values: FloatArray
    counted: BoolArray


def depth_needed(measures: Sequence[Measure]) -> int | None:
    """How many ranks these measures read; None: the whole rankings."""
    depths = [_depth_needed(measure) for measure in measures]
    return None if None in depths else max((d for d in depths if d is not None), default=0)


def counts_needed(measures: Sequence[Measure]) -> bool:
    """Whether these measures ask what stands behind those ranks: how much of each grade."""
    return any(measure.ideal == "recall" and not measure.ideal_first for measure in measures)


def evaluate_batch(measures: Sequence[Measure], rankings: GradedRankings, grades: Grades) -> Values:
    """Every measure of every ranking.

    measures: of one `ordering`, because the rankings have one order.
    grades: the scale that the levels of the rankings are of.
    Raises ZeroIdealError for `empty='error'` (with the row), MeasureError for a gain table that
    lacks a grade, for measures that break ties differently, and for those that are no mean over
    queries; ValueError where rankings were cut shorter than the measures read.
    """
    _check(measures, rankings, grades)
    plan = _plan(tuple(measures), grades)
    # column by column, because that is how they are worked out and summed
    values = np.empty((len(measures), len(rankings))).T
    counted = np.empty((len(measures), len(rankings)), bool).T
    step = max(1, _CELLS // max(1, rankings.levels.shape[1]))
    for start in range(0, len(rankings), step):
        stop = min(start + step, len(rankings))
        part = rankings.rows(start, stop)
        try:
            _fill(plan, part, values[start:stop], counted[start:stop], grades)
        except ZeroIdealError as error:
            raise ZeroIdealError(error.measure, start + error.row) from None
    return Values(values, counted)


def count_together(measure: Measure, rankings: GradedRankings, grades: Grades) -> Proportion:
    """Judged or Unjudged with average='micro': the documents of the queries in the mean, counted.

    rankings, grades: as in `evaluate_batch`.
    """
    if measure.average != "micro":
        raise ValueError(f"{measure.name} is a mean over queries")
    chosen = _in_mean(measure.queries, rankings, grades)
    result, every = judged_counts(measure, rankings)
    return Proportion(result[chosen].sum().item(), int(every[chosen].sum()))


@dataclass(frozen=True)
class _Group:
    """Measures that are worked out together, and their columns in the result."""

    columns: tuple[int, ...]
    measures: tuple[Measure, ...]

    @property
    def first(self) -> Measure:
        return self.measures[0]


def _check(measures: Sequence[Measure], rankings: GradedRankings, grades: Grades) -> None:
    for measure in measures:
        if not measure.is_mean:
            raise MeasureError(f"{measure.name} is computed over a whole run, not per query")
        if measure.ordering != measures[0].ordering:
            raise MeasureError(
                f"{measure.name} and {measures[0].name} read a ranking in different orders"
            )
        if measure.ties == "averaged" and rankings.ties is None:
            raise MeasureError(f"{measure.name} needs the scores, to detect ties")
    if rankings.judged.shape[1] != len(grades.codes):
        raise ValueError("the counts per grade are not of this scale")
    depth = depth_needed(measures)
    wanted = rankings.longest if depth is None else min(depth, rankings.longest)
    if rankings.levels.shape[1] < wanted:
        raise ValueError(f"the rankings were cut, but {wanted} ranks are needed")
    is_cut = rankings.levels.shape[1] < rankings.longest
    if is_cut and rankings.returned is None and counts_needed(measures):
        raise ValueError("the rankings were cut, and what is behind was not counted")


def _depth_needed(measure: Measure) -> int | None:
    closes_up = measure.unjudged == "condensed" or measure.negatives == "removed"
    whole = measure.unjudged == "prior" or measure.ties == "averaged"
    whole = whole or measure.denominator == "returned_cutoff"
    if closes_up or whole or measure.arithmetic == "cumulative" or measure.cutoff is None:
        return None
    return max(measure.cutoff, measure.ideal_first or 0)


@lru_cache(maxsize=64)
def _plan(measures: tuple[Measure, ...], grades: Grades) -> tuple[_Group, ...]:
    """Measures with the same gains, discount and view of the ranking share their sums."""
    groups: dict[object, list[int]] = {}
    for column, measure in enumerate(measures):
        groups.setdefault(_shared(measure, grades), []).append(column)
    return tuple(_Group(tuple(c), tuple(measures[i] for i in c)) for c in groups.values())


def _shared(measure: Measure, grades: Grades) -> object:
    view = view_key(measure)
    own = seen_grades(measure, grades)
    if measure.family == "nDCG":
        width = measure.cutoff if measure.discount == "linear" else None
        discount = (measure.discount, measure.b, width, measure.arithmetic)
        at_ranks = measure.decimals if measure.rounded == "rank" else None
        return (*view, gains(measure, own).tobytes(), *discount, at_ranks)
    if measure.family in ("Judged", "Unjudged"):
        return "judged"
    if measure.family == "ERR":
        return ("ERR", *view, satisfactions(measure, own).tobytes())
    name = "binary" if _EVALUATORS[measure.family] is _binary_values else measure.family
    return (name, *view, measure.rel, measure.p)


def _fill(
    plan: Sequence[_Group],
    rankings: GradedRankings,
    values: FloatArray,
    counted: BoolArray,
    grades: Grades,
) -> None:
    """Works out one part of the rows, into views of the result."""
    views: dict[ViewKey, GradedRankings] = {}
    in_mean = {
        rule: _in_mean(rule, rankings, grades)
        for rule in {measure.queries for group in plan for measure in group.measures}
    }
    for group in plan:
        key = view_key(group.first)
        if key not in views:
            views[key] = seen(group.first, rankings, grades)
        own = seen_grades(group.first, grades)
        result, empty = _EVALUATORS[group.first.family](group.measures, own, views[key])
        if group.first.family != "nDCG":  # which rounds before it says what an empty ideal is worth
            result = _rounded(group.measures, result)
        for position, (column, measure) in enumerate(
            zip(group.columns, group.measures, strict=True)
        ):
            chosen = in_mean[measure.queries]
            if empty is not None and measure.empty == "skip":
                chosen = chosen & ~empty[:, position]
            counted[:, column] = chosen
            everybody = chosen.all()
            values[:, column] = (
                result[:, position] if everybody else np.where(chosen, result[:, position], 0.0)
            )


def _in_mean(queries: str, rankings: GradedRankings, grades: Grades) -> BoolArray:
    """Which rankings' queries are in the mean, by the rule of `Measure.queries`."""
    answered: BoolArray = rankings.lengths > 0
    if queries == "run":
        return answered
    if queries == "relevant":
        positive = grades.at_least(math.nextafter(0.0, 1.0))
        useful: BoolArray = np.any(rankings.judged[:, positive - 1 :] > 0, axis=1)
        return answered & useful
    judged: BoolArray = np.any(rankings.judged > 0, axis=1)
    if queries == "all":
        return judged | answered
    if queries == "several":
        return judged & (rankings.lengths > 1)
    return judged & answered if queries == "returned" else judged


_Found = tuple[FloatArray, BoolArray | None]


def _rounded(measures: Sequence[Measure], result: FloatArray) -> FloatArray:
    if all(measure.decimals is None for measure in measures):
        return result
    columns = [rounded_values(measure, result[:, i]) for i, measure in enumerate(measures)]
    return np.stack(columns, axis=1)


def _binary_values(measures: Sequence[Measure], grades: Grades, view: GradedRankings) -> _Found:
    threshold = grades.at_least(measures[0].rel)
    result = binary(measures, threshold, view)
    if all(measure.empty == 0.0 for measure in measures):
        return result, None
    none = view.judged[:, max(threshold, 1) - 1 :].sum(axis=1) == 0
    for column, measure in enumerate(measures):
        if measure.empty == "error" and none.any():
            raise ZeroIdealError(measure.name, int(none.argmax()))
        if not isinstance(measure.empty, str) and measure.empty:
            result[none & (view.lengths > 0), column] = measure.empty
    return result, np.repeat(none[:, None], len(measures), axis=1)


def _judged_values(measures: Sequence[Measure], grades: Grades, view: GradedRankings) -> _Found:
    return judged_share(measures, view), None


def _err_values(measures: Sequence[Measure], grades: Grades, view: GradedRankings) -> _Found:
    return err(measures, grades, view), None


def _rbp_values(measures: Sequence[Measure], grades: Grades, view: GradedRankings) -> _Found:
    return rbp(measures, grades.at_least(measures[0].rel), view), None


def _residuals(measures: Sequence[Measure], grades: Grades, view: GradedRankings) -> _Found:
    return rbp_residual(measures, view), None


def _returned(measures: Sequence[Measure], grades: Grades, view: GradedRankings) -> _Found:
    if view.longest >= LARGEST_VALUE:
        message = f"{measures[0].name} counts to {LARGEST_VALUE - 1:,.0f}, but a query of the run "
        raise MeasureError(f"{message}has {view.longest:,} documents")
    return np.repeat(view.lengths[:, None].astype(np.float64), len(measures), axis=1), None


def _bpref_values(measures: Sequence[Measure], grades: Grades, view: GradedRankings) -> _Found:
    values = bpref(grades.at_least(measures[0].rel), grades, view)
    return np.stack([values] * len(measures), axis=1), None


def _inferred_values(measures: Sequence[Measure], grades: Grades, view: GradedRankings) -> _Found:
    values = inferred_ap(grades.at_least(measures[0].rel), grades, view)
    return np.stack([values] * len(measures), axis=1), None


_EVALUATORS: Final[dict[str, Callable[[Sequence[Measure], Grades, GradedRankings], _Found]]] = {
    "nDCG": ndcg,
    **dict.fromkeys(("Judged", "Unjudged"), _judged_values),
    **dict.fromkeys(BINARY, _binary_values),
    "NumRet": _returned,
    "ERR": _err_values,
    "RBP": _rbp_values,
    "RBPResidual": _residuals,
    "Bpref": _bpref_values,
    "infAP": _inferred_values,
}
