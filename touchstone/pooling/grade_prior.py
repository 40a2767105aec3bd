"""How good a document probably is that no one has judged: by where the runs put it.

A pair's gain is taken to be a straight line in what the runs say of it (how many return it, how
high, and which), plus what its query is like, plus its own part, which no one knows before it is
judged. The coefficients have a normal prior around 0, so that little evidence gives little more
than the mean, and one run's or one query's coefficient moves only as far as its labels carry it.
Source: the idea of Carterette, Allan & Sitaraman 2006, "Minimal test collections"; the estimate is
Bayesian linear regression with random effects (Gelman et al. 2013, chapters 14 and 15).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.statistics.resampling import FloatArray

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

CENTRE: Final = 0.25  # the share of the best gain that a pair has before anything is judged
OF_RUN: Final = 0.15  # how far one run's coefficients vary
OF_QUERY: Final = 0.3  # how far queries vary
OWN: Final = 0.6  # of the largest variance possible at a mean, the part that is a pair's own
FEWEST: Final = 20  # labels from which that part is measured instead
EDGE: Final = 0.01  # no mean is nearer than this to certainty
STEPS: Final = 2  # of reweighing


@dataclass(frozen=True, eq=False)
class GainPrior:
    """What is expected of every pair's gain, and how the errors of it hang together.

    mean: (n_pairs,), the gain expected. own: (n_pairs,), the variance of each pair's own part.
    features, queries: of the pairs. of_line: the covariance of the coefficients of the features;
    of_queries: that of the queries' were those known; pull: how far these follow those.
    """

    mean: FloatArray
    own: FloatArray
    features: FloatArray
    queries: IntArray
    of_line: FloatArray
    of_queries: FloatArray
    pull: FloatArray

    def covariance(self, weights: FloatArray) -> FloatArray:
        """The covariance (m, m) of the sums Σ weights · gain; weights: (n_pairs, m).

        What is wrong with the coefficients is wrong for all pairs together; their own parts are
        independent of each other.
        """
        of_features = self.features.T @ weights
        by_query = _by_query(weights, self.queries, len(self.of_queries)).T
        # the inverse of a matrix in blocks, the large one of which is diagonal
        reduced = of_features - self.pull @ by_query
        shared = reduced.T @ self.of_line @ reduced
        shared += by_query.T @ (by_query * self.of_queries[:, None])
        return shared + weights.T @ (weights * self.own[:, None])


def fit_prior(
    *,
    ranks: IntArray,
    queries: IntArray,
    n_queries: int,
    known: BoolArray,
    gains: FloatArray,
    top: float,
) -> GainPrior:
    """Learn from the pairs that are judged what to expect of all.

    ranks: (n_pairs, n_runs), from 1; 0 where a run does not return the document. queries: each
    pair's query, 0 to n_queries − 1. known: which are judged. gains: theirs; of the others ignored.
    top: the best gain of the scale, above 0; gains below 0 are taken as 0.
    Raises ValueError for a top of 0 or less.
    """
    if top <= 0:
        raise ValueError("a scale without a gain above 0 has nothing to expect")
    features = _features(ranks)
    said = np.clip(gains[known] / top, 0.0, 1.0) - CENTRE
    own_features, own_queries = features[known], queries[known]
    penalty = np.concatenate([np.ones(4), np.full(features.shape[1] - 4, OF_RUN**-2)])
    variance = np.full(len(said), 0.1)
    for _ in range(STEPS):
        of_queries = 1 / (OF_QUERY**-2 + np.bincount(own_queries, 1 / variance, n_queries))
        cross = _by_query(own_features / variance[:, None], own_queries, n_queries)
        whole = np.diag(penalty) + (own_features.T / variance) @ own_features
        right = (own_features.T / variance) @ said
        right_of_queries = np.bincount(own_queries, said / variance, n_queries)
        shared = np.linalg.inv(whole - (cross * of_queries) @ cross.T)
        line = shared @ (right - cross @ (of_queries * right_of_queries))
        levels = of_queries * (right_of_queries - cross.T @ line)
        mean = np.clip(CENTRE + features @ line + levels[queries], EDGE, 1 - EDGE)
        own = _own_share(said + CENTRE, mean[known]) * mean * (1 - mean)
        variance = np.maximum(own[known], EDGE)
    pull = cross * of_queries
    scale = top**2
    return GainPrior(
        mean * top, own * scale, features, queries, shared * scale, of_queries * scale, pull
    )


def level_chances(means: FloatArray, gains: FloatArray, base: FloatArray) -> FloatArray:
    """The distribution over the levels of a scale that has each mean, (n, n_levels).

    gains: (n_levels,), ascending; means: between the first and the last. base: how frequent the
    levels are altogether. Of all distributions with that mean it is the one nearest to the base.
    """
    spread = float(gains[-1] - gains[0])
    steps = (gains - gains[0]) / spread
    wanted = np.clip((means - gains[0]) / spread, EDGE, 1 - EDGE)
    low, high = np.full(len(means), -60.0), np.full(len(means), 60.0)
    for _ in range(40):
        middle = (low + high) / 2
        chances = base * np.exp(middle[:, None] * steps)
        chances /= chances.sum(axis=1, keepdims=True)
        below = chances @ steps < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(chances, np.float64)


def _features(ranks: IntArray) -> FloatArray:
    """What the runs say of a pair: four numbers for all of them together, two for each."""
    returned = ranks > 0
    discounts = np.where(returned, 1 / np.log2(np.maximum(ranks, 1) + 1), 0.0)
    together = (
        np.ones(len(ranks)),
        np.log1p(returned.sum(axis=1)),
        discounts.sum(axis=1) / np.sqrt(ranks.shape[1]),
        discounts.max(axis=1, initial=0.0),
    )
    return np.concatenate([np.stack(together, axis=1), discounts, 0.5 * returned], axis=1)


def _own_share(said: FloatArray, mean: FloatArray) -> float:
    if len(said) < FEWEST:
        return OWN
    return float(np.clip(np.mean((said - mean) ** 2) / np.mean(mean * (1 - mean)), EDGE, 1.0))


def _by_query(values: FloatArray, queries: IntArray, n_queries: int) -> FloatArray:
    """Summed by query: (n_columns, n_queries)."""
    columns = np.ascontiguousarray(values.T)
    return np.stack([np.bincount(queries, column, n_queries) for column in columns])
