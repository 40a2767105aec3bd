"""Two rankers on the same queries: how large the difference is, and how sure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import nctdtr, stdtr, stdtrit

from touchstone.statistics.named_tests import TESTS, Test
from touchstone.statistics.resampling import (
    FloatArray,
    bca_intervals,
    bootstrap_p_value,
    sign_flip_p_values,
)

FEWEST_OF_AN_INTERVAL: Final = 2  # queries
FEWEST: Final = 6  # queries; with five, not even all differences of one sign reach 0.05


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What n paired differences say. All differences are of the later ranker minus the baseline.

    mean: of the differences. low, high: its interval; None with fewer than two queries.
    p_value: None with fewer than six queries, which no test can call significant.
    effect: the mean in standard deviations of the differences (Cohen's d for pairs); None where
    they do not vary. detectable: the smallest mean difference that this many queries with this
    spread show with a power of 80 % at 5 %; None where unknown.
    wins, ties, losses: queries on which the later ranker is better, equal, worse.
    """

    n: int
    mean: float | None
    low: float | None
    high: float | None
    p_value: float | None
    effect: float | None
    detectable: float | None
    wins: int
    ties: int
    losses: int


def compare(
    differences: FloatArray,
    *,
    test: Test = "randomization",
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Comparison:
    """The comparison that paired differences make.

    differences: float64 (n,), one for each query that is in both means; order does not matter to
    anything but the drawing of samples.
    Raises ValueError for a test that does not exist.
    """
    (result,) = compare_all(
        [differences], test=test, resamples=resamples, seed=seed, confidence=confidence
    )
    return result


def compare_all(
    some: Sequence[FloatArray],
    *,
    test: Test = "randomization",
    resamples: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[Comparison]:
    """`compare` of each, in little more time than of one where they have equally many queries."""
    if test not in TESTS:
        raise ValueError(f"there is no test {test!r}")
    intervals: dict[int, tuple[float, float]] = {}
    p_values: dict[int, float] = {}
    for n in {len(one) for one in some if len(one) >= FEWEST_OF_AN_INTERVAL}:
        positions = [position for position, one in enumerate(some) if len(one) == n]
        rows = np.stack([some[position] for position in positions])
        result = bca_intervals(rows, resamples=resamples, seed=seed, confidence=confidence)
        intervals |= dict(zip(positions, result, strict=True))
        if n >= FEWEST:
            tested = _p_values(rows, test=test, resamples=resamples, seed=seed)
            p_values |= dict(zip(positions, tested, strict=True))
    return [
        _comparison(one, intervals.get(position), p_values.get(position))
        for position, one in enumerate(some)
    ]


def _comparison(
    differences: FloatArray, interval: tuple[float, float] | None, p_value: float | None
) -> Comparison:
    n = len(differences)
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    low, high = interval or (None, None)
    effect = detectable = None
    if n >= FEWEST_OF_AN_INTERVAL:
        spread = float(differences.std(ddof=1))
        effect = float(differences.mean()) / spread if spread > 0 else None
        detectable = detectable_difference(spread=spread, n=n) if spread > 0 else None
    return Comparison(
        n=n,
        mean=float(differences.mean()) if n else None,
        low=low,
        high=high,
        p_value=p_value,
        effect=effect,
        detectable=detectable,
        wins=wins,
        ties=n - wins - losses,
        losses=losses,
    )


def t_p_value(differences: FloatArray) -> float:
    """Two-sided p-value of Student's paired t test; 1 where all differences are 0, else 0 spread.

    differences: (n,), n at least 2. Differences that are all the same, and not 0, give 0.
    """
    n = len(differences)
    spread = float(differences.std(ddof=1))
    mean = float(differences.mean())
    if np.ptp(differences) == 0:
        return 1.0 if mean == 0 else 0.0
    statistic = mean / (spread / np.sqrt(n))
    return float(2 * stdtr(n - 1, -abs(statistic)))


def power_of(*, difference: float, spread: float, n: int, level: float = 0.05) -> float:
    """The chance that n queries show a mean difference at the level, two-sided, by a t test.

    spread: the standard deviation of the differences.
    Source: Cohen 1988; by the noncentral t distribution, no approximation.
    """
    edge = stdtrit(n - 1, level / 2)  # the lower one, below 0
    shift = abs(difference) / spread * np.sqrt(n)
    return float(nctdtr(n - 1, -shift, edge) + nctdtr(n - 1, shift, edge))


def detectable_difference(
    *, spread: float, n: int, power: float = 0.8, level: float = 0.05
) -> float:
    """The smallest mean difference that n queries show with the power; n at least 2."""
    low, high = 0.0, spread * 20
    for _ in range(60):
        middle = (low + high) / 2
        if power_of(difference=middle, spread=spread, n=n, level=level) < power:
            low = middle
        else:
            high = middle
    return high


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """Holm's step-down correction: the adjusted p-values of a family of tests, in their order.

    Source: Holm 1979.
    """
    raw = np.asarray(p_values, np.float64)
    order = np.argsort(raw, kind="stable")
    scaled = raw[order] * np.arange(len(raw), 0, -1)
    adjusted = np.empty(len(raw))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


def _p_values(rows: FloatArray, *, test: Test, resamples: int, seed: int) -> list[float]:
    if test == "t":
        return [t_p_value(row) for row in rows]
    if test == "bootstrap":
        return [bootstrap_p_value(row, resamples=resamples, seed=seed) for row in rows]
    return sign_flip_p_values(rows, resamples=resamples, seed=seed)
