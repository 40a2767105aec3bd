"""Means and ratios of values that belong together in clusters, such as the pairs of a query.

Source: Liang & Zeger 1986 (variance by clusters).
"""

from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.statistics.intervals import half_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value with its interval; low and high are None with fewer than two clusters."""

    value: float
    standard_error: float | None
    low: float | None
    high: float | None


def clustered_mean(values: Floats, cluster: Ints) -> Estimate:
    """The mean of values, with Student's interval over clusters. cluster: codes from 0."""
    return clustered_ratio(values, np.ones(len(values)), cluster)


def clustered_ratio(numerators: Floats, denominators: Floats, cluster: Ints) -> Estimate:
    """Σ numerators / Σ denominators, with Student's interval over clusters, linearised.

    NaN, and no interval, where the denominators add up to 0.
    """
    total = float(denominators.sum())
    if not total:
        return Estimate(float("nan"), None, None, None)
    value = float(numerators.sum()) / total
    sums = np.bincount(cluster, weights=numerators - value * denominators)
    groups = len(sums)
    if groups < 2:
        return Estimate(value, None, None, None)
    error = sqrt(groups / (groups - 1) * float((sums**2).sum())) / total
    half = half_interval(error, groups, confidence=CONFIDENCE)
    assert half is not None
    return Estimate(value, error, value - half, value + half)
