"""Totals and means of a sample, and their standard errors under the design that drew it.

A total's variance is a function of the values; a mean's is that of the values of `mean_influence`
(linearisation). values, pi: float64 (n,), an entry for each query of the sample. A query with a
chance of 1 is in every sample and adds nothing to any variance.
"""

from collections.abc import Callable
from math import fsum

import numpy as np
import numpy.typing as npt

from touchstone.sampling.errors import SamplingError

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.integer]
Variance = Callable[[Floats], float]  # of the total of values


def total(values: Floats, pi: Floats) -> float:
    """Σ y/π, Horvitz and Thompson's estimate of the sum over all queries of the frame."""
    return fsum(values / pi)


def hajek_mean(values: Floats, pi: Floats) -> float:
    """Σ (y/π) / Σ (1/π), the estimated mean over all queries of the frame.

    Source: Hájek 1971.
    """
    return fsum(values / pi) / fsum(1 / pi)


def mean_influence(values: Floats, pi: Floats) -> Floats:
    """The values whose total has the variance of the Hájek mean: (y − mean) / Σ (1/π).

    Source: Särndal, Swensson & Wretman 1992, section 5.5.
    """
    return (values - hajek_mean(values, pi)) / fsum(1 / pi)


def with_replacement_variance(values: Floats, pi: Floats, strata: Codes | None = None) -> float:
    """n/(n − 1) · Σ (z − Σz/n)², z = y/π, summed over the strata: as if drawn with replacement.

    Needs no joint chances, and is too large where much of the frame was drawn. Queries with π = 1
    are left out. Raises SamplingError for a stratum with one query whose chance is below 1.
    Source: Hansen & Hurwitz 1943.
    """
    codes = np.zeros(len(values), np.int64) if strata is None else strata
    z, drawn = values / pi, pi < 1
    return fsum(_spread_of(z[drawn & (codes == code)]) for code in np.unique(codes[drawn]).tolist())


def _spread_of(z: Floats) -> float:
    n = len(z)
    if n < 2:
        raise SamplingError(
            "one query with a chance below 1 alone has no variance, nor its stratum"
        )
    return n / (n - 1) * fsum((z - fsum(z) / n) ** 2)


def horvitz_thompson_variance(values: Floats, pi: Floats, joint: Floats) -> float:
    """ΣΣ (1 − πᵢπⱼ/πᵢⱼ) zᵢzⱼ; it may be negative. joint: (n, n), πᵢⱼ, with πᵢᵢ = πᵢ.

    Source: Horvitz & Thompson 1952.
    """
    z = values / pi
    return float(((1 - np.outer(pi, pi) / joint) * np.outer(z, z)).sum())


def yates_grundy_variance(values: Floats, pi: Floats, joint: Floats) -> float:
    """−½ ΣΣ (1 − πᵢπⱼ/πᵢⱼ)(zᵢ − zⱼ)², for samples of a fixed size. joint: (n, n).

    Source: Yates & Grundy 1953; Sen 1953.
    """
    z = values / pi
    return float(-((1 - np.outer(pi, pi) / joint) * np.subtract.outer(z, z) ** 2).sum() / 2)


def stratified_variance(values: Floats, strata: Codes, counts: Floats) -> float:
    """Σ N_h² (1 − n_h/N_h) s_h²/n_h, of the total, for simple random samples of each stratum.

    strata: (n,), a code from 0. counts: N_h of each code, how many queries its stratum has.
    It is Horvitz and Thompson's and Yates and Grundy's for this design. A stratum that was drawn
    whole adds nothing. Raises SamplingError for one query of a stratum that has more.
    Source: Cochran 1977, theorem 5.3.
    """
    terms = []
    for code, count in enumerate(counts.tolist()):
        own = values[strata == code]
        n = len(own)
        if n == count:
            continue
        if n < 2:
            raise SamplingError("a stratum of which one query was drawn has no variance; join it")
        terms.append(count**2 * (1 - n / count) / n * fsum((own - fsum(own) / n) ** 2) / (n - 1))
    return fsum(terms)


def poisson_variance(values: Floats, pi: Floats) -> float:
    """Σ (1 − π) z², of the total, where each query was drawn for itself.

    Source: Särndal, Swensson & Wretman 1992, section 3.5.
    """
    return fsum((1 - pi) * (values / pi) ** 2)


def sequential_poisson_variance(values: Floats, pi: Floats, strata: Codes | None = None) -> float:
    """n/(n − 1) · Σ (1 − π)(z − B)², B = Σ (1 − π) z / Σ (1 − π), of the total, over the strata.

    n: the queries with a chance below 1. Raises SamplingError where that is one in a stratum.
    Source: Ohlsson 1998, eq. 3.11.
    """
    codes = np.zeros(len(values), np.int64) if strata is None else strata
    drawn, terms = pi < 1, []
    for code in np.unique(codes[drawn]).tolist():
        own = drawn & (codes == code)
        z, rest, n = values[own] / pi[own], 1 - pi[own], int(own.sum())
        if n < 2:
            raise SamplingError("one query with a chance below 1 alone has no variance")
        terms.append(n / (n - 1) * fsum(rest * (z - fsum(rest * z) / fsum(rest)) ** 2))
    return fsum(terms)


def standard_error(variance: float) -> float | None:
    """Its root; None where the estimate of a variance is negative, which says nothing."""
    return float(np.sqrt(variance)) if variance >= 0 else None
