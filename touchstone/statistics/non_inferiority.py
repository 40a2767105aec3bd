"""Whether a run may replace another: no worse by more than a margin, on the same queries."""

from dataclasses import dataclass
from math import sqrt
from typing import Final, Literal

import numpy as np
from scipy.special import stdtrit

from touchstone.statistics.paired import detectable_difference, power_of
from touchstone.statistics.resampling import FloatArray

LEVEL: Final = 0.95
POWER: Final = 0.8
MOST: Final = 10**9  # queries; where not even these would decide, no number is given

Verdict = Literal["better", "no worse", "worse", "inconclusive"]


@dataclass(frozen=True, kw_only=True)
class NonInferiority:
    """What n paired differences (run minus baseline) say about a margin.

    difference: their mean. low, high: Student's two-sided interval of it; both None with fewer than
    two queries. mdd: the smallest mean difference that so many queries with this spread show with a
    power of 80 %; None where the differences do not vary. needed: where the verdict is
    inconclusive, how many queries would decide at least four times out of five if the true
    difference and spread were those seen here; None otherwise, and where no number would.
    """

    n: int
    difference: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    mdd: float | None
    needed: int | None


def non_inferiority(
    differences: FloatArray, *, margin: float, level: float = LEVEL
) -> NonInferiority:
    """The verdict on a run by its per-query differences to a baseline.

    differences: float64 (n,), run minus baseline, one for each query that is in both means.
    margin: how much worse the run may be, in the measure's units, 0 or more.
    level: of the two-sided interval, between 0 and 1.
    Raises ValueError for a margin below 0 or a level outside 0 to 1.
    Source: Piaggio et al. 2012 (CONSORT, non-inferiority), by Student's paired interval.
    """
    check(margin=margin, level=level)
    n = len(differences)
    if n < 2:
        return NonInferiority(
            n=n,
            difference=float(differences[0]) if n else None,
            low=None,
            high=None,
            verdict="inconclusive",
            mdd=None,
            needed=None,
        )
    low, high = map(float, student_interval(differences, level=level))
    difference, spread = float(differences.mean()), float(differences.std(ddof=1))
    verdict = verdict_of(low=low, high=high, margin=margin)
    varies = low < high
    needed = None
    if varies and verdict == "inconclusive":
        needed = _needed(difference, spread=spread, margin=margin, level=level, n=n)
    return NonInferiority(
        n=n,
        difference=difference,
        low=low,
        high=high,
        verdict=verdict,
        mdd=detectable_difference(spread=spread, n=n, power=POWER, level=1 - level)
        if varies
        else None,
        needed=needed,
    )


def check(*, margin: float, level: float) -> None:
    """Raises ValueError for a margin below 0 or a level outside 0 to 1."""
    if not 0 <= margin < float("inf"):
        raise ValueError("the margin must be 0 or more")
    if not 0 < level < 1:
        raise ValueError("the level must lie between 0 and 1")


def student_interval(differences: FloatArray, *, level: float) -> tuple[FloatArray, FloatArray]:
    """Both ends of Student's two-sided interval of the mean of each row.

    differences: float64 (…, n), n at least 2. Returns two arrays of shape (…). Of a row whose
    values are all equal, the interval is the point.
    """
    n = differences.shape[-1]
    mean = differences.mean(axis=-1)
    half = stdtrit(n - 1, (1 + level) / 2) * differences.std(axis=-1, ddof=1) / sqrt(n)
    # the mean of equal values can miss them by a rounding, and the spread then is not 0
    is_point = np.ptp(differences, axis=-1) == 0
    first = differences[..., 0]
    return np.where(is_point, first, mean - half), np.where(is_point, first, mean + half)


def verdict_of(*, low: float, high: float, margin: float) -> Verdict:
    """The verdict of an interval of the mean difference.

    better: it lies above 0. no worse: above −margin. worse: below 0, and not above −margin.
    A run is not worse merely because its interval reaches below −margin: among equal runs that is
    usual where queries are few.
    """
    if low > 0:
        return "better"
    if low > -margin:
        return "no worse"
    return "worse" if high < 0 else "inconclusive"


def _needed(difference: float, *, spread: float, margin: float, level: float, n: int) -> int | None:
    """How many queries decide with the power, at this difference and spread; more than n."""
    distance = max(difference + margin, -difference)  # to what the interval has to exclude

    def decides(count: int) -> bool:
        return power_of(difference=distance, spread=spread, n=count, level=1 - level) >= POWER

    few, many = n, 2 * n
    while distance > 0 and many < MOST and not decides(many):
        few, many = many, 2 * many
    if distance <= 0 or many >= MOST:
        return None
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if decides(middle) else (middle, many)
    return many
