"""nDCG of so many rankings that compiled loops are worth it; of others, as `ndcg` says.

The loops take the plain cases: gains of 0 and more, cutoffs, and so few different ideal rankings
that the DCGs of all of them lie in one table. A ranking's place in that table is a number that
grows with each of its documents, so that no ideal ranking is ever laid out twice.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import comb
from typing import Final

import numpy as np

from evaluation.compiled import loops_after
from evaluation.measures import ndcg as arrays
from evaluation.measures.counting import count_levels
from evaluation.measures.definition import Measure
from evaluation.measures.discounts import FloatArray
from evaluation.measures.grades import Grades
from evaluation.measures.rankings import BoolArray, GradedRankings, IntArray

SOURCES: Final = {"global": 0, "recall": 1, "local": 2, "max": 3}
_NUMBERS: Final = 1 << 18  # of a table of ideal rankings, at most
_CELLS: Final = 1 << 22  # of their ranks, at most


def ndcg(
    measures: Sequence[Measure], grades: Grades, rankings: GradedRankings
) -> tuple[FloatArray, BoolArray | None]:
    """`evaluation.measures.ndcg.ndcg`, to the last bit."""
    found = quick_ndcg(measures, grades, rankings)
    return arrays.ndcg(measures, grades, rankings) if found is None else (found, None)


def quick_ndcg(
    measures: Sequence[Measure], grades: Grades, rankings: GradedRankings
) -> FloatArray | None:
    """The values by a compiled loop; None where there is none, or the measures are not plain."""
    level_gains = arrays.gains(measures[0], grades)
    if not _is_plain(measures, level_gains, rankings):
        return None
    if (loops := loops_after(rankings.levels.size)) is None:
        return None
    cutoffs = tuple(sorted({measure.cutoff or 0 for measure in measures}))
    width, deepest = rankings.levels.shape[1], cutoffs[-1]
    stops = np.minimum(cutoffs, width)
    ideals, best_first, powers = _ideals(measures[0], level_gains.tobytes(), cutoffs)
    tops = np.full(len(cutoffs), np.inf)
    of_tops = arrays.Ideals(measures, level_gains, rankings)
    for measure in measures:
        if measure.ideal == "max":
            tops[cutoffs.index(measure.cutoff or 0)] = of_tops.dcg(measure).sums[0]
    tops[tops == 0.0] = np.inf
    is_multiplied = measures[0].arithmetic == "multiply"
    values = np.empty((len(measures), len(rankings)))
    gain_rows = np.repeat(level_gains[:, None], int(stops[-1]), axis=1)
    loops.normalise(
        np.ascontiguousarray(rankings.levels.T[: stops[-1]]),
        _by_level(rankings.judged),
        _by_level(_returned(measures, rankings, deepest)),
        np.ascontiguousarray(arrays.discounted(gain_rows, measures[0]).T),
        best_first,
        powers,
        stops,
        deepest,
        ideals,
        1.0 / tops if is_multiplied else tops,
        np.array([SOURCES[measure.ideal] for measure in measures]),
        np.array([cutoffs.index(measure.cutoff or 0) for measure in measures]),
        is_multiplied,
        values,
    )
    return values.T


def _is_plain(
    measures: Sequence[Measure], level_gains: FloatArray, rankings: GradedRankings
) -> bool:
    """Whether the loops take these."""
    if rankings.ties is not None or not rankings.levels.size or level_gains.min() < 0:
        return False
    if measures[0].arithmetic in ("multiply_each", "cumulative"):
        return False
    deepest, n_gains = max(m.cutoff or 0 for m in measures), int((level_gains > 0).sum())
    if (deepest + 1) ** n_gains > _NUMBERS or comb(deepest + n_gains, n_gains) * deepest > _CELLS:
        return False
    return n_gains > 0 and all(
        measure.cutoff is not None
        and measure.ideal_depth == "k"
        and measure.ideal_first is None
        and measure.empty == 0.0
        and measure.decimals is None
        and measure.short == "as_is"
        for measure in measures
    )


def _returned(measures: Sequence[Measure], rankings: GradedRankings, deepest: int) -> IntArray:
    """How many documents of each ranking have each level, where its first ranks don't tell."""
    asked = any(measure.ideal == "recall" for measure in measures)
    if asked and rankings.returned is not None:
        return rankings.returned
    if asked and rankings.levels.shape[1] > deepest:
        return count_levels(rankings.levels, rankings.judged.shape[1])
    return np.empty((len(rankings), 0), np.int32)


def _by_level(counts: IntArray) -> IntArray:
    return np.ascontiguousarray(counts.T, np.int32)


@lru_cache(maxsize=16)
def _ideals(
    measure: Measure, level_gains: bytes, cutoffs: tuple[int, ...]
) -> tuple[FloatArray, IntArray, IntArray]:
    """The ideal DCG at every cutoff, by the number of an ideal ranking; infinite where it is 0.

    They are inverses where the measure multiplies. Returns with them the levels that gain
    something, best first, and what a document of each level adds to the number.
    """
    gains = np.frombuffer(level_gains)
    deepest, best_first = cutoffs[-1], np.argsort(-gains, kind="stable")
    best_first = best_first[: int((gains > 0).sum())]
    powers = np.zeros(len(gains), np.uint64)
    powers[best_first] = (deepest + 1) ** np.arange(len(best_first))
    numbers = np.arange((deepest + 1) ** len(best_first))
    counts = np.zeros((len(numbers), len(gains)), np.int32)
    for level in best_first.tolist():
        counts[:, level] = numbers // int(powers[level]) % (deepest + 1)
    there = np.flatnonzero(counts.sum(axis=1) <= deepest)
    rows = arrays.ideal_rows(*arrays.level_ends(counts[there], gains), deepest)
    sums = arrays.cumulated(rows, measure)[:, np.array(cutoffs) - 1]
    out = np.full((len(numbers), len(cutoffs)), np.inf)
    out[there] = np.where(sums == 0.0, np.inf, sums)
    return 1.0 / out if measure.arithmetic == "multiply" else out, best_first, powers
