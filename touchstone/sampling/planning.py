"""What a budget buys, and what a difference costs to detect, before anything is judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.sampling.allocation import FEWEST, Counts, Floats, cost_optimal
from touchstone.sampling.errors import SamplingError

POWER: Final = 0.8
LEVEL: Final = 0.05


@dataclass(frozen=True, eq=False)
class PlannedStrata:
    """What is known of the strata before judging; (n_strata,) each.

    counts: N_h, their queries. spreads: S_h, the standard deviation of what is to be estimated, as
    past samples have it: per-query values for a mean, paired differences for a comparison. costs:
    c_h, of one query judged completely, in labels or money, with overlap and gold checks in it.
    weights: W_h, each stratum's share of the mean: of the queries, or of the searches.
    """

    names: tuple[str, ...]
    counts: Counts
    spreads: Floats
    costs: Floats
    weights: Floats

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        counts: npt.ArrayLike,
        spreads: npt.ArrayLike,
        costs: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
    ) -> "PlannedStrata":
        """weights: in any unit; None for the counts."""
        own = np.asarray(counts, np.int64)
        share = own if weights is None else np.asarray(weights, np.float64)
        return cls(
            tuple(names),
            own,
            np.asarray(spreads, np.float64),
            np.asarray(costs, np.float64),
            share / share.sum(),
        )


@dataclass(frozen=True, eq=False)
class ExpectedPrecision:
    """An allocation and what to expect of it.

    n: int64 (n_strata,), queries of each stratum. cost: of all. standard_error: of the mean.
    detectable: the smallest difference that is shown with the power asked for.
    """

    n: Counts
    cost: float
    standard_error: float
    detectable: float


def plan_for_budget(
    strata: PlannedStrata, budget: float, *, power: float = POWER, level: float = LEVEL
) -> ExpectedPrecision:
    """The cost-optimal allocation of a budget, in the unit of the strata's costs.

    power, level: of the detectable difference, by a two-sided test.
    Raises SamplingError where the budget does not pay for 2 queries of each stratum.
    """
    n = cost_optimal(budget, strata.counts, strata.spreads, strata.costs, strata.weights)
    error = expected_standard_error(strata, n)
    cost = float((n * strata.costs).sum())
    return ExpectedPrecision(n, cost, error, detectable_difference(error, power=power, level=level))


def plan_for_difference(
    strata: PlannedStrata, difference: float, *, power: float = POWER, level: float = LEVEL
) -> ExpectedPrecision:
    """The cheapest allocation that shows a difference of this size with the power.

    The smallest budget is found by bisection, to within the price of the cheapest query.
    Raises SamplingError for a difference that is not above 0.
    """
    if not difference > 0:
        raise SamplingError("a difference to detect is above 0")
    least = float((np.minimum(FEWEST, strata.counts) * strata.costs).sum())
    low, high = least, float((strata.counts * strata.costs).sum())
    step = float(strata.costs.min())
    found = plan_for_budget(strata, low, power=power, level=level)
    if found.detectable <= difference:
        return found
    while high - low > step / 2:
        middle = (low + high) / 2
        if plan_for_budget(strata, middle, power=power, level=level).detectable <= difference:
            high = middle
        else:
            low = middle
    return plan_for_budget(strata, high, power=power, level=level)


def expected_standard_error(strata: PlannedStrata, n: Counts) -> float:
    """√ Σ W_h² (1 − n_h/N_h) S_h²/n_h, of the stratified mean with n_h queries of each stratum.

    Source: Cochran 1977, theorem 5.3.
    """
    left = 1 - n / strata.counts
    return sqrt(float((strata.weights**2 * left * strata.spreads**2 / n).sum()))


def detectable_difference(
    standard_error: float, *, power: float = POWER, level: float = LEVEL
) -> float:
    """The smallest difference that a two-sided test shows with the power.

    (z₁₋α/₂ + z_power) · standard error, with normal quantiles.
    """
    normal = NormalDist()
    return (normal.inv_cdf(1 - level / 2) + normal.inv_cdf(power)) * standard_error
