"""nDCG in its many definitions, for many rankings at once.

Sums run in rank order, one for all cutoffs, so that a row's bits depend on nothing but the row.
Ideal rows are made from counts per grade, without a sort, and then summed exactly as the ranking
is: a perfect ranking has the same terms in the same order, and so exactly 1. Queries with the same
counts, as far as they are looked at, have the same ideal, which is summed once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from touchstone.measures.counting import (
    CountArray,
    count_levels,
    counts_at,
    lies_by_rank,
    running_sums,
)
from touchstone.measures.cumulative import cumulative_dcg
from touchstone.measures.definition import Measure
from touchstone.measures.discounts import FloatArray, divisors
from touchstone.measures.errors import MeasureError, ZeroIdealError
from touchstone.measures.grades import Grades
from touchstone.measures.rankings import BoolArray, GradedRankings, IntArray, averaged
from touchstone.measures.rounding import floored_quotients, floored_terms, rounded_values

LARGEST_GAIN: Final = 1e100  # so that no sum of gains overflows
Number = TypeVar("Number", bound=np.number)
Scalar = TypeVar("Scalar", bound=np.generic)

_NUMBERED: Final = 256  # times as many numbers for ideal rankings as there are rankings, at most


def gains(measure: Measure, grades: Grades) -> FloatArray:
    """The gain of every level, unjudged first. Raises MeasureError where a table lacks a grade."""
    own = [_gain(measure, value) for value in grades.values]
    out = np.array([0.0, *own], np.float64)
    if not (np.abs(out) <= LARGEST_GAIN).all():
        raise MeasureError(f"{measure.name}: the gain of grade {grades.values[-1]:g} is too large")
    return out


def ndcg(
    measures: Sequence[Measure], grades: Grades, rankings: GradedRankings
) -> tuple[FloatArray, BoolArray | None]:
    """The values of measures that differ in cutoff, ideal and what an empty ideal means.

    measures: nDCGs that share gain, negatives, unjudged, ties, discount, arithmetic and what is
        rounded at every rank.
    grades, rankings: as the measures see them (`views.seen`).
    Returns values and "its ideal gain is 0", both (n, n_measures); the latter None where no
    measure asks.
    """
    level_gains = gains(measures[0], grades)
    own = dcgs(measures, level_gains, rankings)
    ideals = Ideals(measures, level_gains, rankings)
    values = np.empty((len(measures), len(rankings)))
    asked = any(measure.empty != 0.0 for measure in measures)
    empty = np.empty(values.shape, bool) if asked else None
    for position, measure in enumerate(measures):
        ideal = ideals.dcg(measure)
        if measure.negative_ideal == "empty":
            ideal = replace(ideal, sums=np.where(ideal.sums <= 0.0, 0.0, ideal.sums))
        if measure.arithmetic == "cumulative":
            values[position] = _cumulative(measure, level_gains, rankings, ideals)
        elif measure.arithmetic == "multiply_each":
            values[position] = _term_by_term(measure, level_gains, rankings, ideal)
        else:
            _normalised(measure, own[measure.cutoff], ideal, values[position])
        values[position] = rounded_values(measure, values[position])
        if measure.short == "zero":
            values[position][rankings.lengths < (measure.cutoff or 0)] = 0.0
        if empty is not None:
            _note_empty(measure, ideal, rankings, values[position], empty[position])
    return values.T, None if empty is None else empty.T


def dcgs(
    measures: Sequence[Measure], level_gains: FloatArray, rankings: GradedRankings
) -> dict[int | None, FloatArray]:
    """The DCG of every ranking at the cutoff of each measure; measures as in `ndcg`."""
    width = reach(measures, rankings)
    cutoffs = {measure.cutoff for measure in measures}
    one = measures[0]
    if rankings.ties is not None or one.rounded == "rank" or not lies_by_rank(rankings.levels):
        sums = cumulated(ranked_gains(level_gains, rankings, width), one)
        return {cutoff: at_rank(sums, cutoff) for cutoff in cutoffs}
    terms = discounted(np.repeat(level_gains[:, None], width, axis=1), one).T.copy()
    by_depth = {min(cutoff or width, width): np.zeros(len(rankings)) for cutoff in cutoffs}
    total = np.zeros(len(rankings))
    for rank in range(width):
        term = terms[rank].take(rankings.levels[:, rank])
        total = term if rank == 0 else np.add(total, term, out=total)
        if rank + 1 in by_depth:
            by_depth[rank + 1] = total.copy()
    return {cutoff: by_depth[min(cutoff or width, width)] for cutoff in cutoffs}


def ranked_gains(level_gains: FloatArray, rankings: GradedRankings, width: int) -> FloatArray:
    """The gain at ranks 1..width; where ties are averaged, each tie's mean gain at its ranks."""
    if rankings.ties is None:
        return level_gains.take(rankings.levels[:, :width])
    return averaged(level_gains.take(rankings.levels), rankings.ties)[:, :width]


