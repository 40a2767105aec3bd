"""How many queries to draw from each stratum."""

from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.sampling.errors import SamplingError

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

FEWEST: Final = 2  # of a stratum: one alone says nothing of how its values vary
_STEPS: Final = 200  # of a bisection: past what float64 tells apart
_NEARLY: Final = 1e-9  # a share that is whole but for rounding is whole


def proportional(n: int, shares: npt.ArrayLike, counts: npt.ArrayLike) -> Counts:
    """n queries split as the shares, int64 (n_strata,): at least 2 and at most all of each stratum.

    shares: (n_strata,), above 0 in proportion, such as the counts, or the sums of the sizes.
    counts: N_h, how many queries each stratum has.
    What is left over after rounding down goes to the largest remainders, in the order of the strata
    where they are equal. Raises SamplingError for n above what there is or below 2 of each stratum.
    """
    own = np.asarray(counts, np.int64)
    if n > own.sum():
        raise SamplingError(f"{n:,} queries can't be drawn from {own.sum():,}")
    return _split(float(n), np.asarray(shares, np.float64), own, np.ones(len(own)))


def neyman(
    n: int, counts: npt.ArrayLike, spreads: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> Counts:
    """n queries split so that the mean has the smallest variance: n_h in proportion to W_h · S_h.

    spreads: S_h, the standard deviation of the values in each stratum, as expected. weights: W_h,
    each stratum's share of the mean; None for its share of the queries. At least 2 of each stratum,
    at most all of it. Raises SamplingError as `proportional` does.
    Source: Neyman 1934.
    """
    own = np.asarray(counts, np.int64)
    if n > own.sum():
        raise SamplingError(f"{n:,} queries can't be drawn from {own.sum():,}")
    return cost_optimal(float(n), own, spreads, np.ones(len(own)), weights)


def cost_optimal(
    budget: float,
    counts: npt.ArrayLike,
    spreads: npt.ArrayLike,
    costs: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
) -> Counts:
    """The split of a budget whose mean has the smallest variance.

    n_h = budget · (W_h S_h / √c_h) / Σ W_h S_h √c_h, at least 2 and at most all of each stratum;
    what bounds leave or take is split among the others in the same way. costs: c_h, of one query of
    each stratum, in the unit of the budget (labels, say). Never costs more than the budget.
    Raises SamplingError where that does not pay for 2 queries of each stratum.
    Source: Cochran 1977, Sampling Techniques, section 5.5.
    """
    own, price = np.asarray(counts, np.int64), np.asarray(costs, np.float64)
    if not (np.isfinite(price) & (price > 0)).all():
        raise SamplingError("costs are above 0")
    share = own / own.sum() if weights is None else np.asarray(weights, np.float64)
    spread = np.asarray(spreads, np.float64)
    if not (np.isfinite(spread) & (spread >= 0)).all():
        raise SamplingError("standard deviations are 0 or above")
    return _split(budget, share * spread / np.sqrt(price), own, price)


def _split(budget: float, factors: Floats, most: Counts, costs: Floats) -> Counts:
    """Counts in proportion to the factors and within bounds, that cost no more than the budget."""
    least = np.minimum(FEWEST, most)
    if budget < (least * costs).sum():
        raise SamplingError(
            f"{budget:,.6g} is too little for {len(most):,} strata: it takes "
            f"{(least * costs).sum():,.6g} to draw {FEWEST} queries of each"
        )
    # strata without any spread come last, in proportion to their queries
    factors = factors + (factors.max() or 1.0) * 1e-12 * most / most.sum()
    low, high = 0.0, float((most / factors).max())
    for _ in range(_STEPS):
        middle = (low + high) / 2
        spent = (np.clip(middle * factors, least, most) * costs).sum()
        low, high = (middle, high) if spent <= budget else (low, middle)
    exact = np.clip(high * factors, least, most)
    found = np.floor(exact + _NEARLY).astype(np.int64)
    left = budget - float((found * costs).sum())
    for stratum in np.argsort(found - exact, kind="stable").tolist():
        if found[stratum] < most[stratum] and costs[stratum] <= left + _NEARLY:
            found[stratum] += 1
            left -= float(costs[stratum])
    return found
