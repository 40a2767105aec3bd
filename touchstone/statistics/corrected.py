"""Means that correct a machine judge by queries that people judged.

Y is a query's value from people's labels, F from the machine's. L are n queries drawn at random and
judged completely by people; the machine judged all. Arrays may have leading axes, say one row for
each repetition of a simulation; the last axis is queries, and results have the leading axes.

For two rankers pass per-query differences, which then have a λ of their own. Only a measure's
value for a whole query can be corrected: nDCG's ideal is not linear in the labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from touchstone.errors import DomainError
from touchstone.sampling.estimation import Variance

Floats = npt.NDArray[np.float64]
Interval = Literal["t", "z"]

FEWEST_JUDGED: Final = 15  # below, intervals are too short: λ follows the few values too closely
LEVEL: Final = 0.95


class CorrectionRefusedError(DomainError):
    """People judged too few queries, or values do not belong together."""

    def __init__(self, message: str) -> None:
        super().__init__("correction_refused", message)


@dataclass(frozen=True, eq=False)
class CorrectedMean:
    """An estimated mean with its interval; each of the leading axes' shape.

    weight: λ, how much the machine counts: 0 is people only, 1 trusts its differences fully. df:
    degrees of freedom of the interval; infinite for z.
    """

    estimate: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    weight: Floats
    df: Floats


def corrected_sample_mean(
    human: Floats,
    judge: Floats,
    others: Floats,
    *,
    interval: Interval = "t",
    level: float = LEVEL,
) -> CorrectedMean:
    """The mean over the population that all queries were drawn from: PPI++.

    human, judge: (…, n), Y and F of the same queries. others: (…, N), F of the queries that people
    did not judge.
    θ = λ · mean(others) + mean(human − λ · judge), se² = λ² s²(others)/N + s²(human − λ · judge)/n,
    λ = cov(human, judge) / ((1 + n/N) · s²(all of F)), clipped to [0, 1]; 0 with fewer than two
    others. With t the residuals' variance is over n − 2, for the mean and for λ, and the interval
    has n − 2 degrees of freedom.
    Raises CorrectionRefusedError below 15 queries that people judged.
    Source: Angelopoulos, Duchi & Zrnic 2023, "PPI++" (arXiv 2311.01453), for the mean.
    """
    n, left = _checked(human, judge), others.shape[-1]
    if left < 2:
        return people_mean(human, interval=interval, level=level)
    whole = np.concatenate((judge, others), axis=-1)
    weight = sample_weight(_covariance(human, judge), _variance(whole), n, left)
    residuals = human - weight[..., None] * judge
    variance = weight**2 * others.var(axis=-1, ddof=1) / left
    variance += _residual_variance(residuals, interval) / n
    estimate = weight * others.mean(axis=-1) + residuals.mean(axis=-1)
    return _mean(estimate, np.sqrt(variance), weight, df=n - 2, interval=interval, level=level)


def sample_weight(covariance: Floats, variance: Floats, n: int, left: int) -> Floats:
    """λ of PPI++ from cov(Y, F) and the variance of all F; 0 where F does not vary."""
    scaled = (1 + n / left) * variance
    slope = np.divide(covariance, scaled, out=np.zeros_like(scaled), where=scaled > 0)
    return np.clip(slope, 0, 1)


def corrected_list_mean(
    human: Floats,
    judge: Floats,
    judge_all: Floats,
    *,
    interval: Interval = "t",
    level: float = LEVEL,
) -> CorrectedMean:
    """The mean over a fixed list of M queries, such as a judgment list's.

    human, judge: (…, n), Y and F of the same queries. judge_all: (…, M), F of the whole list.
    θ = λ · mean(judge_all) + mean(human − λ · judge), se² = (1 − n/M) · s²(human − λ · judge)/n,
    λ the slope of Y on F. With t the residuals' variance is over n − 2 and the interval has n − 2
    degrees of freedom. A list that people judged whole has no error.
    Raises CorrectionRefusedError below 15 queries that people judged, unless they are the list.
    Source: Cochran 1977, section 7.3 (regression estimator).
    """
    size = judge_all.shape[-1]
    n = _checked(human, judge, whole=size)
    variance, covariance = _variance(judge), _covariance(human, judge)
    weight = np.divide(covariance, variance, out=np.zeros_like(variance), where=variance > 0)
    residuals = human - weight[..., None] * judge
    estimate = weight * judge_all.mean(axis=-1) + residuals.mean(axis=-1)
    if n == size:
        return _mean(
            human.mean(axis=-1),
            np.zeros_like(weight),
            weight,
            df=n - 2,
            interval=interval,
            level=level,
        )
    error = np.sqrt((1 - n / size) * _residual_variance(residuals, interval) / n)
    return _mean(estimate, error, weight, df=n - 2, interval=interval, level=level)


def corrected_strata_mean(
    parts: Sequence[CorrectedMean],
    weights: npt.ArrayLike,
    *,
    interval: Interval = "t",
    level: float = LEVEL,
) -> CorrectedMean:
    """The mean over strata, each corrected by itself: Σ w_k θ_k(λ_k), se² = Σ w_k² se_k².

    parts: of each stratum, by the same design. weights: (n_strata,), each stratum's share of the
    mean; they add up to 1. λ is the weighted mean of theirs, the degrees of freedom are
    Satterthwaite's. To split n among strata: `neyman` with the residuals' standard deviations.
    Raises CorrectionRefusedError for weights that do not add up to 1.
    Source: Fisch et al. 2024, "Stratified prediction-powered inference" (arXiv 2406.04291).
    """
    share = np.asarray(weights, np.float64)
    if len(share) != len(parts) or abs(share.sum() - 1) > 1e-9:
        raise CorrectionRefusedError("each stratum needs a weight, and weights must sum to 1")
    scaled = [w**2 * part.standard_error**2 for w, part in zip(share, parts, strict=True)]
    variance = np.sum(scaled, axis=0)
    spread = np.sum([one**2 / part.df for one, part in zip(scaled, parts, strict=True)], axis=0)
    df = np.divide(variance**2, spread, out=np.full_like(variance, np.inf), where=spread > 0)
    estimate = np.sum([w * part.estimate for w, part in zip(share, parts, strict=True)], axis=0)
    weight = np.sum([w * part.weight for w, part in zip(share, parts, strict=True)], axis=0)
    return _mean(estimate, np.sqrt(variance), weight, df=df, interval=interval, level=level)


def corrected_unequal_mean(
    human: Floats,
    judge: Floats,
    pi: Floats,
    judge_all: Floats,
    variance: Variance,
    *,
    weight: float = 1.0,
    interval: Interval = "t",
    level: float = LEVEL,
) -> CorrectedMean:
    """The mean over a list of M queries of which people judged some with unequal chances.

    human, judge, pi: (n,), Y, F and the chance of each query that people judged. judge_all: (M,).
    variance: of a total over the list, by the design that drew the queries (`sampling.estimation`).
    θ = λ · mean(judge_all) + Σ (human − λ · judge)/π / M, se² = variance(human − λ · judge) / M².
    weight: λ, fixed beforehand. With t, n − 1 degrees of freedom.
    Raises CorrectionRefusedError below 15 queries that people judged.
    Source: Cassel, Särndal & Wretman 1976 (difference estimator).
    """
    n, size = _checked(human, judge), len(judge_all)
    residuals = human - weight * judge
    estimate = weight * judge_all.mean() + (residuals / pi).sum() / size
    spread = variance(residuals)
    if spread < 0:
        raise CorrectionRefusedError("the estimated variance is negative; use another estimator")
    error = np.sqrt(spread) / size
    return _mean(
        np.asarray(estimate), error, np.asarray(weight), df=n - 1, interval=interval, level=level
    )


def people_mean(
    human: Floats,
    *,
    size: int | None = None,
    interval: Interval = "t",
    level: float = LEVEL,
) -> CorrectedMean:
    """The mean by people alone, s²/n, of a random sample. size: of a fixed list; None for none.

    human: (…, n). With t, n − 1 degrees of freedom.
    Raises CorrectionRefusedError for one query, unless it is the list.
    """
    n = human.shape[-1]
    if n < 2 and n != size:
        raise CorrectionRefusedError("a single query has no standard error")
    left = 1.0 if size is None else 1 - n / size
    error = np.sqrt(left * _variance(human) / n)
    return _mean(
        human.mean(axis=-1), error, np.zeros_like(error), df=n - 1, interval=interval, level=level
    )


def _checked(human: Floats, judge: Floats, whole: int | None = None) -> int:
    """How many queries people judged. whole: as many as that are enough."""
    n = int(human.shape[-1])
    if human.shape != judge.shape or (whole is not None and n > whole):
        raise CorrectionRefusedError("each query judged by people also needs a machine value")
    if n < FEWEST_JUDGED and n != whole:
        raise CorrectionRefusedError(too_few(n))
    return n


def too_few(n: int) -> str:
    """Why so few queries are refused."""
    return (
        f"people judged {n} {'query' if n == 1 else 'queries'}; the correction takes "
        f"{FEWEST_JUDGED} or more: with fewer, intervals are shorter than they claim"
    )


def _covariance(first: Floats, second: Floats) -> Floats:
    n = max(first.shape[-1], 2)  # of one query alone it is 0, and not used
    away = first - first.mean(axis=-1, keepdims=True), second - second.mean(axis=-1, keepdims=True)
    return np.asarray((away[0] * away[1]).sum(axis=-1) / (n - 1))


def _variance(values: Floats) -> Floats:
    """s², over n − 1; exactly 0 where values do not vary, whatever rounding makes of their mean."""
    away = values - values.mean(axis=-1, keepdims=True)
    result = (away**2).sum(axis=-1) / max(values.shape[-1] - 1, 1)
    return np.asarray(np.where(np.ptp(values, axis=-1) > 0, result, 0.0))


def _residual_variance(residuals: Floats, interval: Interval) -> Floats:
    """With t over n − 2: λ was estimated from the same queries."""
    return np.asarray(residuals.var(axis=-1, ddof=2 if interval == "t" else 1))


def _mean(
    estimate: Floats,
    error: Floats,
    weight: Floats,
    *,
    df: npt.ArrayLike,
    interval: Interval,
    level: float,
) -> CorrectedMean:
    if not 0 < level < 1:
        raise CorrectionRefusedError("the level must be between 0 and 1")
    freedom = np.asarray(df if interval == "t" else np.inf, np.float64)
    edge = (1 + level) / 2
    quantile = stdtrit(freedom, edge) if interval == "t" else ndtri(edge)
    # an interval of infinitely many degrees of freedom is the normal one
    quantile = np.where(np.isinf(freedom), ndtri(edge), quantile)
    half = np.where(error > 0, quantile * error, 0.0)
    return CorrectedMean(estimate, error, estimate - half, estimate + half, weight, freedom)
