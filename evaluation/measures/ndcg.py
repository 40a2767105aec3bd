"""nDCG in its many definitions, for many rankings at once.

Sums run in rank order by `np.cumsum`, one for all cutoffs, so that a row's bits depend on nothing
but the row. Ideal rows are made from counts per grade, without a sort, and then summed exactly as
the ranking is: a perfect ranking has the same terms in the same order, and so exactly 1.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from evaluation.measures.cumulative import cumulative_dcg
from evaluation.measures.definition import Measure
from evaluation.measures.discounts import FloatArray, divisors
from evaluation.measures.errors import MeasureError, ZeroIdealError
from evaluation.measures.grades import Grades
from evaluation.measures.rankings import BoolArray, GradedRankings, IntArray, averaged
from evaluation.measures.rounding import floored_quotients, floored_terms, rounded_values

CountArray = npt.NDArray[np.int64]
LARGEST_GAIN: Final = 1e100  # so that no sum of gains overflows
Number = TypeVar("Number", bound=np.number)


def gains(measure: Measure, grades: Grades) -> FloatArray:
    """The gain of every level, unjudged first. Raises MeasureError where a table lacks a grade."""
    own = [_gain(measure, value) for value in grades.values]
    out = np.array([0.0, *own], np.float64)
    if not (np.abs(out) <= LARGEST_GAIN).all():
        raise MeasureError(f"{measure.name}: the gain of grade {grades.values[-1]:g} is too large")
    return out


def ndcg(
    measures: Sequence[Measure], grades: Grades, rankings: GradedRankings
) -> tuple[FloatArray, BoolArray]:
    """The values of measures that differ in cutoff, ideal and what an empty ideal means.

    measures: nDCGs that share gain, negatives, unjudged, ties, discount, arithmetic and what is
        rounded at every rank.
    grades, rankings: as the measures see them (`views.seen`).
    Returns values and "its ideal gain is 0", both (n, n_measures).
    """
    level_gains = gains(measures[0], grades)
    gain_rows = ranked_gains(level_gains, rankings, reach(measures, rankings))
    own = cumulated(gain_rows, measures[0])
    ideals = Ideals(measures, level_gains, rankings)
    values = np.empty((len(rankings), len(measures)))
    empty = np.empty(values.shape, bool)
    for column, measure in enumerate(measures):
        ideal = ideals.dcg(measure)
        zero = ideal <= 0.0 if measure.negative_ideal == "empty" else ideal == 0.0
        if measure.empty == "error" and zero.any():
            raise ZeroIdealError(measure.name, int(zero.argmax()))
        value = _normalised(measure, own, gain_rows, np.where(zero, 0.0, ideal))
        if measure.arithmetic == "cumulative":
            value = _cumulative(measure, level_gains, rankings, ideals)
        value = rounded_values(measure, value)
        if measure.short == "zero":
            value[rankings.lengths < (measure.cutoff or 0)] = 0.0
        if measure.empty and not isinstance(measure.empty, str):
            value[zero & (rankings.lengths > 0)] = measure.empty
        values[:, column], empty[:, column] = value, zero
    return values, empty


def ranked_gains(level_gains: FloatArray, rankings: GradedRankings, width: int) -> FloatArray:
    """The gain at ranks 1..width; where ties are averaged, each tie's mean gain at its ranks."""
    if rankings.ties is None:
        return level_gains.take(rankings.levels[:, :width])
    return averaged(level_gains.take(rankings.levels), rankings.ties)[:, :width]


def cumulated(gain_rows: FloatArray, measure: Measure) -> FloatArray:
    """Discounted gains, summed from the first rank to each."""
    if measure.rounded == "rank":  # whole numbers of the last decimal add up exactly
        return np.cumsum(floored_terms(measure, gain_rows), axis=1) / 10.0 ** (
            measure.decimals or 0
        )
    return np.cumsum(discounted(gain_rows, measure), axis=1)


