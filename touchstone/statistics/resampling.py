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
    rng = np.random.default_rng(seed)
    rows = np.atleast_2d(values)
    n = rows.shape[1]
    whole, ones = _whole(rows)
    columns = np.ascontiguousarray(whole.T)
    means = np.empty((len(rows), resamples))
    step = max(1, CELLS // n)
    counts = np.empty((step, n))
    for start in range(0, resamples, step):
        some = min(step, resamples - start)
        # of the kind that `bincount` wants: any other would be copied first
        drawn = rng.integers(0, n, size=(some, n), dtype=np.intp)
        # how often each is drawn, counted once for all rows: half of what gathering eight takes
        for own, positions in zip(counts, drawn, strict=False):
            own[:] = np.bincount(positions, minlength=n)
        means[:, start : start + some] = (counts[:some] @ columns).T
    means /= n * ones
    return means if values.ndim == 2 else means[0]


def _whole(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows (k, n) as whole numbers, and what stands for 1 in each (k, 1).

    Any n of a row's numbers have a sum below 2⁵³, which is exact in whatever order a matrix product
    adds. A mean is off by at most n × 2⁻⁵³ of the largest value: 1e-12 of 10,000.
    """
    largest = np.abs(rows).max(axis=1, keepdims=True)
    ones = 2.0 ** np.floor(52 - np.log2(rows.shape[1] * np.where(largest > 0, largest, 1.0)))
    return np.rint(rows * ones), ones


def bca_interval(
    values: FloatArray, *, resamples: int, seed: int, confidence: float = 0.95
) -> tuple[float, float]:
    """The bias-corrected and accelerated interval of the mean of the values, (low, high).

    values: (n,), n at least 2. Where all are equal the interval is that one point: the resampled
    means have no spread to correct.
    Raises ValueError for fewer than two values.
    Source: Efron 1987, "Better bootstrap confidence intervals"; the acceleration by the jackknife.
    """
    (result,) = bca_intervals(values[None], resamples=resamples, seed=seed, confidence=confidence)
    return result


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
    resamples = len(means)
    whole, ones = _whole(values[None])
    mean = float(whole.sum() / (len(values) * ones[0, 0]))  # as the means have it: ties are exact
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
    (result,) = sign_flip_p_values(values[None], resamples=resamples, seed=seed)
    return result


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
    width = -(-n // 8)
    rng = np.random.default_rng(seed)
    columns = np.ascontiguousarray(values.T)
    flipped = np.empty((len(values), resamples))
    step, some = max(1, CELLS // width), max(1, CELLS // n)
    for start in range(0, resamples, step):
        end = min(start + step, resamples)
        drawn = np.frombuffer(rng.bytes((end - start) * width), np.uint8).reshape(-1, width)
        flips = np.unpackbits(drawn, axis=1, count=n)
        for first in range(0, len(flips), some):
            # a matrix product: its last bits depend on the machine, `_slack` is far more than those
            sums = flips[first : first + some].astype(np.float64) @ columns
            flipped[:, start + first : start + first + len(sums)] = sums.T
    result = []
    for row, of_row in zip(values, flipped, strict=True):
        mean = float(row.mean())
        result.append(_share_beyond(mean - 2.0 * of_row / n, mean, slack=_slack(row)))
    return result


def _share_beyond(means: FloatArray, mean: float, slack: float = 0.0) -> float:
    beyond = np.count_nonzero(np.abs(means) >= abs(mean) - slack)
    return (1 + int(beyond)) / (1 + len(means))


def _slack(values: FloatArray) -> float:
    """Two sums of the same numbers in another order may differ by this much."""
    return float(np.abs(values).sum()) * 1e-13