def cumulated(gain_rows: FloatArray, measure: Measure) -> FloatArray:
    """Discounted gains, summed from the first rank to each."""
    if measure.rounded == "rank":  # whole numbers of the last decimal add up exactly
        return running_sums(floored_terms(measure, gain_rows)) / 10.0 ** (measure.decimals or 0)
    return running_sums(discounted(gain_rows, measure))


def discounted(gain_rows: FloatArray, measure: Measure) -> FloatArray:
    """What each rank contributes to the DCG."""
    if measure.rounded == "rank":
        return floored_terms(measure, gain_rows) / 10.0 ** (measure.decimals or 0)
    by_rank = divisors(measure, gain_rows.shape[1])
    return gain_rows / by_rank if measure.arithmetic == "divide" else gain_rows * (1.0 / by_rank)


def level_ends(counts: CountArray, level_gains: FloatArray) -> tuple[FloatArray, CountArray]:
    """Where each gain ends in the best order of counts[i, level] documents of each level.

    Returns the gains, best first, and the rank behind which each is over, (n_gains, n). What gains
    nothing may stay away, unless there is something worse.
    """
    best_first = np.argsort(-level_gains, kind="stable")
    if level_gains.min() >= 0:
        best_first = best_first[: int((level_gains > 0).sum())]
    ends = np.empty((len(best_first), len(counts)), counts.dtype)
    before = np.zeros(len(counts), counts.dtype)
    for position, level in enumerate(best_first.tolist()):
        before = np.add(before, counts[:, level], out=ends[position])
    return level_gains[best_first], ends


def ideal_rows(ordered: FloatArray, ends: CountArray, width: int) -> FloatArray:
    """Gains in the best order, (n, width). ordered, ends: as `level_ends` gives them.

    The least gain first, and overwritten by better ones.
    """
    rows = np.zeros((ends.shape[1], width))
    ranks = np.arange(width)
    for gain, end in zip(ordered[::-1], ends[::-1], strict=True):
        np.copyto(rows, gain, where=ranks < end[:, None])
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
    if cutoff is None and rankings.returned is not None:
        counts, shown = rankings.returned, rankings.lengths
    else:
        levels = rankings.levels[:, :cutoff]
        counts, shown = (
            count_levels(levels, n_levels - 1),
            np.minimum(rankings.lengths, levels.shape[1]),
        )
    return _with_unjudged(counts, shown)


def _with_unjudged(counts: IntArray, shown: IntArray | None) -> CountArray:
    """Counts by level, unjudged first: what is missing of all that are shown."""
    out = np.empty((counts.shape[1] + 1, len(counts)), np.int32)
    out[1:] = counts.T
    out[0] = 0 if shown is None else shown - out[1:].sum(axis=0)
    return out.T


