"""A mean by people alone, by a machine alone, and corrected, of one random sample of queries.

`corrected` has the formulas; here one of them is chosen by how people's queries were drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from touchstone.sampling.estimation import (
    hajek_mean,
    mean_influence,
    poisson_variance,
    sequential_poisson_variance,
)
from touchstone.sampling.weighting import design_effect
from touchstone.statistics.corrected import (
    FEWEST_JUDGED,
    LEVEL,
    CorrectedMean,
    CorrectionRefusedError,
    Floats,
    Interval,
    corrected_list_mean,
    corrected_sample_mean,
    corrected_strata_mean,
    corrected_unequal_mean,
    people_mean,
    too_few,
)

Codes = npt.NDArray[np.int64]
Target = Literal["list", "population"]
MOST: Final = 10_000_000  # queries that are ever named as needed
# Where a minority of the values decides the variance, few queries may miss it. How many of it there
# must be, by its share, for normal intervals: Cochran 1977, "Sampling Techniques", table 3.3
SHARES: Final = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
FEWEST_OF_SHARE: Final = (80, 70, 60, 40, 24, 20, 15)
# The shares below which there is such a minority: of people's values that are not the most common
# one, and of queries where the machine's value is another
OTHER_VALUES, OTHER_THAN_MACHINE = 1 / 3, 1 / 2
# In simulations 95 % intervals held the mean less than 93 % of the time on fewer effective queries
FEWEST_EFFECTIVE: Final = 40


@dataclass(frozen=True, eq=False)
class PeoplesQueries:
    """Which of M queries, all judged by a machine, people judged, and by which chances.

    target: `list`, the mean is over exactly these M; `population`, they are a random sample of
    more, stratum by stratum. rows: (n,), the places of people's queries. strata: (M,), codes from
    0, and shares: (n_strata,), their shares of the mean. pi: (n,), the chances where they were
    unequal, in each stratum by sequential Poisson sampling, or for each query by itself if
    is_independent (Poisson sampling); None for equal ones in each stratum.
    """

    target: Target
    rows: Codes
    strata: Codes
    shares: Floats
    pi: Floats | None = None
    is_independent: bool = False


@dataclass(frozen=True)
class OneMean:
    """An estimated mean with its interval. n: the queries that it rests on."""

    value: float
    standard_error: float
    low: float
    high: float
    n: int

    @property
    def half(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class ThreeMeans:
    """The same mean three times. weight: λ, how much the machine counts in the corrected one.

    worth: how many more queries people would have to judge for an interval as narrow as the
    corrected one by people alone. spread: the standard deviation of what is left of people's values
    when the machine's are taken away. is_reliable: whether such intervals hold the mean as often as
    they say. The machine's interval leaves out its bias.
    """

    people: OneMean
    machine: OneMean
    corrected: OneMean
    weight: float
    worth: int
    spread: float
    is_reliable: bool

    @property
    def machine_off(self) -> float:
        """By how much the machine's mean differs from the corrected one; 0 inside its interval."""
        corrected, value = self.corrected, self.machine.value
        is_inside = corrected.low <= value <= corrected.high
        return 0.0 if is_inside else value - corrected.value


@dataclass(frozen=True)
class IntervalKind:
    """How intervals are made. interval: by quantiles of Student's t, or normal ones."""

    interval: Interval = "t"
    level: float = LEVEL

    def quantile(self, df: float) -> float:
        """Of half an interval, in standard errors."""
        edge = (1 + self.level) / 2
        is_t = self.interval == "t" and np.isfinite(df)
        return float(stdtrit(df, edge) if is_t else ndtri(edge))


def three_means(
    human: Floats,
    judge: Floats,
    drawn: PeoplesQueries,
    *,
    interval: Interval = "t",
    level: float = LEVEL,
) -> ThreeMeans:
    """human: (n,), of people's queries. judge: (M,), of all; per-query differences for two rankers.

    Raises CorrectionRefusedError where people judged fewer than 15 queries (of a stratum).
    """
    n, kind = len(human), IntervalKind(interval, level)
    if n < FEWEST_JUDGED and not (drawn.target == "list" and n == len(judge)):
        raise CorrectionRefusedError(too_few(n))
    if drawn.pi is not None:
        people, corrected = _unequal(human, judge, drawn, drawn.pi, kind)
    else:
        people, corrected = _by_strata(human, judge, drawn, kind)
    machine = _machine(judge, drawn, kind)
    weight = float(corrected.weight)
    residuals = human - weight * judge[drawn.rows]
    shown, better = _one(people, n), _one(corrected, n)
    return ThreeMeans(
        people=shown,
        machine=machine,
        corrected=better,
        weight=weight,
        worth=_worth(human, len(judge), drawn, (shown.half, better.half), kind),
        spread=float(residuals.std(ddof=min(2, n - 1))),
        is_reliable=has_long_enough_interval(human, judge, drawn),
    )


def _one(found: CorrectedMean, n: int) -> OneMean:
    return OneMean(
        float(found.estimate),
        float(found.standard_error),
        float(found.low),
        float(found.high),
        n,
    )


def _by_strata(
    human: Floats, judge: Floats, drawn: PeoplesQueries, kind: IntervalKind
) -> tuple[CorrectedMean, CorrectedMean]:
    """By people alone, and corrected."""
    own, how = drawn.strata[drawn.rows], vars(kind)
    people, corrected = [], []
    is_judged = np.zeros(len(judge), bool)
    is_judged[drawn.rows] = True
    for code in range(len(drawn.shares)):
        some, every = own == code, drawn.strata == code
        y, f = human[some], judge[drawn.rows[some]]
        if drawn.target == "list":
            people.append(people_mean(y, size=int(every.sum()), **how))
            corrected.append(corrected_list_mean(y, f, judge[every], **how))
        else:
            people.append(people_mean(y, **how))
            corrected.append(corrected_sample_mean(y, f, judge[every & ~is_judged], **how))
    if len(people) == 1:
        return people[0], corrected[0]
    return (
        corrected_strata_mean(people, drawn.shares, **how),
        corrected_strata_mean(corrected, drawn.shares, **how),
    )


