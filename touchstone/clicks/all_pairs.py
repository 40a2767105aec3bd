"""AllPairs: the examination that makes all intervention sets most likely at once.

Source: Agarwal et al. 2019 (arXiv 1812.05161), eq. 7: maximise over p and symmetric r
Σ_{k≠k'} ĉ_k log(p_k r_kk') + ¬ĉ_k log(1 − p_k r_kk').
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_STEPS: Final = 100
ENOUGH: Final = 1e-11  # a Newton step that moves no logarithm further than this
MOST_HALVINGS: Final = 40


def all_pairs(hits: Floats, misses: Floats, is_supported: Bools) -> Floats:
    """Examination relative to the first position, of each table of a batch.

    hits, misses: (batch, depth, depth), ĉ and ¬ĉ of the first of two positions. is_supported:
    (depth, depth), the sets to use. Returns (batch, depth); NaN where no chain of supported sets
    leads to the first position, and in a row that has no maximum (a position without a click).

    In θ = log p + log r the likelihood is concave, so Newton's method with halved steps finds it.
    """
    depth = len(is_supported)
    reached = connected(is_supported)
    upper = [
        (low, high)
        for low, high in zip(*np.nonzero(np.triu(is_supported)), strict=True)
        if reached[low]
    ]
    result = np.full((len(hits), depth), np.nan)
    result[:, 0] = 1.0
    if not upper:
        return result
    at = np.array([pair for low, high in upper for pair in ((low, high), (high, low))])
    own_hits, own_misses = (table[:, at[:, 0], at[:, 1]] for table in (hits, misses))
    design = _design(at[:, 0], depth)
    solvable = np.flatnonzero((own_hits > 0).all(axis=1) & (own_misses > 0).all(axis=1))
    logs = _maximum(own_hits[solvable], own_misses[solvable], design, depth - 1)
    positions = np.flatnonzero(reached)[1:]
    result[solvable[:, None], positions[None, :]] = np.exp(logs[:, positions - 1])
    result[np.setdiff1d(np.arange(len(hits)), solvable)[:, None], positions[None, :]] = np.nan
    return result


def connected(is_supported: Bools) -> Bools:
    """(depth,), whether a chain of supported sets leads from the first position here."""
    reached = np.zeros(len(is_supported), dtype=bool)
    reached[0] = True
    for _ in range(len(is_supported)):
        reached |= is_supported[reached].any(axis=0)
    return reached


def _design(position: Ints, depth: int) -> Floats:
    """Which unknowns add up to each θ: log p of positions 2 …, then log r of each set."""
    rows = np.arange(len(position))
    design = np.zeros((len(position), depth - 1 + len(position) // 2))
    below = position > 0
    design[rows[below], position[below] - 1] = 1
    design[rows, depth - 1 + rows // 2] = 1
    return design


def _maximum(hits: Floats, misses: Floats, design: Floats, positions: int) -> Floats:
    """(batch, unknowns), where the likelihood is greatest. hits, misses: (batch, sets · 2)."""
    batch, sides = hits.shape
    tables = (hits, hits + misses)
    clicked, shown = (one.reshape(batch, sides // 2, 2).sum(axis=2) for one in tables)
    shares = clicked / shown
    unknowns = np.concatenate([np.zeros((batch, positions)), np.log(shares)], axis=1)
    # positions that no set is about stay where they are
    ridge = np.diag((~design.any(axis=0)).astype(np.float64))
    for _ in range(MOST_STEPS):
        theta = unknowns @ design.T
        odds = np.exp(theta) / -np.expm1(theta)
        gradient = (hits - misses * odds) @ design
        curvature = misses * odds * (1 + odds)
        hessian = (design.T * curvature[:, None, :]) @ design + ridge
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        unknowns = unknowns + _damped(hits, misses, theta, step @ design.T)[:, None] * step
        if np.abs(step).max(initial=0.0) < ENOUGH:
            break
    return unknowns


def _damped(hits: Floats, misses: Floats, theta: Floats, change: Floats) -> Floats:
    """(batch,), the largest of 1, 1/2, 1/4, … that keeps every θ below 0 and gains likelihood."""
    size = np.ones(len(theta))
    before = _likelihood(hits, misses, theta)
    for _ in range(MOST_HALVINGS):
        after = _likelihood(hits, misses, theta + size[:, None] * change)
        worse = ~(after >= before - 1e-12 * np.abs(before))
        if not worse.any():
            break
        size[worse] /= 2
    return size


def _likelihood(hits: Floats, misses: Floats, theta: Floats) -> Floats:
    inside = (theta < 0).all(axis=1)
    safe = np.where(theta < 0, theta, -1.0)
    value: Floats = (hits * safe + misses * np.log(-np.expm1(safe))).sum(axis=1)
    return np.where(inside, value, -np.inf)
