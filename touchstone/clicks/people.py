"""How well click scores agree with people's grades of the same pairs.

Scores come from clicks: COEC, attractiveness, a rate. Only their order is used.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from touchstone.agreement.bootstrap import RESAMPLES, Agreement
from touchstone.agreement.kappas import Weights, cohen_kappa
from touchstone.statistics.clustered import Estimate, clustered_mean, clustered_ratio
from touchstone.statistics.ranks import kendall_tau

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Preferences:
    """auc: of two documents of a query that people grade differently, how often clicks agree.

    Ties of the scores count half. Its interval is clustered by query. pairs, queries: of which.
    """

    auc: Estimate
    pairs: int
    queries: int


def preference_auc(query: Ints, scores: Floats, grades: Floats) -> Preferences | None:
    """The area under the curve of preference pairs, over the pairs of all queries together.

    query, scores, grades: (pairs judged,). None where no query has two different grades.
    """
    agreeing, counted = [], []
    for rows in _of_queries(query):
        better = np.sign(grades[rows][:, None] - grades[rows][None, :]) > 0
        higher = np.sign(scores[rows][:, None] - scores[rows][None, :])
        agreeing.append(float((better * (higher + 1) / 2).sum()))
        counted.append(int(better.sum()))
    pairs = np.array(counted, dtype=np.float64)
    some = pairs > 0
    if not some.any():
        return None
    auc = clustered_ratio(np.array(agreeing)[some], pairs[some], np.arange(int(some.sum())))
    return Preferences(auc, int(pairs.sum()), int(some.sum()))


def rank_correlation(query: Ints, scores: Floats, grades: Floats) -> tuple[Estimate, int] | None:
    """Kendall's tau-b of scores and grades, the mean over queries, and their number.

    Queries in which all scores or all grades are equal have none. None where no query has one.
    """
    taus = [kendall_tau(scores[rows], grades[rows]) for rows in _of_queries(query)]
    known = np.array([tau for tau in taus if tau is not None])
    if not len(known):
        return None
    return clustered_mean(known, np.arange(len(known))), len(known)


@dataclass(frozen=True)
class Binning:
    """Click scores as grades: a score's grade is that of the greatest bound that it reaches.

    bounds: ascending, the first one −∞. steps: of each, a place on the scale, never falling.
    """

    bounds: Floats
    steps: Ints

    def of(self, scores: Floats) -> Ints:
        """The places on the scale of scores, (n,)."""
        result: Ints = self.steps[np.searchsorted(self.bounds, scores, side="right") - 1]
        return result


@dataclass(frozen=True)
class BinnedAgreement:
    """A binning learned from some queries, and its agreement with people on the others.

    learned, judged: how many pairs.
    """

    binning: Binning
    kappa: Agreement
    learned: int
    judged: int


def monotone_binning(scores: Floats, steps: Ints, scale: Sequence[float]) -> Binning:
    """The grade that people give on average to such a score, never falling, rounded to the scale.

    scores, steps: (n,), at least one; steps are places on the scale. scale: the grades' values,
    ascending.
    Raises ValueError without a score.
    Source: isotonic regression by pooling adjacent violators (Ayer et al. 1955).
    """
    if not len(scores):
        raise ValueError("a binning needs a score")
    values = np.asarray(scale, dtype=np.float64)
    names, position = np.unique(scores, return_inverse=True)
    weights = np.bincount(position).astype(np.float64)
    means = np.bincount(position, weights=values[steps]) / weights
    fitted = _isotonic(means, weights)
    nearest = np.abs(fitted[:, None] - values[None, :]).argmin(axis=1).astype(np.int64)
    first = np.flatnonzero(np.diff(nearest, prepend=-1))
    bounds = names[first]
    bounds[0] = -np.inf
    return Binning(bounds, nearest[first])


def binned_agreement(
    query: Ints,
    scores: Floats,
    steps: Ints,
    scale: Sequence[float],
    *,
    weights: Weights = "quadratic",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> BinnedAgreement | None:
    """Weighted kappa of binned scores with people's grades, on queries the binning has not seen.

    A random half of the queries is learned from, the other judged; kappa's interval resamples those
    queries. None with fewer than two.
    """
    names, position = np.unique(query, return_inverse=True)
    if len(names) < 2:
        return None
    is_learned = (np.random.default_rng(seed).permutation(len(names)) % 2 == 0)[position]
    binning = monotone_binning(scores[is_learned], steps[is_learned], scale)
    own, other = binning.of(scores[~is_learned]), steps[~is_learned]
    _, judged = np.unique(position[~is_learned], return_inverse=True)
    grades = len(scale)
    tables = np.zeros((int(judged.max()) + 1, grades, grades), np.int64)
    np.add.at(tables, (judged, own, other), 1)
    kappa = cohen_kappa(tables, scale, weights=weights, resamples=resamples, seed=seed)
    return BinnedAgreement(binning, kappa, int(is_learned.sum()), int((~is_learned).sum()))


def _of_queries(query: Ints) -> Iterator[Ints]:
    """The rows of each query."""
    order = np.argsort(query, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(query[order])) + 1)


def _isotonic(means: Floats, weights: Floats) -> Floats:
    """The closest sequence that never falls, by weighted squares."""
    blocks: list[tuple[float, float, int]] = []
    for mean, weight in zip(means.tolist(), weights.tolist(), strict=True):
        block = (mean, weight, 1)
        while blocks and blocks[-1][0] >= block[0]:
            before = blocks.pop()
            total = before[1] + block[1]
            pooled = (before[0] * before[1] + block[0] * block[1]) / total
            block = (pooled, total, before[2] + block[2])
        blocks.append(block)
    return np.repeat([mean for mean, _, _ in blocks], [size for _, _, size in blocks])
