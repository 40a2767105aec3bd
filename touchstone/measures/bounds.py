"""Lower and upper bounds of nDCG over all possible grades of the unjudged documents.

Taking them all for the best grade is not the best case: they raise the ideal too, which costs a run
that shows one at rank ten more than it gains. And taking them for nothing is not the worst case,
for the same reason. Both ends are found exactly.

Between a query's unjudged documents, a better grade at a higher rank is never worse than the other
way round, because the ideal stays the same. So the best assignment of grades is how many of the
highest of them have at least each level: n₁ ≥ n₂ ≥ …; and the worst, how many of the lowest. With Δ
the step in gain from one level to the next, U the summed weights of those n ranks and D of the n
first of all, both sums come apart by level,

    DCG = known + Σ Δ · U(n),  ideal = Σ Δ · D(judged at that level or above + n),

and their ratio has its extreme where DCG − λ · ideal does, λ being that extreme (Dinkelbach 1967).
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.measures.discounts import FloatArray
from touchstone.measures.grades import LevelArray

STEPS: Final = 30  # each at least doubles the right digits; ten have always been enough
CLOSE: Final = 1e-13


def ndcg_bounds(
    *,
    gains: FloatArray,
    weights: FloatArray,
    levels: LevelArray,
    lengths: npt.NDArray[np.integer],
    judged: npt.NDArray[np.integer],
) -> tuple[FloatArray, FloatArray]:
    """The lowest and the highest nDCG@k that each ranking can have, over its own documents.

    gains: (n_levels,), of levels 1, 2, …, ascending; below 0 counts as 0. weights: (k,), one over
    the discount of each rank, never rising. levels: (n, width), 0 where unjudged. lengths: (n,),
    of the rankings. judged: (n, n_levels), how many documents are judged at each level. Documents
    that the ranking does not show within k are taken as they are judged, or for nothing.
    Returns two arrays (n,). A query whose ideal is 0 has 0.
    Raises ValueError where gains fall.
    """
    if (np.diff(gains) < 0).any():
        raise ValueError("a better grade that gains less has no bounds")
    steps = np.diff(np.maximum(np.concatenate([[0.0], gains]), 0.0))
    depth = min(len(weights), levels.shape[1])
    shown = np.arange(depth) < np.minimum(lengths, depth)[:, None]
    unjudged = shown & (levels[:, :depth] == 0)
    allowed = np.arange(depth + 1) <= unjudged.sum(axis=1)[:, None]
    own = np.concatenate([[0.0], np.maximum(gains, 0.0)])[levels[:, :depth]]
    known = (np.where(shown, own, 0.0) * weights[:depth]).sum(axis=1)
    first = np.concatenate([[0.0], np.cumsum(weights)])
    at_least = np.cumsum(judged[:, ::-1], axis=1)[:, ::-1]
    up_to = at_least[:, :, None] + np.arange(depth + 1)
    ideals = steps[:, None] * first[np.minimum(up_to, len(weights))]
    # the weights of the unjudged ranks: highest first for the best case, lowest for the worst
    best_first = np.sort(np.where(unjudged, -weights[:depth], np.inf), axis=1)
    worst_first = np.sort(np.where(unjudged, weights[:depth], np.inf), axis=1)
    low = _extreme(known, _summed(worst_first, steps), ideals, allowed, sign=-1.0)
    return low, _extreme(known, _summed(-best_first, steps), ideals, allowed, sign=1.0)


def _summed(free: FloatArray, steps: FloatArray) -> FloatArray:
    """Δ · U(n) by level and n, (n, n_levels, depth + 1); ranks that are judged are infinite."""
    sums = np.cumsum(np.where(np.isfinite(free), free, 0.0), axis=1)
    whole = np.concatenate([np.zeros((len(free), 1)), sums], axis=1)
    return np.asarray(steps[:, None] * whole[:, None, :], np.float64)


def _extreme(
    known: FloatArray,
    raised: FloatArray,
    ideals: FloatArray,
    allowed: npt.NDArray[np.bool_],
    *,
    sign: float,
) -> FloatArray:
    """The largest ratio (sign 1) or the smallest (sign −1) of each query.

    raised, ideals: (n, n_levels, depth + 1), by level and how many documents reach it.
    """
    ratio = _ratio(known, ideals[:, :, 0].sum(axis=1))
    for _ in range(STEPS):
        dcg, ideal = _best(raised, ideals, allowed, ratio, sign)
        # at the end nothing is as good as the best, and its ratio is none: hence what was there
        better = sign * np.maximum(sign * _ratio(known + dcg, ideal), sign * ratio)
        moved = np.abs(better - ratio).max(initial=0.0)
        ratio = better
        if moved < CLOSE:
            break
    return ratio


def _best(
    raised: FloatArray,
    ideals: FloatArray,
    allowed: npt.NDArray[np.bool_],
    ratio: FloatArray,
    sign: float,
) -> tuple[FloatArray, FloatArray]:
    """Both sums of the assignment that is best for a λ: level by level, the highest first."""
    dcg = ideal = np.zeros(allowed.shape)
    rows = np.arange(len(ratio))[:, None]
    for level in range(raised.shape[1] - 1, -1, -1):
        dcg, ideal = dcg + raised[:, level], ideal + ideals[:, level]
        worth = np.where(allowed, sign * (dcg - ratio[:, None] * ideal), -np.inf)
        # of those with as many or fewer documents the best: they are fewer at every level above
        positions = _best_so_far(worth)
        dcg, ideal = dcg[rows, positions], ideal[rows, positions]
    return dcg[:, -1], ideal[:, -1]


def _best_so_far(worth: FloatArray) -> npt.NDArray[np.intp]:
    """In each row the place of the largest number up to there, the first of equal ones."""
    top = np.maximum.accumulate(worth, axis=1)
    is_new = np.ones(worth.shape, bool)
    is_new[:, 1:] = top[:, 1:] > top[:, :-1]
    return np.maximum.accumulate(np.where(is_new, np.arange(worth.shape[1]), 0), axis=1)


def _ratio(dcg: FloatArray, ideal: FloatArray) -> FloatArray:
    return np.divide(dcg, ideal, out=np.zeros(len(dcg)), where=ideal > 0)
