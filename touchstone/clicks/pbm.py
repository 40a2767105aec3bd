"""The position-based model: a click is seeing a result, by its position, and finding it attractive.

Source: Chuklin, Markov & de Rijke 2015, "Click Models for Web Search", sections 3.3 and 4.2.2;
pseudo-counts of 1/2 and 50 rounds of EM, from 1/2, are PyClick's.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

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
    """Impressions and clicks by (pair, position), ordered by pair.

    cell: (rows,), the cell of each row of the sessions. starts: of each pair's cells.
    """

    pairs: Ints
    starts: Ints
    position: Ints
    cell: Ints
    depth: int


def fit_pbm(sessions: Sessions, *, rounds: int = ROUNDS) -> Pbm:
    """The model after some rounds of expectation maximization."""
    counts = _count(sessions)
    cells = len(counts.position)
    shown = np.bincount(counts.cell, minlength=cells).astype(np.float64)
    clicks = np.bincount(counts.cell, weights=sessions.click, minlength=cells).astype(np.float64)
    examination, attractiveness = _maximize(counts, shown[None], clicks[None], rounds)
    return Pbm(examination[0], PairValues(counts.pairs, attractiveness[0]))


def pbm_replicates(
    sessions: Sessions, *, resamples: int, seed: int, rounds: int = ROUNDS
) -> Floats:
    """The examination of resampled sessions, (resamples, depth), each relative to the first.

    Each query's pages count as often as a Poisson variable of mean 1 says, which is the bootstrap
    of queries for many of them.
    Source: Hanley & MacGibbon 2006.
    """
    counts, rng = _count(sessions), np.random.default_rng(seed)
    _, query = np.unique(sessions.query, return_inverse=True)
    queries, cells = int(query.max()) + 1, len(counts.position)
    result = np.empty((resamples, counts.depth))
    step = max(1, CELLS // max(cells, 1))
    for start in range(0, resamples, step):
        some = min(step, resamples - start)
        weights = rng.poisson(1.0, size=(some, queries)).astype(np.float64)
        shown, clicks = np.empty((some, cells)), np.empty((some, cells))
        for row in range(some):
            own = weights[row, query]
            shown[row] = np.bincount(counts.cell, weights=own, minlength=cells)
            clicks[row] = np.bincount(counts.cell, weights=own * sessions.click, minlength=cells)
        examination, _ = _maximize(counts, shown, clicks, rounds)
        result[start : start + some] = examination / examination[:, :1]
    return result


def _count(sessions: Sessions) -> _Counts:
    depth = sessions.depth
    pairs, pair = np.unique(sessions.pair, return_inverse=True)
    names, cell = np.unique(pair * depth + (sessions.position - 1), return_inverse=True)
    starts = np.searchsorted(names // depth, np.arange(len(pairs)))
    return _Counts(pairs, starts, names % depth, cell, depth)


def _maximize(counts: _Counts, shown: Floats, clicks: Floats, rounds: int) -> tuple[Floats, Floats]:
    """Examination (batch, depth) and attractiveness (batch, pairs).

    shown, clicks: (batch, cells).
    """
    batch, position = len(shown), counts.position
    sizes = np.diff(np.append(counts.starts, len(position)))
    pair = np.repeat(np.arange(len(counts.pairs)), sizes)
    is_at = np.zeros((len(position), counts.depth))
    is_at[np.arange(len(position)), position] = 1
    of_pair = IMPRESSIONS + np.add.reduceat(shown, counts.starts, axis=1)
    of_position = IMPRESSIONS + shown @ is_at
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
        examination = np.minimum((CLICKS + examined @ is_at) / of_position, MOST)
    return examination, attractiveness
