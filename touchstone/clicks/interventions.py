"""Examination from documents that one query showed at several positions: natural experiments.

A document that was shown at positions k and k' is equally relevant at both, so its clicks there
compare the positions. Where few documents moved between two positions, nothing is said of them.

Sources: Agarwal et al. 2019, "Estimating Position Bias without Intrusive Interventions"
(intervention sets, AllPairs, PivotOne, AdjacentChain).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.all_pairs import all_pairs
from touchstone.clicks.evidence import Evidence

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST_DOCUMENTS: Final = 10  # shown at both positions, or the two are not compared
FEWEST_CLICKS: Final = 10  # of those documents, at either position
QUERIES: Final = 4096  # resampled at a time
PAIRS: Final = 20_000  # looked at together
MOST_GROUPS: Final = 20_000  # that are resampled


@dataclass(frozen=True)
class Interventions:
    """What documents that were shown at two positions say of them.

    documents: (depth, depth), how many (query, document) pairs both positions showed.
    clicks: (depth, depth), their clicks at the first of the two.
    hits, misses: (queries, depth, depth), for each query or group with some, the sum of their
    click-through rates at the first of the two positions, and of 1 minus them.
    """

    documents: Ints
    clicks: Ints
    hits: Floats
    misses: Floats

    @property
    def is_supported(self) -> Bools:
        """(depth, depth), whether there are enough documents and clicks to compare the two."""
        fewest = np.minimum(self.clicks, self.clicks.T)
        enough: Bools = (self.documents >= FEWEST_DOCUMENTS) & (fewest >= FEWEST_CLICKS)
        return enough & ~np.eye(len(self.documents), dtype=bool)


@dataclass(frozen=True)
class PositionCurve:
    """examination: (depth,), relative to the first position; NaN where it is refused.

    low, high: (depth,), the band of 95 %, by resampling queries.
    """

    examination: Floats
    low: Floats
    high: Floats


def find_interventions(pages: Evidence) -> Interventions:
    """The intervention sets of one application's pages, as `Sessions.evidence` counts them.

    Of more than MOST_GROUPS queries, groups are resampled instead of queries, for less memory.
    """
    depth = pages.depth
    pairs, owner = np.unique(pages.pair, return_inverse=True)
    _, query = np.unique(pairs >> 32, return_inverse=True)
    group = query % MOST_GROUPS
    groups = int(group.max(initial=-1)) + 1
    documents, clicked = (np.zeros((depth, depth)) for _ in range(2))
    hits, misses = (np.zeros(groups * depth * depth) for _ in range(2))
    for start in range(0, len(pairs), PAIRS):
        part = slice(*np.searchsorted(owner, [start, start + PAIRS]))
        shown, clicks = pages.impressions[part], pages.clicks[part]
        position, own = pages.rank[part] - 1, owner[part]
        first, second = _moves(own)
        at, other = position[first], position[second]
        documents += _table(at, other, np.ones(len(at)), depth)
        clicked += _table(at, other, clicks[first].astype(np.float64), depth)
        rate = clicks[first] / shown[first]
        key = (group[own[first]] * depth + at) * depth + other
        np.add.at(hits, key, rate)
        np.add.at(misses, key, 1 - rate)
    shape = (groups, depth, depth)
    return Interventions(
        documents.astype(np.int64),
        clicked.astype(np.int64),
        _with_moves(hits.reshape(shape), misses.reshape(shape)),
        _with_moves(misses.reshape(shape), hits.reshape(shape)),
    )


def _with_moves(own: Floats, other: Floats) -> Floats:
    """The tables of groups that have a document at two positions."""
    result: Floats = own[(own + other).sum(axis=(1, 2)) > 0]
    return result


def pivot_one(hits: Floats, misses: Floats, is_supported: Bools) -> Floats:
    """Each position against the first, by the documents that both showed.

    hits, misses: (batch, depth, depth). Returns (batch, depth), NaN where not supported.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Floats = hits[:, :, 0] / hits[:, 0, :]
    result[:, ~is_supported[:, 0]] = np.nan
    result[:, 0] = 1.0
    return result


