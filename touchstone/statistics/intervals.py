"""The interval of a mean, from nothing but its standard error and the number of values."""

from functools import lru_cache
from typing import Final

from scipy.special import stdtrit

CONFIDENCE: Final = 0.95


def mean_interval(
    mean: float | None, error: float | None, n: int, *, confidence: float = CONFIDENCE
) -> tuple[float, float] | None:
    """Student's interval, mean ± t(n − 1) · error; None with fewer than two values.

    None as well where all values are equal: what does not vary says nothing of how it would.
    It knows no bounds: near 0 or 1 and over few values it reaches beyond them.
    Source: Student 1908.
    """
    half = half_interval(error, n, confidence=confidence)
    return None if mean is None or not half else (mean - half, mean + half)


def half_interval(error: float | None, n: int, *, confidence: float = CONFIDENCE) -> float | None:
    """Half of that interval: what stands behind a mean's ±. None with fewer than two values.

    0 where all values are equal: there is no interval then.
    """
    return None if error is None or n < 2 else _quantile(n - 1, confidence) * error


@lru_cache(maxsize=4096)
def _quantile(df: int, confidence: float) -> float:
    return float(stdtrit(df, (1 + confidence) / 2))
