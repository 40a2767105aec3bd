"""Would the board look the same with other queries, or with other people's labels?"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from touchstone.statistics.ranks import kendall_taus
from touchstone.statistics.resampling import CELLS, FloatArray

# Every run's values under one draw of the grades, (n_runs, n_queries); NaN where not in the mean.
Draw = Callable[[np.random.Generator], FloatArray]


@dataclass(frozen=True, eq=False)
class Stability:
    """What became of the board in many resamples of the queries, and of the labels where drawn.

    first: for each run, the share of resamples in which it is first; a tie is shared.
    wins: (n_runs, n_runs), the share in which the run of the row is above that of the column; a tie
    counts half; the diagonal is one half.
    low, high: the middle 95 % of each run's mean; highest, lowest: of its place, from 1, those that
    tie in the best of theirs.
    tau: Kendall's tau-b of each resample's board with the board itself; the median, and what 95 %
    of the resamples reach; None where a board has no order.
    """

    resamples: int
    first: FloatArray
    wins: FloatArray
    low: FloatArray
    high: FloatArray
    highest: FloatArray
    lowest: FloatArray
    tau_median: float | None
    tau_reached: float | None


def board_stability(
    values: FloatArray, *, resamples: int, seed: int, draw: Draw | None = None, draws: int = 50
) -> Stability:
    """How stable the order of the runs' means is.

    values: float64 (n_runs, n_queries), NaN where a query is not in a run's mean; at least one run
    and one query. draw: gives the values again under other grades, for label noise; it is asked
    `draws` times, and each answer serves its share of the resamples. None: queries alone.
    The same seed gives the same answer.
    Source: Efron & Tibshirani 1993 for the bootstrap; Cormack & Lynam 2006, Sakai 2006 for boards.
    """
    rng = np.random.default_rng(seed)
    parts = [resamples] if draw is None else _shares(resamples, draws)
    means = np.concatenate(
        [_means(values if draw is None else draw(rng), part, rng) for part in parts]
    )
    return _summary(means, np.nanmean(values, axis=1))


def _means(values: FloatArray, resamples: int, rng: np.random.Generator) -> FloatArray:
    """The means over queries drawn with replacement, the same for all runs: (resamples, n_runs)."""
    n_queries = values.shape[1]
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    out = np.empty((resamples, len(values)))
    step = max(1, CELLS // n_queries)
    for start in range(0, resamples, step):
        some = min(step, resamples - start)
        drawn = rng.integers(0, n_queries, size=(some, n_queries), dtype=np.intp)
        rows = np.repeat(np.arange(some), n_queries)
        flat = np.bincount(rows * n_queries + drawn.ravel(), minlength=some * n_queries)
        times = flat.reshape(some, n_queries).astype(np.float64)
        with np.errstate(invalid="ignore"):
            out[start : start + some] = (times @ filled.T) / (times @ known.T)
    return out


def _summary(means: FloatArray, board: FloatArray) -> Stability:
    n_runs = means.shape[1]
    best = means == np.nanmax(means, axis=1, keepdims=True)
    wins, positions = np.empty((n_runs, n_runs)), np.empty_like(means)
    for run in range(n_runs):
        own = means[:, run : run + 1]
        wins[run] = ((own > means) + 0.5 * (own == means)).mean(axis=0)
        positions[:, run] = 1 + (means > own).sum(axis=1)
    taus = [tau for tau in kendall_taus(means, board) if tau is not None]
    low, high = np.nanquantile(means, (0.025, 0.975), axis=0)
    highest, lowest = np.quantile(positions, (0.025, 0.975), axis=0, method="nearest")
    return Stability(
        resamples=len(means),
        first=(best / best.sum(axis=1, keepdims=True)).mean(axis=0),
        wins=wins,
        low=low,
        high=high,
        highest=highest,
        lowest=lowest,
        tau_median=float(np.median(taus)) if taus else None,
        tau_reached=float(np.quantile(taus, 0.05)) if taus else None,
    )


def _shares(resamples: int, draws: int) -> list[int]:
    return [part for part in np.diff(np.linspace(0, resamples, draws + 1, dtype=int)) if part]


def drawn_levels(
    levels: npt.NDArray[np.uint8], chances: FloatArray, rng: np.random.Generator
) -> npt.NDArray[np.uint8]:
    """Each judgment's level drawn again by its chances.

    levels: (n,), what the judgments say; chances: (n, n_levels), of level 1, 2 …; a row of zeros
    keeps what is there.
    """
    edges = np.cumsum(chances, axis=1)
    total = edges[:, -1]
    thrown = rng.random(len(levels)) * total
    drawn = (edges <= thrown[:, None]).sum(axis=1) + 1
    return np.where(total > 0, np.minimum(drawn, chances.shape[1]), levels).astype(np.uint8)
