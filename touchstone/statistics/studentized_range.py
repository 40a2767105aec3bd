"""The studentized range, which Tukey's test asks: a sum over a grid, without scipy.stats.

scipy.stats takes a second to import, which no page is to wait for, and ten milliseconds for each
probability.
"""

from functools import cache
from typing import Final

import numpy as np
from scipy.special import ndtr

from touchstone.statistics.resampling import FloatArray

# The integrands are analytic and fall off at both ends, so equal steps (the trapezoid rule) are
# exact to the last digits as soon as they resolve the narrowest part.
STEP: Final = 1 / 8  # of the largest value's standard deviation
FARTHEST: Final = 8.5
NEGLIGIBLE: Final = -40.0  # a density's logarithm, below its peak


def survival(q: float, k: int, df: float) -> float:
    """The chance that the range of k means is above q standard errors, of df degrees of freedom.

    q: 0 or more. k: 2 or more. df: k − 1 or more. Absolute error below 1e-10.
    Source: Lund & Lund 1983, AS 190: the range's distribution, averaged over the error's.
    """
    deviations, weights = _deviations(df)
    z = np.arange(-FARTHEST, FARTHEST + STEP, STEP)
    below = ndtr(z)
    # k − 1 values below the largest, z, less those that are also no farther from it than the range
    beyond = below ** (k - 1) - (below - ndtr(z - q * deviations[:, None])) ** (k - 1)
    density = k * STEP * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return float(weights @ (beyond @ density))


@cache
def quantile(confidence: float, k: int, df: float) -> float:
    """The q that the range is above with the chance 1 − confidence."""
    low, high = 0.0, 8.0
    while survival(high, k, df) > 1 - confidence:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if survival(middle, k, df) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def _deviations(df: float) -> tuple[FloatArray, FloatArray]:
    """The error's estimated standard deviation, in units of the true one, and each one's chance."""

    def log_density(t: FloatArray) -> FloatArray:
        return df * (t - np.expm1(2 * t) / 2)

    width = 1 / np.sqrt(2 * df)
    step = min(0.15, 0.4 * width)
    t = np.arange(-10 * width + NEGLIGIBLE / df, 10 * width + 3 / np.sqrt(df), step)
    t = t[log_density(t) > NEGLIGIBLE]
    density = np.exp(log_density(t))
    return np.exp(t), density / density.sum()