def discounted(gain_rows: FloatArray, measure: Measure) -> FloatArray:
    """What each rank contributes to the DCG."""
    if measure.rounded == "rank":
        return floored_terms(measure, gain_rows) / 10.0 ** (measure.decimals or 0)
    by_rank = divisors(measure, gain_rows.shape[1])
    return gain_rows / by_rank if measure.arithmetic == "divide" else gain_rows * (1.0 / by_rank)


def ideal_rows(counts: CountArray, level_gains: FloatArray, width: int) -> FloatArray:
    """Gains in the best order, (n, width), of counts[i, level] documents of each level.

    Built from where each level ends, the least gain first and overwritten by better ones.
    """
    best_first = np.argsort(-level_gains, kind="stable")
    if level_gains.min() >= 0:  # what gains nothing may stay away: rows begin as zeros
        best_first = best_first[: int((level_gains > 0).sum())]
    ends = np.cumsum(counts[:, best_first], axis=1)
    rows = np.zeros((len(counts), width))
    ranks = np.arange(width)
    for place in range(len(best_first) - 1, -1, -1):
        np.copyto(rows, level_gains[best_first[place]], where=ranks < ends[:, place, None])
    return rows


def at_rank(sums: npt.NDArray[Number], cutoff: int | None) -> npt.NDArray[Number]:
    """The column of cumulated sums at a cutoff, or at the end."""
    width = sums.shape[1]
    if width == 0:
        return np.zeros(len(sums), sums.dtype)
    return sums[:, (width if cutoff is None else min(cutoff, width)) - 1]


def reach(measures: Sequence[Measure], rankings: GradedRankings) -> int:
    """How many ranks these measures look at."""
    width: int = rankings.levels.shape[1]
    cutoffs = [measure.cutoff for measure in measures]
    return max(width if cutoff is None else min(cutoff, width) for cutoff in cutoffs)


def level_counts(rankings: GradedRankings, cutoff: int | None, n_levels: int) -> CountArray:
    """How many of the first `cutoff` documents of each ranking have each level, unjudged first."""
    levels = rankings.levels[:, :cutoff]
    out = np.empty((len(levels), n_levels), np.int64)
    for level in range(1, n_levels):
        out[:, level] = np.count_nonzero(levels == level, axis=1)
    shown = np.minimum(rankings.lengths, levels.shape[1])
    out[:, 0] = shown - out[:, 1:].sum(axis=1)
    return out


class Ideals:
    """The ideal rankings of one batch; what several measures need is made once.

    measures: as in `ndcg`. level_gains: as `gains` gives them.
    """

    def __init__(
        self, measures: Sequence[Measure], level_gains: FloatArray, rankings: GradedRankings
    ) -> None:
        self._measures = measures
        self._gains = level_gains
        self._rankings = rankings
        self._sums: dict[object, FloatArray] = {}

    def dcg(self, measure: Measure) -> FloatArray:
        """The ideal DCG of every ranking's query."""
        cutoff = measure.cutoff if measure.ideal == "local" else None
        key = (measure.ideal, measure.top, cutoff, measure.ideal_first)
        if key not in self._sums:
            self._sums[key] = cumulated(self.rows(measure), measure)
        return self._at_depth(measure, self._sums[key])

    def rows(self, measure: Measure) -> FloatArray:
        """Gains in the best order, as far as any of the measures with this ideal looks."""
        if measure.ideal == "max":
            return self._top_grades(measure)
        counts = self._counts(measure)
        return ideal_rows(counts, self._gains, self._depth(measure, counts))

    def whole_rows(self, measure: Measure) -> FloatArray:
        """Gains in the best order, as wide as the rankings."""
        counts = self._counts(measure)
        return ideal_rows(counts, self._gains, self._rankings.levels.shape[1])

    def _at_depth(self, measure: Measure, sums: FloatArray) -> FloatArray:
        lengths, cutoff = self._rankings.lengths, measure.cutoff
        if measure.ideal == "max" and cutoff is None:
            return _at_each(sums, lengths)
        if measure.ideal_depth == "returned":
            return _at_each(sums, lengths if cutoff is None else np.minimum(lengths, cutoff))
        return at_rank(sums, None if measure.ideal_depth == "all" else cutoff)

    def _counts(self, measure: Measure) -> CountArray:
        if measure.ideal == "global":
            judged = self._rankings.judged
            return np.concatenate((np.zeros((len(judged), 1), np.int64), judged), axis=1)
        shown = measure.cutoff if measure.ideal == "local" else measure.ideal_first
        return level_counts(self._rankings, shown, len(self._gains))

    def _depth(self, measure: Measure, counts: CountArray) -> int:
        alike = [other for other in self._measures if other.ideal == measure.ideal]
        longest = int(counts.sum(axis=1).max(initial=0))
        if any(other.cutoff is None or other.ideal_depth == "all" for other in alike):
            return longest
        return min(longest, max(other.cutoff or 0 for other in alike))

    def _top_grades(self, measure: Measure) -> FloatArray:
        best = float(self._gains.max()) if measure.top is None else _gain(measure, measure.top)
        alike = [other for other in self._measures if other.ideal == "max"]
        depth = max(other.cutoff or self._rankings.longest for other in alike)
        return np.full((len(self._rankings), depth), best)


