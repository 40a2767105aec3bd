"""The position-based model: a click is seeing a result, by its position, and finding it attractive.

Source: Chuklin, Markov & de Rijke 2015, "Click Models for Web Search", sections 3.3 and 4.2.2;
pseudo-counts of 1/2 and 50 rounds of EM, from 1/2, are PyClick's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.evidence import Evidence
from touchstone.clicks.pair_values import CLICKS, IMPRESSIONS, UNSEEN, PairValues
from touchstone.clicks.sessions import Sessions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDS: Final = 50
MOST: Final = 1 - 1e-6  # PyClick's: no probability of 1, whose logarithm of the rest has no value
CELLS: Final = 1 << 22  # resampled counts held at a time


@dataclass(frozen=True)
class Pbm:
    """examination: (depth,), the chance that a position is seen. attractiveness: of each pair.

    Only their products are known: examination is comparable between positions, not by itself.
    """

    examination: Floats
    attractiveness: PairValues

    def click_chances(self, sessions: Sessions) -> Floats:
        """(rows,); 1/2 stands for a position or a pair that was not seen."""
        seen = np.append(self.examination, UNSEEN)
        chances = seen[np.minimum(sessions.position, len(seen)) - 1]
        result: Floats = chances * self.attractiveness.of(sessions.pair)
        return result

    def conditional_chances(self, sessions: Sessions) -> Floats:
        """The same: clicks do not depend on each other."""
        return self.click_chances(sessions)


@dataclass(frozen=True)
class _Counts:
    """Impressions and clicks by (pair, position), ordered by pair: of each its cells begin.

    query: (cells,), from 0.
    """

    pairs: Ints
    starts: Ints
    position: Ints
    query: Ints
    shown: Floats
    clicks: Floats
    depth: int


def fit_pbm(pages: Evidence, *, rounds: int = ROUNDS) -> Pbm:
    """The model after some rounds of expectation maximization.

    pages: of one application, as `Sessions.evidence` counts them.
    """
    counts = _count(pages)
    examination, attractiveness = _maximize(counts, counts.shown[None], counts.clicks[None], rounds)
    return Pbm(examination[0], PairValues(counts.pairs, attractiveness[0]))


def pbm_replicates(pages: Evidence, *, resamples: int, seed: int, rounds: int = ROUNDS) -> Floats:
    """The examination of resampled pages, (resamples, depth), each relative to the first.

    Each query's pages count as often as a Poisson variable of mean 1 says, which is the bootstrap
    of queries for many of them.
    Source: Hanley & MacGibbon 2006.
    """
    counts, rng = _count(pages), np.random.default_rng(seed)
    queries, cells = int(counts.query.max()) + 1, len(counts.position)
    result = np.empty((resamples, counts.depth))
    step = max(1, CELLS // max(cells, 1))
    for start in range(0, resamples, step):
        some = min(step, resamples - start)
        weights = rng.poisson(1.0, size=(some, queries)).astype(np.float64)[:, counts.query]
        examination, _ = _maximize(counts, counts.shown * weights, counts.clicks * weights, rounds)
        result[start : start + some] = examination / examination[:, :1]
    return result


def _count(pages: Evidence) -> _Counts:
    pairs, starts = np.unique(pages.pair, return_index=True)
    _, query = np.unique(pages.query, return_inverse=True)
    return _Counts(
        pairs,
        starts,
        pages.rank - 1,
        query,
        pages.impressions.astype(np.float64),
        pages.clicks.astype(np.float64),
        pages.depth,
    )


def _maximize(counts: _Counts, shown: Floats, clicks: Floats, rounds: int) -> tuple[Floats, Floats]:
    """Examination (batch, depth) and attractiveness (batch, pairs).

    shown, clicks: (batch, cells).
    """
    batch, position = len(shown), counts.position
    sizes = np.diff(np.append(counts.starts, len(position)))
    pair = np.repeat(np.arange(len(counts.pairs)), sizes)
    at_positions = _adder(position, counts.depth, batch)
    of_pair = IMPRESSIONS + np.add.reduceat(shown, counts.starts, axis=1)
    of_position = IMPRESSIONS + at_positions(shown)
    examination = np.full((batch, counts.depth), UNSEEN)
    attractiveness = np.full((batch, len(counts.pairs)), UNSEEN)
    missed = shown - clicks
    for _ in range(rounds):
        seen, attracted = examination[:, position], attractiveness[:, pair]
        rest = missed / (1 - seen * attracted)
        attractive = clicks + rest * (1 - seen) * attracted
        examined = clicks + rest * (1 - attracted) * seen
        sums = CLICKS + np.add.reduceat(attractive, counts.starts, axis=1)
        attractiveness = np.minimum(sums / of_pair, MOST)
        examination = np.minimum((CLICKS + at_positions(examined)) / of_position, MOST)
    return examination, attractiveness


def _adder(position: Ints, depth: int, batch: int) -> Callable[[Floats], Floats]:
    """Sums (batch, cells) to (batch, depth): of many by one product, of one without its table."""
    if batch == 1:
        return partial(_summed, position, depth)
    is_at = np.zeros((len(position), depth))
    is_at[np.arange(len(position)), position] = 1
    return lambda values: values @ is_at


def _summed(position: Ints, depth: int, values: Floats) -> Floats:
    return np.bincount(position, weights=values[0], minlength=depth).astype(np.float64)[None]