@dataclass(frozen=True, slots=True, eq=False)
class IdealSums:
    """Ideal DCGs: many queries have the same. sums: the different ones. which: each row's; None
    where every row has its own."""

    sums: FloatArray
    which: IntArray | None

    @property
    def by_row(self) -> FloatArray:
        """The ideal DCG of every row."""
        return self.of_rows(self.sums)

    def of_rows(self, by_sum: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
        """What belongs to each ideal DCG, for every row."""
        return by_sum if self.which is None else by_sum.take(self.which)


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
        self._sums: dict[object, tuple[FloatArray, IntArray | None]] = {}

    def dcg(self, measure: Measure) -> IdealSums:
        """The ideal DCG of every ranking's query."""
        cutoff = measure.cutoff if measure.ideal == "local" else None
        key = (measure.ideal, measure.top, cutoff, measure.ideal_first)
        if key not in self._sums:
            self._sums[key] = self._summed(measure)
        return self._at_depth(measure, *self._sums[key])

    def rows(self, measure: Measure) -> FloatArray:
        """Gains in the best order, as far as any of the measures with this ideal looks."""
        if measure.ideal == "max":
            return self._top_grades(measure, len(self._rankings))
        counts = self._counts(measure)
        return ideal_rows(*level_ends(counts, self._gains), self._depth(measure, counts))

    def whole_rows(self, measure: Measure) -> FloatArray:
        """Gains in the best order, as wide as the rankings."""
        ordered, ends = level_ends(self._counts(measure), self._gains)
        return ideal_rows(ordered, ends, self._rankings.levels.shape[1])

    def _summed(self, measure: Measure) -> tuple[FloatArray, IntArray | None]:
        """The different ideal rankings' DCG at every rank, and which of them each row has."""
        if measure.ideal == "max":
            everywhere = np.zeros(len(self._rankings), np.intp)
            return cumulated(self._top_grades(measure, 1), measure), everywhere
        counts = self._counts(measure)
        depth = self._depth(measure, counts)
        ordered, ends = level_ends(counts, self._gains)
        different, which = _different(np.minimum(ends, depth, out=ends), depth)
        return cumulated(ideal_rows(ordered, different, depth), measure), which

    def _at_depth(self, measure: Measure, sums: FloatArray, which: IntArray | None) -> IdealSums:
        lengths, cutoff = self._rankings.lengths, measure.cutoff
        if measure.ideal == "max" and cutoff is None:
            return IdealSums(_at_each(sums, which, lengths), None)
        if measure.ideal_depth == "returned":
            shown = lengths if cutoff is None else np.minimum(lengths, cutoff)
            return IdealSums(_at_each(sums, which, shown), None)
        return IdealSums(at_rank(sums, None if measure.ideal_depth == "all" else cutoff), which)

    def _counts(self, measure: Measure) -> CountArray:
        rankings = self._rankings
        if measure.ideal == "global":
            return _with_unjudged(rankings.judged, None)
        if measure.ideal == "local":
            return self._shown[measure.cutoff]
        return level_counts(rankings, measure.ideal_first, len(self._gains))

    @cached_property
    def _shown(self) -> dict[int | None, CountArray]:
        """The levels of the first documents, counted at the cutoff of every local ideal."""
        levels, lengths = self._rankings.levels, self._rankings.lengths
        width = levels.shape[1]
        cutoffs = {
            one.cutoff: one.cutoff or width for one in self._measures if one.ideal == "local"
        }
        depths = tuple(sorted(set(cutoffs.values())))
        counts = dict(zip(depths, counts_at(levels, depths, len(self._gains) - 1), strict=True))
        return {
            cutoff: _with_unjudged(counts[depth], np.minimum(lengths, min(depth, width)))
            for cutoff, depth in cutoffs.items()
        }

    def _depth(self, measure: Measure, counts: CountArray) -> int:
        longest = int(counts.sum(axis=1).max(initial=0))
        if measure.ideal == "local":
            return min(longest, measure.cutoff or longest)
        alike = [other for other in self._measures if other.ideal == measure.ideal]
        if any(other.cutoff is None or other.ideal_depth == "all" for other in alike):
            return longest
        return min(longest, max(other.cutoff or 0 for other in alike))

    def _top_grades(self, measure: Measure, n_rows: int) -> FloatArray:
        best = float(self._gains.max()) if measure.top is None else _gain(measure, measure.top)
        alike = [other for other in self._measures if other.ideal == "max"]
        depth = max(other.cutoff or self._rankings.longest for other in alike)
        return np.full((n_rows, depth), best)


def _different(ends: CountArray, depth: int) -> tuple[CountArray, IntArray | None]:
    """The different columns of a matrix, and which of them each column is; None: its own.

    ends: (n_gains, n), none above depth. Columns are numbered, as digits of one number.
    """
    room = (depth + 1) ** len(ends)
    if not len(ends) or room > _NUMBERED * ends.shape[1]:
        return ends, None
    numbers = np.zeros(ends.shape[1], np.intp)
    for row in ends:
        numbers *= depth + 1
        numbers += row
    there = np.zeros(room, bool)
    there[numbers] = True
    result = np.flatnonzero(there)
    positions = np.empty(room, np.intp)
    positions[result] = np.arange(len(result))
    digits = [result // (depth + 1) ** position % (depth + 1) for position in range(len(ends))]
    return np.array(digits[::-1], ends.dtype), positions.take(numbers)


def _normalised(measure: Measure, own: FloatArray, ideal: IdealSums, out: FloatArray) -> None:
    """DCG by ideal DCG, in the measure's arithmetic; 0 where the ideal is 0."""
    if measure.rounded == "rank":
        by_row = ideal.by_row
        some = by_row != 0.0
        out[:] = 0.0
        out[some] = floored_quotients(measure, own[some], by_row[some])
        return
    none = ideal.sums == 0.0
    if measure.arithmetic == "multiply":
        inverse = 1.0 / np.where(none, np.inf, ideal.sums)
        np.multiply(own, ideal.of_rows(inverse), out=out)
    else:
        np.divide(own, ideal.of_rows(np.where(none, np.inf, ideal.sums)), out=out)
    if none.any() and own.min() < 0:
        out[ideal.of_rows(none)] = 0.0  # and not -0


def _term_by_term(
    measure: Measure, level_gains: FloatArray, rankings: GradedRankings, ideal: IdealSums
) -> FloatArray:
    """Every term by the ideal DCG before they are summed; 0 where the ideal is 0."""
    width = reach([measure], rankings)
    inverse = 1.0 / np.where(ideal.sums == 0.0, np.inf, ideal.sums)
    terms = discounted(ranked_gains(level_gains, rankings, width), measure)
    sums = running_sums(terms * ideal.of_rows(inverse)[:, None])
    return at_rank(sums, measure.cutoff).copy()


def _note_empty(
    measure: Measure,
    ideal: IdealSums,
    rankings: GradedRankings,
    values: FloatArray,
    empty: BoolArray,
) -> None:
    """What becomes of the rows without an ideal, noted in values and in empty."""
    empty[:] = ideal.of_rows(ideal.sums == 0.0)
    if measure.empty == "error" and empty.any():
        raise ZeroIdealError(measure.name, int(empty.argmax()))
    if measure.empty and not isinstance(measure.empty, str):
        values[empty & (rankings.lengths > 0)] = measure.empty


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
        raise MeasureError(f"{measure.name}: the table of gains has no grade {value:g}")
    return table[value]


def _at_each(sums: FloatArray, which: IntArray | None, depths: IntArray) -> FloatArray:
    """The cumulated sum at each row's own depth; 0 at depth 0."""
    if sums.shape[1] == 0:
        return np.zeros(len(depths))
    last = np.minimum(depths, sums.shape[1]) - 1
    rows = np.arange(len(depths)) if which is None else which
    return np.where(last >= 0, sums[rows, last], 0.0)
