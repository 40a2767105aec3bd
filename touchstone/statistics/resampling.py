"""Resampling queries: intervals and p-values that assume nothing about how values are spread."""

from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

FloatArray = npt.NDArray[np.float64]

CELLS: Final = 1 << 17  # resampled values held at a time: 1 MiB, which a core's cache holds
MOST_EXACT: Final = 14  # queries of which every one of the 2ⁿ sign patterns is tried


def bootstrap_means(values: FloatArray, *, resamples: int, seed: int) -> FloatArray:
    """The means of `resamples` draws of n values with replacement.

    values: float64 (n,) or (k, n). Returns (resamples,) or (k, resamples). The same seed gives the
    same means, and the same draws to each row: drawing takes far longer than all the rest.
    """
    dice = np.random.default_rng(seed)
    rows = np.atleast_2d(values)
    n = rows.shape[1]
    means = np.empty((len(rows), resamples))
    step = max(1, CELLS // n)
    counts = np.empty((step, n))
    for start in range(0, resamples, step):
        some = min(step, resamples - start)
        # of the kind that `bincount` wants: any other would be copied first
        drawn = dice.integers(0, n, size=(some, n), dtype=np.intp)
        # how often each is drawn, counted once for all rows: half of what gathering eight takes
        for own, places in zip(counts, drawn, strict=False):
            own[:] = np.bincount(places, minlength=n)
        # no matrix product: its bits depend on the other rows and on the number of cores
        for row, own in zip(rows, means, strict=True):
            own[start : start + some] = np.einsum("sn,n->s", counts[:some], row) / n
    return means if values.ndim == 2 else means[0]


def bca_interval(
    values: FloatArray, *, resamples: int, seed: int, confidence: float = 0.95
) -> tuple[float, float]:
    """The bias-corrected and accelerated interval of the mean of the values, (low, high).

    values: (n,), n at least 2. Where all are equal the interval is that one point: the resampled
    means have no spread to correct.
    Raises ValueError for fewer than two values.
    Source: Efron 1987, "Better bootstrap confidence intervals"; the acceleration by the jackknife.
    """
    (found,) = bca_intervals(values[None], resamples=resamples, seed=seed, confidence=confidence)
    return found


def bca_intervals(
    values: FloatArray, *, resamples: int, seed: int, confidence: float = 0.95
) -> list[tuple[float, float]]:
    """`bca_interval` of each row of (k, n), bit for bit, in little more time than of one."""
    if values.shape[1] < 2:
        raise ValueError("an interval needs at least two values")
    varies = np.ptp(values, axis=1) > 0
    means = iter(bootstrap_means(values[varies], resamples=resamples, seed=seed))
    return [
        _bca(row, next(means), confidence) if own else (float(row.mean()), float(row.mean()))
        for row, own in zip(values, varies.tolist(), strict=True)
    ]


def _bca(values: FloatArray, means: FloatArray, confidence: float) -> tuple[float, float]:
    resamples, mean = len(means), float(values.mean())
    below = (np.count_nonzero(means < mean) + np.count_nonzero(means <= mean)) / (2 * resamples)
    bias = ndtri(np.clip(below, 1 / (2 * resamples), 1 - 1 / (2 * resamples)))
    away = values - mean
    acceleration = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    edges = ndtri(np.array([(1 - confidence) / 2, (1 + confidence) / 2]))
    shifted = bias + edges
    levels = ndtr(bias + shifted / (1 - acceleration * shifted))
    low, high = np.quantile(means, levels)
    return float(low), float(high)


def bootstrap_p_value(values: FloatArray, *, resamples: int, seed: int) -> float:
    """Two-sided p-value of a mean of 0, by resampling the values shifted to that mean.

    values: (n,). The observed sample counts as one of the resamples, so the value is never 0.
    Source: Efron & Tibshirani 1993, section 16.4.
    """
    mean = float(values.mean())
    means = bootstrap_means(values - mean, resamples=resamples, seed=seed)
    return _share_beyond(means, mean)


def sign_flip_p_value(values: FloatArray, *, resamples: int, seed: int) -> float:
    """Two-sided p-value of the randomization test: each difference could have had either sign.

    values: (n,), differences of one query each. Up to 14 of them every pattern of signs is tried
    and the value is exact; beyond, `resamples` are drawn, and the observed one counts as one more.
    Source: Fisher 1935; Smucker, Allan & Carterette 2007 for its use on rankers.
    """
    (found,) = sign_flip_p_values(values[None], resamples=resamples, seed=seed)
    return found


def sign_flip_p_values(values: FloatArray, *, resamples: int, seed: int) -> list[float]:
    """`sign_flip_p_value` of each row of (k, n), bit for bit: the same signs are drawn for all."""
    n = values.shape[1]
    if n <= MOST_EXACT:
        patterns = np.arange(1 << n)[:, None] >> np.arange(n) & 1
        signs = 1.0 - 2.0 * patterns
        return [
            float(np.mean(np.abs(signs @ row / n) >= abs(float(row.mean())) - _slack(row)))
            for row in values
        ]
    sums = [_subset_sums(row) for row in values]
    first = 256 * np.arange(-(-n // 8))  # where each eight's sums begin
    dice = np.random.default_rng(seed)
    flipped = np.empty((len(values), resamples))
    step = max(1, CELLS // len(first))
    for start in range(0, resamples, step):
        some = min(step, resamples - start)
        drawn = np.frombuffer(dice.bytes(some * len(first)), np.uint8).reshape(some, len(first))
        places = first + drawn
        for own, of_row in zip(sums, flipped, strict=True):
            of_row[start : start + some] = own.take(places).sum(axis=1)
    found = []
    for row, of_row in zip(values, flipped, strict=True):
        mean = float(row.mean())
        found.append(_share_beyond(mean - 2.0 * of_row / n, mean, slack=_slack(row)))
    return found


def _subset_sums(values: FloatArray) -> FloatArray:
    """Of each eight values the sum of every subset, 256 of them.

    A drawn byte then says which of eight signs are flipped: an eighth of the work.
    """
    eights = np.zeros((-(-len(values) // 8), 8))
    eights.ravel()[: len(values)] = values
    subsets = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    return (eights @ subsets.T.astype(np.float64)).ravel()


def _share_beyond(means: FloatArray, mean: float, slack: float = 0.0) -> float:
    beyond = np.count_nonzero(np.abs(means) >= abs(mean) - slack)
    return (1 + int(beyond)) / (1 + len(means))


def _slack(values: FloatArray) -> float:
    """Two sums of the same numbers in another order may differ by this much."""
    return float(np.abs(values).sum()) * 1e-14
