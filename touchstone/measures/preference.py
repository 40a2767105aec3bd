"""bpref and infAP: measures for judgments that are known to have holes. As trec_eval has them.

Sources: Buckley & Voorhees 2004; Yilmaz & Aslam 2006. What each rank contributes is an array of
its own, so that values and explanations come of one.
"""

from typing import Final

import numpy as np

from touchstone.measures.discounts import FloatArray
from touchstone.measures.grades import Grades
from touchstone.measures.rankings import GradedRankings, IntArray, quotients

_EPSILON: Final = 0.00001  # trec_eval's, against 0 / 0


def bpref(threshold: int, grades: Grades, rankings: GradedRankings) -> FloatArray:
    """bpref of every ranking. threshold: the lowest level that counts as relevant."""
    return _summed(bpref_terms(threshold, grades, rankings), _relevant(threshold, rankings))


def bpref_terms(threshold: int, grades: Grades, rankings: GradedRankings) -> FloatArray:
    """What each relevant document adds, before the sum is divided by their number."""
    zero = grades.at_least(0.0)
    levels = rankings.levels
    against = (levels >= zero) & (levels < max(threshold, 1))
    above = np.cumsum(against, axis=1, dtype=np.int64)
    n_relevant = _relevant(threshold, rankings)[:, None]
    n_against = rankings.judged[:, zero - 1 : max(threshold, 1) - 1].sum(axis=1)[:, None]
    worst = np.minimum(n_against, n_relevant)
    lost = np.divide(
        np.minimum(above, n_relevant), worst, out=np.zeros(levels.shape), where=worst > 0
    )
    return np.where(levels >= max(threshold, zero), 1.0 - lost, 0.0)


def inferred_ap(threshold: int, grades: Grades, rankings: GradedRankings) -> FloatArray:
    """infAP of every ranking. threshold: the lowest level that counts as relevant."""
    terms = inferred_ap_terms(threshold, grades, rankings)
    return _summed(terms, _relevant(threshold, rankings))


def inferred_ap_terms(threshold: int, grades: Grades, rankings: GradedRankings) -> FloatArray:
    """The expected precision at each relevant document, before the sum is divided."""
    zero, levels = grades.at_least(0.0), rankings.levels
    relevant = levels >= max(threshold, zero)
    against = (levels >= zero) & (levels < max(threshold, 1))
    before = np.cumsum(relevant, axis=1, dtype=np.int64) - relevant.astype(np.int64)
    opposed = np.cumsum(against, axis=1)
    # A grade below 0 stands for "in the pool, but not judged".
    pooled = np.cumsum((levels > 0) & (levels < zero), axis=1)
    ranks = np.arange(levels.shape[1], dtype=np.float64)  # from 0, as trec_eval counts
    above = np.maximum(ranks, 1.0)
    known = before + opposed
    expected = 1.0 / (ranks + 1.0) + (ranks / (ranks + 1.0)) * ((known + pooled) / above) * (
        (before + _EPSILON) / (known + 2 * _EPSILON)
    )
    expected[:, :1] = 1.0
    return np.where(relevant, expected, 0.0)


def _relevant(threshold: int, rankings: GradedRankings) -> IntArray:
    result: IntArray = rankings.judged[:, max(threshold, 1) - 1 :].sum(axis=1)
    return result


def _summed(terms: FloatArray, divisor: IntArray) -> FloatArray:
    if terms.shape[1] == 0:
        return np.zeros(len(terms))
    return quotients(np.cumsum(terms, axis=1)[:, -1], divisor)
