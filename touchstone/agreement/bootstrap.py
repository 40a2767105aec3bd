"""How far people who graded the same pairs agree: a measure, its interval, or why there is none.

Every measure comes with its level, with how many units it could be computed from, and with a
bootstrap interval. A unit (a pair) is pairable when at least two labels of it are there; labels
that are missing are simply not counted, nothing is filled in.

Where a number would mean nothing there is none, and `why` says so:

- fewer than two pairable units (one label a pair, or people who share no pair): `no_overlap`;
- all labels of pairable units are the same grade: nothing varies, so chance can't be told from
  agreement: `no_variation`, for those measures that divide by what chance would give.

The intervals resample units with replacement. Units with the same labels are the same to every
measure, so a resample is one multinomial draw over the different sets of labels: a thousand
resamples of 100,000 units take milliseconds. Where units belong together in clusters, as pairs do
in queries, clusters are resampled instead; below 15 of them there is no interval.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from touchstone.agreement.counts import Counts, Floats

Why = Literal["", "no_overlap", "no_variation"]
# Takes weights (resamples, sets): how many units of each set; gives a value each, NaN for none.
Statistic = Callable[[Floats, Counts], Floats]
Draws = tuple[int, int]  # how many resamples, and their seed

RESAMPLES: Final = 1_000
CONFIDENCE: Final = 0.95
FEWEST_UNITS: Final = 2
FEWEST_CLUSTERS: Final = 15
AT_ONCE: Final = 20_000_000  # cells of a table of resamples that are in memory at a time


@dataclass(frozen=True)
class Agreement:
    """One measure of agreement.

    value, low, high: None where there is no number; why says which of the reasons it is.
    level: nominal, ordinal or interval, or how disagreement is weighted.
    units: pairable units; labels: the labels on them.
    """

    measure: str
    level: str
    value: float | None
    low: float | None = None
    high: float | None = None
    units: int = 0
    labels: int = 0
    why: Why = ""


def of_patterns(
    measure: str, weights: str, counts: Counts, statistic: Statistic, draws: Draws
) -> Agreement:
    enough = counts.pairable().units.sum() >= FEWEST_UNITS
    value = point(statistic, counts) if enough else None
    return measured(Agreement(measure, weights, value), counts, statistic, draws)


def measured(result: Agreement, counts: Counts, statistic: Statistic, draws: Draws) -> Agreement:
    pairable = counts.pairable()
    units = int(pairable.units.sum())
    labels = int((pairable.sizes * pairable.units).sum())
    return with_interval(replace(result, units=units, labels=labels), counts, statistic, draws)


def with_interval(
    result: Agreement, counts: Counts, statistic: Statistic, draws: Draws
) -> Agreement:
    if result.units < FEWEST_UNITS:
        return replace(result, value=None, why="no_overlap")
    if result.value is None:
        return replace(result, why="no_variation")
    if not draws[0]:
        return result
    low, high = _interval(counts, statistic, *draws)
    return replace(result, low=low, high=high)


def point(statistic: Statistic, counts: Counts) -> float | None:
    if not counts.units.sum():
        return None
    value = float(statistic(counts.units[None, :].astype(np.float64), counts)[0])
    return value if np.isfinite(value) else None


def _interval(
    counts: Counts, statistic: Statistic, resamples: int, seed: int
) -> tuple[float | None, float | None]:
    """The middle 95 % of the resampled values; nothing where most resamples give no number.

    Units with one label are resampled among themselves: how many units are pairable is fixed.
    """
    if counts.clusters is not None and len(counts.clusters) < FEWEST_CLUSTERS:
        return None, None
    rng = np.random.default_rng(seed)
    pairable = counts.sizes >= 2
    step = max(1, AT_ONCE // max(1, len(counts.units)))
    values = []
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        if counts.clusters is None:
            weights = _resampled_units(rng, counts, pairable, size)
        else:
            many = len(counts.clusters)
            drawn = rng.multinomial(many, np.full(many, 1 / many), size=size)
            weights = drawn.astype(np.float64) @ counts.clusters
        values.append(statistic(weights, counts))
    result = np.concatenate(values)
    result = result[np.isfinite(result)]
    if 2 * len(result) < resamples:
        return None, None
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(result, [tail, 1 - tail])
    return float(low), float(high)


def _resampled_units(
    rng: np.random.Generator, counts: Counts, pairable: NDArray[np.bool_], size: int
) -> Floats:
    weights = np.zeros((size, len(counts.units)))
    for chosen in (pairable, ~pairable):
        total = int(counts.units[chosen].sum())
        if total:
            shares = counts.units[chosen] / total
            weights[:, chosen] = rng.multinomial(total, shares, size=size)
    return weights
