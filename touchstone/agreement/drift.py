"""Whether an annotator's behaviour has changed over time, and when.

Values in the order in which they came are shown in windows with control limits, and searched for
the one place where the mean changes most. Whether such a change is more than chance is told by
shuffling: blocks of neighbours are put in another order, because labels of one query resemble
each other and are given one after the other.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from math import exp, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_WINDOWS: Final = 24
FEWEST: Final = 20  # values in a window, and on either side of a change
SIGMAS: Final = 3.0
MOVING_RANGE: Final = 2.66  # three standard deviations in mean distances of two values
SHUFFLES: Final = 999
FIRST_SHUFFLES: Final = 99
OFTEN: Final = 10  # shuffled orders that change as much: this is chance
MOST_BLOCKS: Final = 100
SMALLEST_BLOCK: Final = 5
SHORTEST: Final = 0.05  # seconds that a label takes at least, where its logarithm is asked for


@dataclass(frozen=True)
class Window:
    """Some values in a row. begins, ends: times of the first and last, in seconds.

    low, high: the control limits: three standard errors around the mean of all windows.
    """

    begins: float
    ends: float
    count: int
    mean: float
    low: float
    high: float

    @property
    def is_outside(self) -> bool:
        return not self.low <= self.mean <= self.high


@dataclass(frozen=True)
class ChangePoint:
    """Where the mean changes most. at: time of the first value after the change, in seconds.

    before, after: means on either side. chance: how often values without any change, in a
    shuffled order, change as much (never 0: one in a thousand is the least that is said).
    """

    at: float
    before: float
    after: float
    count_before: int
    count_after: int
    chance: float

    @property
    def shift(self) -> float:
        return self.after - self.before


@dataclass(frozen=True)
class Course:
    """How one thing went over time: in windows, and where it changed most. what: a word for it."""

    what: str
    windows: tuple[Window, ...]
    change: ChangePoint | None


def course(
    what: str,
    times: Floats,
    values: Floats,
    *,
    fewest: int = FEWEST,
    by_factor: bool = False,
    seed: int = 0,
) -> Course:
    """The course of values in the order of time.

    by_factor: the values are durations, where a factor counts and not a difference: the change is
    looked for in their logarithms, and its means are geometric ones.
    """
    windows = control_windows(times, values, fewest=fewest)
    if not by_factor:
        return Course(what, windows, change_point(times, values, fewest=fewest, seed=seed))
    logs = np.log(np.maximum(values, SHORTEST))
    change = change_point(times, logs, fewest=fewest, seed=seed)
    if change is not None:
        change = replace(change, before=exp(change.before), after=exp(change.after))
    return Course(what, windows, change)


def bounds(count: int, *, most: int = MOST_WINDOWS, fewest: int = FEWEST) -> Ints:
    """Where to cut `count` values into windows of nearly equal size, ends included.

    At most `most` windows of at least `fewest` values; a single one where there are fewer.
    """
    windows = max(1, min(most, count // fewest))
    return np.linspace(0, count, windows + 1).round().astype(np.int64)


def control_windows(
    times: Floats, values: Floats, *, most: int = MOST_WINDOWS, fewest: int = FEWEST
) -> tuple[Window, ...]:
    """The values in windows of equal numbers, with control limits (Shewhart's x-bar chart).

    times: ascending; values: one per time, without NaN. The spread within windows, not over all
    of them, sets the limits, so that a change does not widen the limits that shall show it.
    Nothing where all were at the same time, as in a file that does not say when.
    """
    if not len(values) or np.ptp(times) == 0:
        return ()
    cuts = bounds(len(values), most=most, fewest=fewest)
    parts = [slice(int(a), int(b)) for a, b in pairwise(cuts)]
    means = [float(values[part].mean()) for part in parts]
    inside = sum(
        float(((values[part] - mean) ** 2).sum()) for part, mean in zip(parts, means, strict=True)
    )
    deviation = sqrt(inside / max(1, len(values) - len(parts)))
    centre = float(values.mean())
    result = []
    for part, mean in zip(parts, means, strict=True):
        count = part.stop - part.start
        reach = SIGMAS * deviation / sqrt(count)
        result.append(
            Window(
                begins=float(times[part.start]),
                ends=float(times[part.stop - 1]),
                count=count,
                mean=mean,
                low=centre - reach,
                high=centre + reach,
            )
        )
    return tuple(result)


def estimate_limits(values: Floats, errors: Floats) -> tuple[Floats, Floats]:
    """Control limits of estimates that have standard errors of their own: three around the mean.

    values, errors: (estimates,). The mean weighs each by the inverse of its variance, or all alike
    where an error is 0. Returns the lower and the upper limits.
    """
    weights = 1 / errors**2 if (errors > 0).all() else np.ones(len(values))
    centre = float((weights * values).sum() / weights.sum())
    return centre - SIGMAS * errors, centre + SIGMAS * errors


def individual_limits(values: Floats) -> tuple[float, float]:
    """Control limits of single values in a row, two or more, such as counts per hour.

    Their mean, and 2.66 times the mean distance of neighbours around it.
    Source: Shewhart's chart of individuals, as in Wheeler & Chambers, Understanding Statistical
    Process Control, 1992.
    """
    centre, reach = float(values.mean()), MOVING_RANGE * float(np.abs(np.diff(values)).mean())
    return centre - reach, centre + reach


def change_point(
    times: Floats, values: Floats, *, fewest: int = FEWEST, seed: int = 0
) -> ChangePoint | None:
    """The place where the mean changes most; None for too few values, or none that differ in
    value or in time.

    times: ascending; values: one per time, without NaN. Both sides have at least `fewest`.
    Source of the statistic: the standardised CUSUM, as in Page 1954 and Hinkley 1970.
    """
    if len(values) < 2 * fewest or np.ptp(values) == 0 or np.ptp(times) == 0:
        return None
    position = fewest + int(_cusum(values)[fewest - 1 : len(values) - fewest].argmax())
    sums, sizes = _blocks(values)
    chance = _chance(sums, sizes, fewest, np.random.default_rng(seed))
    return ChangePoint(
        at=float(times[position]),
        before=float(values[:position].mean()),
        after=float(values[position:].mean()),
        count_before=position,
        count_after=len(values) - position,
        chance=chance,
    )


def _cusum(values: Floats) -> Floats:
    """How far the mean of the first k values is from all others', in standard errors, k ≥ 1."""
    count = len(values)
    k = np.arange(1, count)
    sums = np.cumsum(values - values.mean())[:-1]
    curve: Floats = np.abs(sums) / np.sqrt(k * (count - k) / count)
    return curve


def _blocks(values: Floats) -> tuple[Floats, Floats]:
    """Sums and sizes of blocks of neighbours."""
    blocks = max(2, min(MOST_BLOCKS, len(values) // SMALLEST_BLOCK))
    starts = np.linspace(0, len(values), blocks + 1).round().astype(np.int64)[:-1]
    centred = values - values.mean()
    sizes = np.diff(np.append(starts, len(values))).astype(np.float64)
    return np.add.reduceat(centred, starts), sizes


def _chance(sums: Floats, sizes: Floats, fewest: int, rng: np.random.Generator) -> float:
    """How often a shuffled order changes as much.

    Where it often does, few orders tell so already and the rest is spared (Besag & Clifford,
    Sequential Monte Carlo p-values, Biometrika 78, 1991).
    """
    most = _most(sums, sizes, fewest, np.arange(len(sums))[None, :])[0]
    at_least, shuffled = 0, 0
    for several in (FIRST_SHUFFLES, SHUFFLES - FIRST_SHUFFLES):
        orders = rng.permuted(np.tile(np.arange(len(sums)), (several, 1)), axis=1)
        result = _most(sums, sizes, fewest, orders)
        at_least += int((result >= most * (1 - 1e-12)).sum())
        shuffled += several
        if at_least >= OFTEN:
            break
    return (1 + at_least) / (1 + shuffled)


def _most(sums: Floats, sizes: Floats, fewest: int, orders: Ints) -> Floats:
    """The largest standardised difference of each order of the blocks."""
    total = float(sizes.sum())
    k = np.cumsum(sizes[orders], axis=1)[:, :-1]
    curve = np.abs(np.cumsum(sums[orders], axis=1)[:, :-1]) / np.sqrt(k * (total - k) / total)
    # the same places are looked at as in the values themselves
    allowed = (k >= fewest) & (k <= total - fewest)
    most: Floats = np.where(allowed, curve, 0.0).max(axis=1)
    return most