def adjacent_chain(hits: Floats, misses: Floats, is_supported: Bools) -> Floats:
    """Each position against the one above it, multiplied down; NaN from the first gap on.

    hits, misses: (batch, depth, depth). Returns (batch, depth).
    """
    position = np.arange(hits.shape[1] - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        steps = hits[:, position + 1, position] / hits[:, position, position + 1]
    steps[:, ~is_supported[position, position + 1]] = np.nan
    result: Floats = np.cumprod(np.concatenate([np.ones((len(hits), 1)), steps], axis=1), axis=1)
    return result


Estimator = Callable[[Floats, Floats, Bools], Floats]
ESTIMATORS: Final[dict[str, Estimator]] = {
    "all_pairs": all_pairs,
    "pivot_one": pivot_one,
    "adjacent_chain": adjacent_chain,
}


def position_curves(
    interventions: Interventions, *, resamples: int = 1000, seed: int = 0
) -> dict[str, PositionCurve]:
    """The curve of each estimator, by its name, with a band from the same resampled queries."""
    supported = interventions.is_supported
    hits, misses = (
        table.sum(axis=0, keepdims=True) for table in (interventions.hits, interventions.misses)
    )
    drawn_hits, drawn_misses = _resampled(interventions, resamples, seed)
    curves = {}
    for name, estimate in ESTIMATORS.items():
        replicates = estimate(drawn_hits, drawn_misses, supported)
        low, high = band(replicates)
        curves[name] = PositionCurve(estimate(hits, misses, supported)[0], low, high)
    return curves


def band(replicates: Floats, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """The percentile interval of each column; NaN for one that has a replicate without a value.

    Of n replicates, the one at place (n + 1) · tail from either end: with other definitions of a
    quantile, an interval from 200 replicates holds the truth 1 % too rarely.
    """
    tail = (1 - confidence) / 2
    if not len(replicates):
        none = np.full(replicates.shape[1], np.nan)
        return none, none
    low, high = np.quantile(replicates, [tail, 1 - tail], axis=0, method="weibull")
    return low, high


def centred_band(
    estimate: Floats, replicates: Floats, *, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """The spread of the replicates' logarithms about their mean, put around the estimate.

    estimate: (depth,). For estimates whose replicates are biased: it shows what other queries
    would have changed, and nothing of the bias.
    """
    low, high = band(replicates, confidence=confidence)
    centre = np.exp(np.log(replicates).mean(axis=0)) if len(replicates) else low
    return estimate * low / centre, estimate * high / centre


def _moves(owner: Ints) -> tuple[Ints, Ints]:
    """All ordered pairs of different cells that have the same owner. owner: ascending."""
    _, start, count = np.unique(owner, return_index=True, return_counts=True)
    first = np.repeat(np.arange(len(owner)), np.repeat(count, count))
    begin = np.repeat(start, count * count)
    offset = np.arange(len(first)) - np.repeat(np.cumsum(count * count) - count * count, count**2)
    second = begin + offset % np.repeat(count, count * count)
    differ = first != second
    return first[differ], second[differ]


def _table(at: Ints, other: Ints, weights: Floats, depth: int) -> Floats:
    sums = np.bincount(at * depth + other, weights=weights, minlength=depth * depth)
    return sums.astype(np.float64).reshape(depth, depth)


def _resampled(interventions: Interventions, resamples: int, seed: int) -> tuple[Floats, Floats]:
    """Sums over resampled queries, each counted as a Poisson variable of mean 1 says."""
    rng = np.random.default_rng(seed)
    queries, depth, _ = interventions.hits.shape
    cells = depth * depth
    sums = np.zeros((2, resamples, cells))
    for start in range(0, queries, QUERIES):
        part = slice(start, start + QUERIES)
        tables = (interventions.hits[part], interventions.misses[part])
        weights = rng.poisson(1.0, size=(resamples, len(tables[0]))).astype(np.float64)
        for row, table in enumerate(tables):
            sums[row] += weights @ table.reshape(-1, cells)
    hits, misses = sums.reshape(2, resamples, depth, depth)
    return hits, misses
