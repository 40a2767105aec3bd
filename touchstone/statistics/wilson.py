"""How far a share can be trusted that was counted on few."""

from math import sqrt
from typing import Final

Z_95: Final = 1.959963984540054


def wilson_interval(hits: float, of: int, z: float = Z_95) -> tuple[float, float] | None:
    """The score interval of a share: fractions from 0 to 1; None where nothing was counted.

    hits: may be a fraction, where each that was counted is a mean of several draws.

    It stays inside 0 and 1, and is not a point for 0 of n or n of n.
    Raises ValueError for more hits than were counted, or fewer than none.
    Source: Wilson 1927, JASA 22; without continuity correction.
    """
    if not 0 <= hits <= of:
        raise ValueError("from none to all of those counted can be hits")
    if not of:
        return None
    share = hits / of
    square = z * z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = z * sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    # at the ends rounding must not step outside
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    high = 1.0 if hits == of else min(1.0, middle + half)
    return low, high
