"""Rounding as tools round: in decimals, exactly.

"nearest" is printf's: the decimal nearest to the binary number, a tie to the even digit. "half_up"
is Java's Math.round(value × 10^d) / 10^d. "floor" is BigDecimal's, downwards: from exact quotients
of the numbers given, not from quotients that were rounded before.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np

from touchstone.measures.definition import Measure
from touchstone.measures.discounts import FloatArray, divisors
from touchstone.measures.errors import MeasureError

_LARGEST_SUM = 2**31  # in units of the last decimal: products of two stay within 64 bits


def rounded_values(measure: Measure, values: FloatArray) -> FloatArray:
    """Values of queries, rounded as the measure says."""
    return _rounded(measure, values) if measure.rounded == "query" else values


def rounded_mean(measure: Measure, mean: float | None) -> float | None:
    """The value of a run, rounded where the measure says so."""
    if mean is None or measure.rounded != "mean":
        return mean
    return float(_rounded(measure, np.array([mean]))[0])


def _rounded(measure: Measure, values: FloatArray) -> FloatArray:
    if measure.decimals is None:
        return values
    if measure.rounding == "nearest":
        return np.array([float(f"{value:.{measure.decimals}f}") for value in values.tolist()])
    unit = 10.0**measure.decimals
    scaled = values * unit
    whole = np.floor(scaled)
    if measure.rounding == "half_up":
        whole += scaled - whole >= 0.5
    return whole / unit


def floored_terms(measure: Measure, gain_rows: FloatArray) -> FloatArray:
    """What every rank adds, rounded down, in units of the last decimal: whole numbers."""
    width, decimals = gain_rows.shape[1], measure.decimals or 0
    by_rank = tuple(divisors(measure, width).tolist())
    known, positions = np.unique(gain_rows, return_inverse=True)
    table = np.array([_floored(gain, by_rank, decimals) for gain in known.tolist()], np.float64)
    terms = table.reshape(len(known), width)[positions.reshape(gain_rows.shape), np.arange(width)]
    if np.abs(terms).sum(axis=1).max(initial=0.0) > _LARGEST_SUM:
        raise MeasureError(f"{measure.name}: the gains are too large to be rounded at every rank")
    return np.asarray(terms, np.float64)


def floored_quotients(measure: Measure, own: FloatArray, ideal: FloatArray) -> FloatArray:
    """own / ideal, rounded down. Both are sums of `floored_terms`, in decimals; ideal is not 0."""
    unit = 10 ** (measure.decimals or 0)
    dividend = np.rint(own * unit).astype(np.int64) * unit
    return np.asarray((dividend // np.rint(ideal * unit).astype(np.int64)) / unit, np.float64)


@lru_cache(maxsize=4096)
def _floored(gain: float, by_rank: tuple[float, ...], decimals: int) -> tuple[float, ...]:
    scaled = Fraction(gain) * 10**decimals
    return tuple(float(scaled // Fraction(divisor)) for divisor in by_rank)
