"""How often each annotator is right, from gold checks and from agreement, and who is below others.

A person's accuracy has a Beta prior that all people of the campaign share: its mean is a line
through what the others' labels say of the person (`agreement`), and its spread says how well
agreement predicts accuracy. Line and spread are learned from the people who have gold checks;
the person's own checks then update the prior. So few checks move an estimate little, agreement
counts for as much as it has proved to be worth, and without any gold the estimate is agreement,
shrunk to the mean of all. Intercept, slope and spread are integrated over, not fixed at their
best values, because a campaign has few people.

Sources: Fay & Herriot, Estimates of Income for Small Places, JASA 74, 1979 (direct estimates and a
regression on auxiliary data, each by its precision); Morris, Parametric Empirical Bayes
Inference, JASA 78, 1983 (shrinkage); Benjamini & Yekutieli, False Discovery Rate-Adjusted Multiple
Confidence Intervals, JASA 100, 2005 (intervals corrected for many people).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, betaln

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# What is believed before any gold: accuracy is agreement, a tenth up or down for all people alike
# and some hundredths for each. Gold soon outweighs all of it.
INTERCEPT_ERROR: Final = 0.1
SLOPE: Final = (1.0, 0.25)  # mean and standard deviation
SLOPES: Final = np.linspace(0.0, 1.6, 9)
SPREAD: Final = 0.05  # the scale of a half-normal distribution
SPREADS: Final = np.array([0.01, 0.02, 0.04, 0.06, 0.09, 0.13, 0.18, 0.25])
EDGE: Final = 0.02  # no prior mean is nearer to 0 or 1
LEAST_ERROR: Final = 0.01  # of an annotator's agreement
COVERAGE: Final = 0.95
DISCOVERIES: Final = 0.1  # of those called below the median, at most, in expectation, are not


@dataclass(frozen=True)
class Accuracies:
    """Estimated accuracy of each annotator, as fractions.

    mean, low, high: (annotators,), the posterior mean and its 95 % interval. median: of the means.
    chance: (annotators,), the posterior probability of being at or above the median annotator.
    is_below: (annotators,), whether the interval, corrected for the number of people, lies wholly
    below the median.
    """

    mean: Floats
    low: Floats
    high: Floats
    median: float
    chance: Floats
    is_below: Bools


def accuracies(right: Ints, checked: Ints, agreement: Floats, error: Floats) -> Accuracies:
    """Estimate everyone's accuracy.

    right, checked: (annotators,), gold checks. agreement: (annotators,), the mean probability that
    a label is right by the other labels of its pair, NaN where there are none; error: its
    standard error. Raises ValueError where more are right than were checked.
    """
    if (right > checked).any() or (right < 0).any():
        raise ValueError("from none to all of the checks can be right")
    centred, centre, variance = _shrunk(agreement, error)
    slopes, spreads = (part.ravel() for part in np.meshgrid(SLOPES, SPREADS, indexing="ij"))
    around = spreads[:, None] ** 2 + slopes[:, None] ** 2 * variance
    line = slopes[:, None] * centred
    intercept, doubt = _intercepts(right, checked, centre, line, around)
    alpha, beta = _prior(intercept[:, None] + line, around)
    weight = _weights(
        _log_prior(slopes, spreads, intercept - centre),
        betaln(alpha + right, beta + checked - right) - betaln(alpha, beta),
    )
    alpha, beta = alpha + right, beta + (checked - right)
    means = alpha / (alpha + beta)
    # what all share moves everyone the less, the more their own checks say
    shared = doubt[:, None] * (1 - checked / (alpha + beta)) ** 2
    within = means * (1 - means) / (alpha + beta + 1) + shared
    mean = weight @ means
    low, high = _interval(mean, weight @ (within + (means - mean) ** 2))
    middle = np.median(means, axis=1)
    chance: Floats = weight @ (1 - betainc(alpha, beta, middle[:, None]))
    return Accuracies(mean, low, high, float(weight @ middle), chance, _below(chance))


def _shrunk(agreement: Floats, error: Floats) -> tuple[Floats, float, Floats]:
    """Agreement shrunk towards the mean of all: distances from it, the mean, their variances."""
    known = ~np.isnan(agreement)
    if not known.any():
        return np.zeros(len(agreement)), 0.5, np.full(len(agreement), LEAST_ERROR**2)
    noise = np.maximum(np.where(known, error, 1.0), LEAST_ERROR) ** 2
    values = agreement[known]
    between = max(float(values.var()) - float(noise[known].mean()), LEAST_ERROR**2)
    weights = 1 / (between + noise[known])
    centre = float((weights * values).sum() / weights.sum())
    kept = np.where(known, between / (between + noise), 0.0)
    return kept * np.where(known, agreement - centre, 0.0), centre, between * (1 - kept)


def _intercepts(
    right: Ints, checked: Ints, centre: float, line: Floats, around: Floats
) -> tuple[Floats, Floats]:
    """For each slope and spread, the mean accuracy at the mean agreement, and its variance."""
    has = checked > 0
    count = np.maximum(checked, 1)
    smoothed = (right + 1) / (checked + 2)
    noise = smoothed * (1 - smoothed) / count
    weights = np.where(has, 1 / (around + noise), 0.0)
    prior = 1 / INTERCEPT_ERROR**2
    total = weights.sum(axis=1) + prior
    return ((weights * (right / count - line)).sum(axis=1) + prior * centre) / total, 1 / total


def _prior(mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """The Beta distribution of a mean and a variance."""
    mean = np.clip(mean, EDGE, 1 - EDGE)
    size = np.maximum(mean * (1 - mean) / variance - 1, 0.5)
    return mean * size, (1 - mean) * size


def _log_prior(slopes: Floats, spreads: Floats, shift: Floats) -> Floats:
    """What is believed of each slope, spread and intercept before any gold."""
    widths = np.gradient(SPREADS)[np.arange(len(spreads)) % len(SPREADS)]
    prior: Floats = np.log(widths) - 0.5 * (
        ((slopes - SLOPE[0]) / SLOPE[1]) ** 2
        + (spreads / SPREAD) ** 2
        + (shift / INTERCEPT_ERROR) ** 2
    )
    return prior


def _weights(prior: Floats, fits: Floats) -> Floats:
    """Posterior probabilities: prior (cells,), log likelihoods of everyone's checks (cells,
    annotators)."""
    logs = prior + fits.sum(axis=1)
    weights = np.exp(logs - logs.max())
    shares: Floats = weights / weights.sum()
    return shares


def _interval(mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    size = np.maximum(mean * (1 - mean) / variance - 1, 0.5)
    tail = (1 - COVERAGE) / 2
    alpha, beta = mean * size, (1 - mean) * size
    return betaincinv(alpha, beta, tail), betaincinv(alpha, beta, 1 - tail)


def _below(chance: Floats) -> Bools:
    """Those whose 95 % interval lies below the median, and whose interval corrected for many does.

    The corrected interval is at the level 1 - 2 R q / m, where that holds for R of m people.
    """
    order = np.argsort(chance, kind="stable")
    bounds = DISCOVERIES * np.arange(1, len(chance) + 1) / len(chance)
    passed = np.flatnonzero(chance[order] <= np.minimum(bounds, (1 - COVERAGE) / 2))
    below = np.zeros(len(chance), dtype=bool)
    below[order[: passed[-1] + 1 if len(passed) else 0]] = True
    return below
