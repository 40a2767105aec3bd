"""All pairs of many rankers at once, on the two-way layout of rankers and queries."""

from dataclasses import dataclass

import numpy as np

from touchstone.statistics.resampling import FloatArray
from touchstone.statistics.studentized_range import quantile, survival


@dataclass(frozen=True)
class PairOfRankers:
    """The difference second − first of two columns, its simultaneous interval and p-value."""

    first: int
    second: int
    difference: float
    low: float
    high: float
    p_value: float


def tukey_hsd(values: FloatArray, *, confidence: float = 0.95) -> list[PairOfRankers]:
    """Tukey's honestly significant difference of every pair of rankers.

    values: float64 (n_queries, n_rankers), every query scored for every ranker; at least two of
    each. Queries are blocks: what makes a query hard for all is taken out of the error, which a
    one-way test does not do, and so misses real differences.
    Raises ValueError for fewer than two queries or rankers.
    Source: Tukey 1953; Carterette 2012, "Multiple testing in statistical analysis of IR
    experiments".
    """
    n, k = values.shape
    if n < 2 or k < 2:
        raise ValueError("Tukey's test needs two queries and two rankers at least")
    means = values.mean(axis=0)
    df = (n - 1) * (k - 1)
    error = _error(values)
    reach = tukey_reach(values, confidence=confidence)
    pairs = []
    for first in range(k):
        for second in range(first + 1, k):
            difference = float(means[second] - means[first])
            p_value = _p_value(difference, error, k, df)
            low, high = difference - reach, difference + reach
            pairs.append(PairOfRankers(first, second, difference, low, high, p_value))
    return pairs


def tukey_reach(values: FloatArray, *, confidence: float = 0.95) -> float:
    """The smallest difference of two columns' means that is significant by the test of `tukey_hsd`.

    values: float64 (n_queries, n_rankers), at least two of each.
    """
    n, k = values.shape
    error = _error(values)
    if error == 0:
        return 0.0
    return error * quantile(confidence, k, (n - 1) * (k - 1))


def _error(values: FloatArray) -> float:
    """The standard error of a column's mean, from what rankers and queries leave unexplained."""
    n, k = values.shape
    residuals = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    return float(np.sqrt(float((residuals**2).sum()) / ((n - 1) * (k - 1)) / n))


def _p_value(difference: float, error: float, k: int, df: int) -> float:
    if error == 0:
        return 1.0 if difference == 0 else 0.0
    return survival(abs(difference) / error, k, df)
