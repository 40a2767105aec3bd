"""Two readings of a judged sample: the mean per query and the mean per search."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from touchstone.sampling.errors import SamplingError
from touchstone.sampling.estimation import (
    Codes,
    Floats,
    sequential_poisson_variance,
    standard_error,
    stratified_variance,
)
from touchstone.sampling.weighting import (
    WeightedMean,
    design_effect,
    mean_per_search,
    post_stratified_mean,
)

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SampledValues:
    """The drawn queries of a plan, an entry each, (n,).

    pi: inclusion probabilities. strata: codes from 0. counts: N_h, the queries of each stratum in
    the frame. searches: of each query. by_size: drawn by sequential Poisson in each stratum;
    else with equal probabilities.
    """

    pi: Floats
    strata: Codes
    counts: Floats
    searches: Floats
    by_size: bool

    def variance(self, values: Floats) -> float:
        """Of the Horvitz-Thompson total of these values, under the design.

        Raises SamplingError where a stratum has one query alone that was not certain to be drawn.
        """
        if self.by_size:
            return sequential_poisson_variance(values, self.pi, self.strata)
        return stratified_variance(values, self.strata, self.counts)


@dataclass(frozen=True)
class SampleReading:
    """A mean of a sample.

    value: None where no query counts. standard_error: design-based; None where a stratum does not
    allow one. n: queries in the mean. df: degrees of freedom: the queries that count and were not
    certain, less one for each of their strata. design_effect: Kish's, of the unequal weights;
    effective_n: n divided by it. uncertain_n: the effective number of those queries that were not
    certain to be drawn, on which the standard error rests; None where all were certain.
    """

    value: float | None
    standard_error: float | None
    n: int
    df: int
    design_effect: float | None
    effective_n: float | None
    uncertain_n: float | None


NOTHING = SampleReading(None, None, 0, 0, None, None, None)


def two_readings(
    values: Floats, counted: Flags, sample: SampledValues
) -> tuple[SampleReading, SampleReading]:
    """The mean per query and the mean per search over the queries that count.

    values, counted: (n,), of the sample's queries; what is not counted is outside the mean, as
    queries without a relevant document are for some measures, and is no part of the population
    that the mean is of (a domain). Source: Särndal, Swensson & Wretman 1992, section 5.8.
    """
    if not counted.any():
        return NOTHING, NOTHING
    own = np.where(counted, values, 0.0)
    return (
        _reading(own, counted, counted.astype(np.float64), sample),
        _reading(own, counted, counted * sample.searches, sample),
    )


def post_stratified_readings(
    values: Floats,
    counted: Flags,
    sample: SampledValues,
    *,
    queries: Floats,
    searches: Floats,
) -> tuple[SampleReading, SampleReading]:
    """`two_readings` with each stratum weighted by what it is now, rather than when it was drawn.

    queries, searches: of each stratum, (n_strata,), in the traffic that the means shall be of. The
    mean of a stratum stays what the sample says. Strata of which nothing counts say nothing: both
    are without a value then, unless such a stratum has no traffic either.
    """
    if not counted.any():
        return NOTHING, NOTHING
    own = np.where(counted, values, 0.0)
    found = []
    for totals, weight in ((queries, np.ones(len(own))), (searches, sample.searches)):
        try:
            mean = post_stratified_mean(own, sample.pi / weight, sample.strata, totals, counted)
        except SamplingError:
            found.append(NOTHING)
            continue
        drawn = np.bincount(sample.strata, weights=weight / sample.pi, minlength=len(totals))
        factor = np.divide(totals, drawn, out=np.zeros(len(totals)), where=drawn > 0)
        weights = counted * factor[sample.strata] * weight / sample.pi
        found.append(_read(mean, mean.influence * weight, counted, weights, sample))
    return found[0], found[1]


def _reading(
    values: Floats, counted: Flags, weight: Floats, sample: SampledValues
) -> SampleReading:
    mean = mean_per_search(values, sample.pi, weight)
    return _read(mean, mean.influence, counted, weight / sample.pi, sample)


def _read(
    mean: WeightedMean, influence: Floats, counted: Flags, weights: Floats, sample: SampledValues
) -> SampleReading:
    """weights: of all queries of the sample, in the mean; 0 for what does not count."""
    try:
        error = standard_error(sample.variance(influence))
    except SamplingError:
        error = None
    n = int(np.count_nonzero(counted))
    drawn = counted & (sample.pi < 1)
    df = int(np.count_nonzero(drawn)) - len(np.unique(sample.strata[drawn]))
    effect = design_effect(weights[counted])
    uncertain = weights[drawn]
    rests_on = len(uncertain) / design_effect(uncertain) if len(uncertain) else None
    return SampleReading(mean.value, error, n, max(df, 0), effect, n / effect, rests_on)
