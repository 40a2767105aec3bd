"""How often consolidated grades are right, measured on pairs whose right grade is known.

A model's confidence in a grade is not how often the grade is right: annotators share mistakes,
and the model takes them for independent ones. So what it claims is compared with pairs that
someone has checked, and where there are enough of them it is corrected by them.

Gold pairs are outside the overlap: many people label each of them. To see a gold pair as the model
sees any other one, as many of its labels are drawn as other pairs have, of people who label as much
of the other pairs. Adjudicated pairs have their labels, but are those that people disputed: on
them grades are right less often than on others.

Sources: Platt, Probabilistic Outputs for Support Vector Machines, 1999 (a logistic regression of
being right on the log odds of the claim); Guo et al., On Calibration of Modern Neural Networks,
2017 (checked by cross-validation); Wilson 1927 (the interval of a share).
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from touchstone.agreement.dawid_skene import SMALLEST, DawidSkene
from touchstone.statistics.wilson import Z_95, wilson_interval

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Source = Literal["gold", "adjudicated"]

DRAWS: Final = 20  # of each gold pair's labels
FEWEST_CALIBRATED: Final = 50  # checked pairs, before a claim is corrected by them
FOLDS: Final = 10
MOST_ODDS: Final = 7.0  # log odds of a claim, at most: beyond 0.999 models say nothing
ROUNDS: Final = 12  # of Newton's method
PRIOR_PRECISION: Final = 0.25  # of intercept 0 and slope 1: worth less than one checked pair


@dataclass(frozen=True)
class GoldLabels:
    """Labels of gold pairs, one entry each. low, high: the first and last step that is right."""

    pairs: Ints
    annotators: Ints
    steps: Ints
    low: Ints
    high: Ints


@dataclass(frozen=True)
class CheckedPairs:
    """What the model says of pairs whose right grade is known.

    confidence: (pairs, draws), the probability of the most probable grade; is_right: (pairs,
    draws), whether that is the right one. Each draw is one way to have labelled the pair.
    """

    confidence: Floats
    is_right: Bools

    def __len__(self) -> int:
        return len(self.confidence)


@dataclass(frozen=True)
class MeasuredAccuracy:
    """How often consolidated grades of checked pairs are right, with a Wilson interval.

    confidence: what the model claims of them. value, low, high: None without any pair.
    """

    pairs: int
    confidence: float | None
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Calibration:
    """How often grades are right that the model claims with some confidence.

    logit(share right) = intercept + slope * logit(confidence); covariance: (2, 2), of the two.
    log_loss, log_loss_before: of pairs that were left out of the fit (cross-validation), by the
    calibrated claim and by the model's.
    """

    source: Source
    pairs: int
    intercept: float
    slope: float
    covariance: Floats
    log_loss: float
    log_loss_before: float

    def accuracy(self, confidence: Floats) -> tuple[float, float, float]:
        """How often grades of these confidences are right on average, with its 95 % interval.

        confidence: (pairs,), at least one.
        """
        odds = _log_odds(confidence)
        share = _logistic(self.intercept + self.slope * odds)
        mean, each = float(share.mean()), share * (1 - share)
        gradient = np.array([each.mean(), (each * odds).mean()])
        error = float(np.sqrt(gradient @ self.covariance @ gradient)) / (mean * (1 - mean))
        middle, reach = np.log(mean / (1 - mean)), Z_95 * error
        return mean, float(_logistic(middle - reach)), float(_logistic(middle + reach))


def checked_gold(
    model: DawidSkene,
    gold: GoldLabels,
    *,
    sizes: Ints,
    shares: Ints,
    draws: int = DRAWS,
    seed: int = 0,
) -> CheckedPairs:
    """What the model says of gold pairs, labelled like others.

    sizes: how many labels each other pair has: as many are drawn, without replacement.
    shares: (annotators,), labels of the overlap by each: those who label more are drawn more
    often. Gold pairs with fewer labels than any other pair has are left out.
    """
    names, positions, counts = np.unique(gold.pairs, return_inverse=True, return_counts=True)
    if not len(names) or not len(sizes):
        return CheckedPairs(np.empty((0, draws)), np.empty((0, draws), dtype=bool))
    kept = counts[positions] >= sizes.min()
    names, positions = np.unique(gold.pairs[kept], return_inverse=True)
    annotators, steps = gold.annotators[kept], gold.steps[kept]
    lows, highs = np.empty(len(names), dtype=np.int64), np.empty(len(names), dtype=np.int64)
    lows[positions], highs[positions] = gold.low[kept], gold.high[kept]
    own = np.bincount(annotators, minlength=len(shares))
    eager = np.log((shares[annotators] + 0.5) / own[annotators])
    told = np.log(np.maximum(model.matrices, SMALLEST)).transpose(0, 2, 1)[annotators, steps]
    base = np.log(np.maximum(model.prevalence, SMALLEST))
    rng = np.random.default_rng(seed)
    confidence = np.empty((len(names), draws))
    is_right = np.empty((len(names), draws), dtype=bool)
    starts = np.concatenate([[0], np.cumsum(np.bincount(positions, minlength=len(names)))])
    for draw in range(draws if len(names) else 0):
        # the largest keys are a weighted sample without replacement (Efraimidis & Spirakis 2006)
        order = np.lexsort((-(eager + rng.gumbel(size=len(positions))), positions))
        rank = np.arange(len(order)) - starts[positions[order]]
        drawn = order[rank < rng.choice(sizes, len(names))[positions[order]]]
        logs = np.tile(base, (len(names), 1))
        np.add.at(logs, positions[drawn], told[drawn])
        likely = np.exp(logs - logs.max(axis=1, keepdims=True))
        best = likely.argmax(axis=1)
        confidence[:, draw] = likely.max(axis=1) / likely.sum(axis=1)
        is_right[:, draw] = (lows <= best) & (best <= highs)
    return CheckedPairs(confidence, is_right)


def checked_decisions(posterior: Floats, decided: Ints) -> CheckedPairs:
    """What the model says of adjudicated pairs.

    posterior: (pairs, grades), from labels alone. decided: (pairs,), the step that was decided on.
    """
    is_right = posterior.argmax(axis=1) == decided
    return CheckedPairs(posterior.max(axis=1)[:, None], is_right[:, None])


def measure(checked: CheckedPairs) -> MeasuredAccuracy:
    """How often the grades are right. The interval counts pairs, not draws of their labels."""
    interval = wilson_interval(float(checked.is_right.mean(axis=1).sum()), len(checked))
    if interval is None:
        return MeasuredAccuracy(0, None, None, None, None)
    return MeasuredAccuracy(
        len(checked), float(checked.confidence.mean()), float(checked.is_right.mean()), *interval
    )


def calibrate(checked: CheckedPairs, source: Source, *, seed: int = 0) -> Calibration | None:
    """The correction that checked pairs make; None for fewer than FEWEST_CALIBRATED."""
    count = len(checked)
    if count < FEWEST_CALIBRATED:
        return None
    odds = _log_odds(checked.confidence)
    fold, claimed = np.random.default_rng(seed).permutation(count) % FOLDS, odds.copy()
    for left_out in range(FOLDS):
        out = fold == left_out
        (intercept, slope), _ = _fit(odds[~out], checked.is_right[~out])
        claimed[out] = intercept + slope * odds[out]
    (intercept, slope), covariance = _fit(odds, checked.is_right)
    return Calibration(
        source=source,
        pairs=count,
        intercept=float(intercept),
        slope=float(slope),
        covariance=covariance,
        log_loss=_log_loss(claimed, checked.is_right),
        log_loss_before=_log_loss(odds, checked.is_right),
    )


def calibrated_posterior(posterior: Floats, intercept: float, slope: float) -> Floats:
    """Rows whose largest probability is the calibrated one; the other grades share the rest.

    posterior: (pairs, grades), the model's. intercept, slope: of a Calibration.
    """
    rows, best = np.arange(len(posterior)), posterior.argmax(axis=1)
    share = _logistic(intercept + slope * _log_odds(posterior[rows, best]))
    rest = posterior + SMALLEST  # so that there is something to share out
    rest[rows, best] = 0.0
    result: Floats = rest * ((1 - share) / rest.sum(axis=1))[:, None]
    result[rows, best] = share
    return result


def _fit(odds: Floats, is_right: Bools) -> tuple[Floats, Floats]:
    """Intercept and slope of a logistic regression, and their covariance.

    odds, is_right: (pairs, draws). Draws of one pair are not independent, which the covariance
    knows (the sandwich estimator by pairs, Liang & Zeger 1986). A slope is never negative: more
    confidence does not mean right less often.
    """
    draws = odds.shape[1]
    features = np.stack([np.ones_like(odds), odds], axis=2)
    prior, target = PRIOR_PRECISION * np.eye(2), np.array([0.0, 1.0])
    # from 0, where the curvature is largest: Newton's method does not overshoot there
    result, inverse, scores = np.zeros(2), prior, features[:, 0]
    for _ in range(ROUNDS):
        share = _logistic(features @ result)
        scores = ((is_right - share)[:, :, None] * features).sum(axis=1) / draws
        curved = np.einsum("pd,pdi,pdj->ij", share * (1 - share), features, features) / draws
        inverse = np.linalg.inv(curved + prior)
        step = inverse @ (scores.sum(axis=0) - prior @ (result - target))
        result = result + np.clip(step, -2.0, 2.0)
    covariance: Floats = inverse @ (scores.T @ scores + prior) @ inverse
    if result[1] < 0:
        mean = (is_right.sum() / draws + 0.5) / (len(odds) + 1)
        result = np.array([np.log(mean / (1 - mean)), 0.0])
    return result, covariance


def _log_odds(share: Floats) -> Floats:
    least = 1 / (1 + np.exp(MOST_ODDS))
    share = np.clip(share, least, 1 - least)
    odds: Floats = np.log(share / (1 - share))
    return odds


def _logistic(odds: Floats) -> Floats:
    share: Floats = 1 / (1 + np.exp(-odds))
    return share


def _log_loss(odds: Floats, is_right: Bools) -> float:
    return float(np.logaddexp(0.0, np.where(is_right, -odds, odds)).mean())