def _unequal(
    human: Floats, judge: Floats, drawn: PeoplesQueries, pi: Floats, kind: IntervalKind
) -> tuple[CorrectedMean, CorrectedMean]:
    own = drawn.strata[drawn.rows]

    def variance(values: Floats) -> float:
        if drawn.is_independent:
            return poisson_variance(values, pi)
        return sequential_poisson_variance(values, pi, own)

    corrected = corrected_unequal_mean(human, judge[drawn.rows], pi, judge, variance, **vars(kind))
    value, error = hajek_mean(human, pi), sqrt(variance(mean_influence(human, pi)))
    half = kind.quantile(len(human) - 1) * error
    numbers = (value, error, value - half, value + half, 0.0, len(human) - 1)
    return CorrectedMean(*map(np.asarray, numbers)), corrected


def _machine(judge: Floats, drawn: PeoplesQueries, kind: IntervalKind) -> OneMean:
    """The machine's mean over all that it judged; of a fixed list it has no sampling error."""
    size = len(judge)
    groups = [judge[drawn.strata == code] for code in range(len(drawn.shares))]
    value = float(np.dot(drawn.shares, [group.mean() for group in groups]))
    if drawn.target == "list":
        return OneMean(value, 0.0, value, value, size)
    how = vars(kind)
    spreads = [people_mean(group, **how) for group in groups]
    is_one = len(spreads) == 1
    found = spreads[0] if is_one else corrected_strata_mean(spreads, drawn.shares, **how)
    return _one(found, size)


def _worth(
    human: Floats,
    size: int,
    drawn: PeoplesQueries,
    halves: tuple[float, float],
    kind: IntervalKind,
) -> int:
    """How many more queries people alone would need; 0 where the correction gains nothing.

    halves: half widths by people alone, and corrected.
    """
    n, (half, corrected) = len(human), halves
    if corrected >= half:
        return 0
    at = _half_by_people(human, drawn, half, kind)
    low, high = n, size if drawn.target == "list" else MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle) <= corrected else (middle, high)
    return high - n


def _half_by_people(
    human: Floats, drawn: PeoplesQueries, half: float, kind: IntervalKind
) -> Callable[[int], float]:
    """Half of the interval by people alone, by how many queries they judge, split as they are now.

    With unequal chances the standard error is taken to fall with the root of the number.
    """
    n = len(human)
    own = drawn.strata[drawn.rows]
    counts = np.bincount(own, minlength=len(drawn.shares)).astype(np.float64)
    if drawn.pi is not None:
        before = kind.quantile(n - 1)
        return lambda more: half * kind.quantile(more - 1) / before * sqrt(n / more)
    spreads = np.array([human[own == code].var(ddof=1) for code in range(len(counts))])
    sizes = np.bincount(drawn.strata, minlength=len(counts)).astype(np.float64)

    def at(more: int) -> float:
        wanted = counts * more / n
        left = np.maximum(1 - wanted / sizes, 0) if drawn.target == "list" else 1.0
        parts = drawn.shares**2 * left * spreads / wanted
        variance = float(parts.sum())
        if not variance:
            return 0.0
        df = variance**2 / float((parts**2 / (wanted - 1)).sum())
        return kind.quantile(df) * sqrt(variance)

    return at


def has_long_enough_interval(human: Floats, judge: Floats, drawn: PeoplesQueries) -> bool:
    """Whether the corrected 95 % interval holds the mean as often as it says, by these values.

    Not where, in some stratum, nearly all of people's values are one value, or are the machine's:
    the mean then depends on the few others, of which a sample may contain none. Nor where unequal
    chances leave few effective queries.
    """
    if len(human) == len(judge):
        return True
    if drawn.pi is not None:
        uncertain = drawn.pi[drawn.pi < 1]
        effect = design_effect(1 / uncertain) if len(uncertain) else 1.0
        if len(uncertain) and len(uncertain) / effect < FEWEST_EFFECTIVE:
            return False
    own = drawn.strata[drawn.rows]
    for code in range(len(drawn.shares)):
        some = own == code
        y, n = human[some], int(some.sum())
        if drawn.target == "list" and n == np.count_nonzero(drawn.strata == code):
            continue  # people judged all of it
        most = int(np.unique(y, return_counts=True)[1].max())
        same = int(np.count_nonzero(np.abs(y - judge[drawn.rows[some]]) < 1e-9))
        for count, least in ((n - most, OTHER_VALUES), (n - same, OTHER_THAN_MACHINE)):
            if count < least * n and count < np.interp(count / n, SHARES, FEWEST_OF_SHARE):
                return False
    return True


def queries_for(half: float, *, spread: float, size: int) -> int:
    """How many of a list's queries people judge for an interval of this half width; 15 or more.

    spread: the standard deviation of people's values less λ times the machine's. With Student's t
    of n − 2 degrees of freedom, and all queries where fewer do not do.
    """
    least = min(FEWEST_JUDGED, size)

    def at(n: int) -> float:
        error = sqrt((1 - n / size) / n) * spread
        return float(stdtrit(max(n - 2, 1), (1 + LEVEL) / 2)) * error

    if at(least) <= half:
        return least
    low, high = least, size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle) <= half else (middle, high)
    return high
