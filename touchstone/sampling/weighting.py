"""Means over queries and over searches, what weights cost, and weights of today's traffic."""

from dataclasses import dataclass
from math import fsum

import numpy as np
import numpy.typing as npt

from touchstone.sampling.errors import SamplingError
from touchstone.sampling.estimation import Codes, Floats


@dataclass(frozen=True, eq=False)
class WeightedMean:
    """A mean Σ w y / Σ w of a sample.

    influence: (n,), the values whose Horvitz-Thompson total has this mean's variance: hand them to
    the design's variance in `estimation`. design_effect: Kish's, what unequal weights alone make of
    the variance. effective_n: the queries of equal weight that would say as much.
    """

    value: float
    influence: Floats
    design_effect: float
    effective_n: float


def mean_per_query(values: Floats, pi: Floats) -> WeightedMean:
    """The mean in which every query of the frame counts once: Hájek's.

    values, pi: (n,), of the sample.
    """
    return _mean(values, pi, np.ones(len(values)))


def mean_per_search(values: Floats, pi: Floats, searches: npt.ArrayLike) -> WeightedMean:
    """The mean in which every search counts once: Σ t y/π / Σ t/π.

    searches: t, (n,), how often each query of the sample is searched: today's, rather than those
    that it was drawn by. Where the chances are in proportion to them, the weights are nearly equal.
    """
    return _mean(values, pi, np.asarray(searches, np.float64))


def _mean(values: Floats, pi: Floats, counts: Floats) -> WeightedMean:
    weights = counts / pi
    whole = fsum(weights)
    value = fsum(weights * values) / whole
    effect = design_effect(weights)
    influence = counts * (values - value) / whole
    return WeightedMean(value, influence, effect, len(values) / effect)


def design_effect(weights: Floats) -> float:
    """n Σw² / (Σw)²: 1 for equal weights, and larger the more unequal they are.

    Source: Kish 1965, section 11.7.
    """
    return len(weights) * fsum(weights**2) / fsum(weights) ** 2


def post_stratified_mean(
    values: Floats,
    pi: Floats,
    groups: Codes,
    totals: npt.ArrayLike,
    counted: npt.NDArray[np.bool_] | None = None,
) -> WeightedMean:
    """The mean with each group weighted by what it really is: Σ_g (N_g / N) · mean_g.

    groups: (n,), a code from 0, of each query of the sample. totals: N_g, the queries (or searches)
    of each group today, known from the whole frame. For a mean per search of a sample, pass
    `pi / searches` as pi. counted: which queries the mean is of, if only of some (a domain); None
    for all. Raises SamplingError for a group of which nothing was drawn.
    Source: Särndal, Swensson & Wretman 1992, sections 7.6 and 10.6.
    """
    known = np.asarray(totals, np.float64)
    drawn = np.bincount(groups, weights=1 / pi, minlength=len(known))
    if len(drawn) > len(known) or (drawn[known > 0] == 0).any():
        raise SamplingError("every group needs its total and a query in the sample; join groups")
    drawn = np.where(drawn > 0, drawn, 1)
    factor = (known / drawn)[groups]
    counts = np.ones(len(values)) if counted is None else counted.astype(np.float64)
    weights = counts * factor / pi
    whole = fsum(weights)
    if not whole > 0:
        raise SamplingError("no query of the sample counts")
    value = fsum(weights * values) / whole
    own = counts * (values - value) / whole
    of_group = np.bincount(groups, weights=own / pi, minlength=len(known)) / drawn
    effect = design_effect(weights[weights > 0])
    return WeightedMean(
        value,
        factor * (own - of_group[groups]),
        effect,
        int(np.count_nonzero(counts)) / effect,
    )