def _normalised(
    measure: Measure, own: FloatArray, gain_rows: FloatArray, ideal: FloatArray
) -> FloatArray:
    """DCG by ideal DCG, in the measure's arithmetic; 0 where the ideal is 0."""
    out, some = np.zeros(len(ideal)), ideal != 0.0
    if measure.rounded == "rank":
        out[some] = floored_quotients(measure, at_rank(own, measure.cutoff)[some], ideal[some])
        return out
    if measure.arithmetic in ("divide", "multiply_divide"):
        return np.divide(at_rank(own, measure.cutoff), ideal, out=out, where=some)
    inverse = np.divide(1.0, ideal, out=out, where=some)
    if measure.arithmetic == "multiply":
        return at_rank(own, measure.cutoff) * inverse
    terms = discounted(gain_rows, measure) * inverse[:, None]
    return at_rank(np.cumsum(terms, axis=1), measure.cutoff).copy()


def _cumulative(
    measure: Measure, level_gains: FloatArray, rankings: GradedRankings, ideals: Ideals
) -> FloatArray:
    """Row by row, as scikit-learn sums; 0 where the ideal is 0."""
    gain_rows = level_gains.take(rankings.levels)
    ties = None if measure.ties != "averaged" else rankings.ties
    best = ideals.whole_rows(measure)
    out = np.zeros(len(rankings))
    for row, length in enumerate(rankings.lengths.tolist()):
        by_rank = divisors(measure, length)
        ideal = cumulative_dcg(best[row, :length], by_rank, measure.cutoff, None)
        if ideal:
            own = None if ties is None else ties[row, :length]
            out[row] = cumulative_dcg(gain_rows[row, :length], by_rank, measure.cutoff, own) / ideal
    return out


def _gain(measure: Measure, value: float) -> float:
    if measure.negatives != "raw" and value < 0:
        return 0.0
    if measure.gain == "linear":
        return value
    if measure.gain == "exp2":
        return 2.0**value - 1.0 if value < 1000 else np.inf
    table: Mapping[float, float] = dict(measure.gain)
    if value not in table:
        raise MeasureError(f"{measure.name}: the table of gains lacks grade {value:g}")
    return table[value]


def _at_each(sums: FloatArray, depths: IntArray) -> FloatArray:
    """The cumulated sum at each row's own depth; 0 at depth 0."""
    if sums.shape[1] == 0:
        return np.zeros(len(sums))
    last = np.minimum(depths, sums.shape[1]) - 1
    return np.where(last >= 0, sums[np.arange(len(sums)), last], 0.0)
