"""Measures of a person who reads down the list and may stop: ERR and RBP, with RBP's residual.

What each rank contributes is an array of its own, so that values and explanations come of one.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from touchstone.measures.counting import running_sums
from touchstone.measures.definition import Measure
from touchstone.measures.discounts import FloatArray
from touchstone.measures.errors import MeasureError
from touchstone.measures.grades import Grades
from touchstone.measures.ndcg import at_rank, reach
from touchstone.measures.rankings import GradedRankings, shown


def err(measures: Sequence[Measure], grades: Grades, rankings: GradedRankings) -> FloatArray:
    """The values, (n, n_measures), of ERRs with one top grade.

    grades, rankings: as the measures see them.
    """
    satisfied = satisfactions(measures[0], grades)
    sums = running_sums(err_terms(satisfied, rankings, reach(measures, rankings)))
    return np.stack([at_rank(sums, measure.cutoff) for measure in measures], axis=1)


def satisfactions(measure: Measure, grades: Grades) -> FloatArray:
    """How probably a document of each level, unjudged first, ends the search.

    Raises MeasureError for a grade above the top.
    """
    top = grades.values[-1] if measure.top is None else measure.top
    if grades.values[-1] > top:
        raise MeasureError(f"{measure.name}: grade {grades.values[-1]:g} is above top={top:g}")
    if top > 1000:
        raise MeasureError(f"{measure.name}: the top grade {top:g} is too large")
    whole = 2.0 ** max(top, 0.0)
    own = [(2.0 ** max(value, 0.0) - 1.0) / whole for value in grades.values]
    return np.array([0.0, *own], np.float64)


def err_terms(satisfied: FloatArray, rankings: GradedRankings, width: int) -> FloatArray:
    """What ranks 1..width add to ERR, in gdeval's arithmetic."""
    stops = satisfied.take(rankings.levels[:, :width])
    goes_on = np.ones_like(stops)
    np.cumprod(1.0 - stops[:, :-1], axis=1, out=goes_on[:, 1:])
    return stops * goes_on / np.arange(1, width + 1)


def rbp(measures: Sequence[Measure], threshold: int, rankings: GradedRankings) -> FloatArray:
    """The values of RBPs with one persistence and one threshold, the lowest relevant level."""
    width = reach(measures, rankings)
    relevant = rankings.levels[:, :width] >= max(threshold, 1)
    sums = running_sums(relevant * weights(measures[0].p, width))
    return np.stack([at_rank(sums, measure.cutoff) for measure in measures], axis=1)


def rbp_residual(measures: Sequence[Measure], rankings: GradedRankings) -> FloatArray:
    """How much RBP could rise, were everything unknown relevant; persistence as above."""
    width = reach(measures, rankings)
    filled = np.arange(width) < rankings.lengths[:, None]
    unknown = (rankings.levels[:, :width] == 0) & filled
    p = measures[0].p
    sums = running_sums(unknown * weights(p, width))
    behind = powers(p, width + 1)
    columns = [at_rank(sums, one.cutoff) + behind[shown(one, rankings)] for one in measures]
    return np.stack(columns, axis=1)


def weights(p: float, width: int) -> FloatArray:
    """RBP's weight of ranks 1..width."""
    return (1.0 - p) * powers(p, width)


def powers(p: float, n: int) -> FloatArray:
    """1, p, p², …, n of them."""
    return _powers(p, 1 << max(n - 1, 255).bit_length())[:n]


@lru_cache(maxsize=64)
def _powers(p: float, n: int) -> FloatArray:
    out = np.array([p**i for i in range(n)], np.float64)
    out.flags.writeable = False
    return out
