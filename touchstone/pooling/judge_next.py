"""Which labels could change what a comparison of runs says, and what it probably comes to.

A measure is read as a sum over the pairs of a query and a document: what a run gains by a document
(the weight of its rank) times the document's gain, by the query's ideal. So every run's mean is
linear in the gains that no one knows yet, and `grade_prior` says what to expect of those.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import ndtr

from touchstone.pooling.grade_prior import (
    BoolArray,
    GainPrior,
    IntArray,
    fit_prior,
    level_chances,
)
from touchstone.statistics.resampling import FloatArray

SMALLEST: Final = 1e-12  # a variance below it is none
SMALL_IDEAL: Final = 0.05  # of the best possible: what a query without much to find is divided by


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgedPool:
    """Everything that some runs show of some queries, judged or not.

    ranks: (n_pairs, n_runs), from 1; 0 where the run does not show the document. queries: each
    pair's query, 0 to n_queries − 1. levels: (n_pairs,), 0 where no one has judged.
    doubts: (n_pairs,), the variance of a judged gain, as far as its labels disagree.
    others: (n_queries, n_levels), judged documents that no run shows, by level; an ideal has them.
    rank_weights: (depth,), what each rank counts. gains: (n_levels,), of levels 1, 2, …
    is_normalised: whether a query's sum is divided by its ideal (nDCG).
    """

    ranks: IntArray
    queries: IntArray
    n_queries: int
    levels: IntArray
    doubts: FloatArray
    others: IntArray
    rank_weights: FloatArray
    gains: FloatArray
    is_normalised: bool

    @property
    def known(self) -> BoolArray:
        """Which pairs are judged."""
        return self.levels > 0


@dataclass(frozen=True, eq=False)
class Outlook:
    """What the runs' means would probably be if everything that they show were judged.

    values: (n_runs,). covariance: (n_runs, n_runs), of what labels may still change.
    changes: (n_pairs,), how much a label is expected to change the order of the runs; 0 where
    nothing is to be learnt. swings: (n_pairs,), by how much a difference between two of the runs
    can move at most, from the worst grade to the best.
    """

    values: FloatArray
    covariance: FloatArray
    changes: FloatArray
    swings: FloatArray

    @property
    def above(self) -> FloatArray:
        """(n_runs, n_runs): how probably the run of the row is above that of the column."""
        distances, variances = _between(self.values, self.covariance)
        return np.asarray(ndtr(distances / np.sqrt(variances)), np.float64)


def outlook(pool: JudgedPool) -> Outlook:
    """What is to be expected, and what each label could change.

    A label of a pair takes its own uncertainty from every difference between two runs. It counts
    the more, the less sure that difference's sign is: by the density of a difference of 0.
    """
    known, top = pool.known, float(pool.gains[-1])
    judged_gains = np.concatenate([[0.0], pool.gains])[pool.levels]
    prior = fit_prior(
        ranks=pool.ranks,
        queries=pool.queries,
        n_queries=pool.n_queries,
        known=known,
        gains=judged_gains,
        top=top,
    )
    gains = np.where(known, judged_gains, prior.mean)
    ideals = _ideals(pool, prior) if pool.is_normalised else np.ones(pool.n_queries)
    weights = np.where(
        pool.ranks > 0, pool.rank_weights[np.maximum(pool.ranks, 1) - 1], 0.0
    ) / (ideals[pool.queries] * pool.n_queries)[:, None]  # fmt: skip
    values = weights.T @ gains
    covariance = prior.covariance(np.where(known[:, None], 0.0, weights))
    covariance += weights.T @ (weights * pool.doubts[:, None])
    doubts = np.where(known, pool.doubts, prior.own)
    changes = doubts * _attention(weights, values, covariance)
    swings = (weights.max(axis=1) - weights.min(axis=1)) * (top - min(0.0, pool.gains[0]))
    return Outlook(values, covariance, changes, swings)


def draw_next(changes: FloatArray, *, n: int, seed: int) -> IntArray:
    """The places of n pairs (fewer where fewer matter), in the order in which they were drawn.

    Each is drawn with a chance in proportion to its expected change. The very top alone would be
    judged in its best places only, and so mislead the prior about all others.
    The same seed draws the same. Source: Efraimidis & Spirakis 2006; Yellott 1977.
    """
    positions = np.flatnonzero(changes > 0)
    keys = np.log(changes[positions]) + np.random.default_rng(seed).gumbel(size=len(positions))
    return np.asarray(positions[np.argsort(-keys, kind="stable")[:n]], np.int64)


def _attention(weights: FloatArray, values: FloatArray, covariance: FloatArray) -> FloatArray:
    """For each pair Σ over the pairs of runs of (difference of weights)² · how open they are."""
    distances, variances = _between(values, covariance)
    openness = np.exp(-(distances**2) / variances / 2) / variances
    np.fill_diagonal(openness, 0.0)
    # Σ over a < b of openness · (w_a − w_b)², as a quadratic form
    form = np.diag(openness.sum(axis=1)) - openness
    return np.asarray(np.maximum(((weights @ form) * weights).sum(axis=1), 0.0), np.float64)


def _between(values: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The difference of every two runs (row less column), and its variance."""
    own = np.diag(covariance)
    variances = np.maximum(own[:, None] + own - 2 * covariance, SMALLEST)
    return values[:, None] - values, variances


def _ideals(pool: JudgedPool, prior: GainPrior) -> FloatArray:
    """Each query's ideal, if as many documents of each level are there as are expected."""
    depth, n_levels = len(pool.rank_weights), len(pool.gains)
    known, top = pool.known, float(pool.gains[-1])
    base = np.bincount(pool.levels[known] - 1, minlength=n_levels).astype(np.float64) + 1.0
    chances = np.zeros((len(pool.levels), n_levels))
    chances[np.flatnonzero(known), pool.levels[known] - 1] = 1.0
    gains = np.maximum(pool.gains, 0.0)
    if not known.all() and gains[-1] > gains[0]:
        chances[~known] = level_chances(prior.mean[~known], gains, base)
    counts = pool.others.astype(np.float64)
    np.add.at(counts, pool.queries, chances)
    reached = np.concatenate([[0.0], np.cumsum(pool.rank_weights)])
    filled, ideals = np.zeros(pool.n_queries), np.zeros(pool.n_queries)
    ranks = np.arange(depth + 1)
    for level in range(n_levels - 1, -1, -1):
        up_to = np.minimum(filled + counts[:, level], depth)
        ideals += gains[level] * (
            np.interp(up_to, ranks, reached) - np.interp(filled, ranks, reached)
        )
        filled = up_to
    return np.maximum(ideals, SMALL_IDEAL * top * float(reached[-1]))
