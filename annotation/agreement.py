"""How far people who graded the same pairs agree, beyond what chance alone would give.

Every measure comes with its level, with how many units it could be computed from, and with a
bootstrap interval. A unit (a pair) is pairable when at least two labels of it are there; labels
that are missing are simply not counted, nothing is filled in.

Where a number would mean nothing there is none, and `why` says so:

- fewer than two pairable units (one label a pair, or people who share no pair): `no_overlap`;
- all labels of pairable units are the same grade: nothing varies, so chance can't be told from
  agreement: `no_variation`, for those measures that divide by what chance would give.

The intervals resample units with replacement. Units with the same labels are the same to every
measure here, so a resample is one multinomial draw over the different sets of labels: a thousand
resamples of 100,000 units take milliseconds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import krippendorff
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Level = Literal["nominal", "ordinal", "interval"]
Weights = Literal["none", "linear", "quadratic"]
Why = Literal["", "no_overlap", "no_variation"]

LEVELS: Final[tuple[Level, ...]] = ("nominal", "ordinal", "interval")
RESAMPLES: Final = 1_000
CONFIDENCE: Final = 0.95
FEWEST_UNITS: Final = 2
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


@dataclass(frozen=True)
class Counts:
    """How often each grade was given, for each different set of labels.

    patterns: (sets, grades), labels per grade. units: (sets,), how many units have that set.
    values: (grades,), what the grades stand for, ascending.
    """

    patterns: Floats
    units: Ints
    values: Floats

    @property
    def sizes(self) -> Floats:
        """Labels per unit, for each set."""
        sizes: Floats = self.patterns.sum(axis=1)
        return sizes

    def pairable(self) -> "Counts":
        """The sets with two labels or more."""
        keep = self.sizes >= 2
        return Counts(self.patterns[keep], self.units[keep], self.values)


# Takes weights (resamples, sets): how many units of each set; gives a value each, NaN for none.
Statistic = Callable[[Floats, Counts], Floats]
Draws = tuple[int, int]  # how many resamples, and their seed


def count_labels(units: Ints, steps: Ints, values: Sequence[float]) -> Counts:
    """The labels of each unit as counts per grade, equal units joined.

    units: any integers, one per label. steps: places on the scale from 0, one per label.
    values: what the scale's steps stand for, ascending.
    Raises ValueError for arrays of different length or a step outside the scale.
    """
    if len(units) != len(steps):
        raise ValueError("one unit and one step per label")
    if len(steps) and not (steps.min() >= 0 and steps.max() < len(values)):
        raise ValueError("a step outside the scale")
    names, places = np.unique(units, return_inverse=True)
    shape = (len(names), len(values))
    flat = np.bincount(places * len(values) + steps, minlength=shape[0] * shape[1])
    patterns, counts = _unique_rows(flat.reshape(shape))
    return Counts(patterns.astype(np.float64), counts, np.asarray(values, dtype=np.float64))


def count_own(
    units: Ints, steps: Ints, is_own: NDArray[np.bool_], values: Sequence[float]
) -> Counts:
    """One person's label of each unit beside the others', equal units joined.

    units, steps, values: as for `count_labels`. is_own: per label; at most one a unit. A pattern
    has the person's own grade in its first half, the others' counts in the second.
    """
    grades = len(values)
    mine = np.isin(units, units[is_own])
    doubled = [*values, *values]
    found = count_labels(units[mine], np.where(is_own, steps, steps + grades)[mine], doubled)
    return Counts(found.patterns, found.units, np.asarray(values, dtype=np.float64))


def alpha(
    counts: Counts, level: Level = "ordinal", *, resamples: int = RESAMPLES, seed: int = 0
) -> Agreement:
    """Krippendorff's alpha: 1 minus observed over expected disagreement.

    Source: Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011; the point value is
    the krippendorff package's. An interval is the bootstrap over units described above, which is
    wider than the one in Krippendorff's own software, where disagreements are resampled.
    """
    pairable = counts.pairable()
    value = _package_alpha(pairable, level)
    statistic = _alpha_statistic(level)
    return _measured(Agreement("alpha", level, value), pairable, statistic, (resamples, seed))


def alpha_with_others(
    counts: Counts, level: Level = "ordinal", *, resamples: int = RESAMPLES, seed: int = 0
) -> Agreement:
    """Alpha of one person with the others: of a unit only the pairs of labels that are theirs.

    counts: as `count_own` gives them. Each unit counts as two labels, the person's own and the
    mean of the others'; with two labels on every unit it is alpha.
    """
    grades = len(counts.values)

    def statistic(resampled: Floats, seen: Counts) -> Floats:
        own, others = seen.patterns[:, :grades], seen.patterns[:, grades:]
        shares = others / np.maximum(others.sum(axis=1), 1)[:, None]
        each = own[:, :, None] * shares[:, None, :]
        each = each + each.transpose(0, 2, 1)
        flat = resampled @ each.reshape(len(each), -1)
        return alphas(flat.reshape(-1, grades, grades), seen.values, level)

    pairable = counts.pairable()
    found = Agreement("alpha_with_others", level, _point(statistic, pairable))
    return _measured(found, pairable, statistic, (resamples, seed))


def specific(counts: Counts, step: int, *, resamples: int = RESAMPLES, seed: int = 0) -> Agreement:
    """When one person gives a grade, how often another of the unit does too.

    The grade's share of its own row in the coincidence matrix (Fleiss 1975; Cicchetti &
    Feinstein 1990). Not corrected for chance. units: pairable ones in which somebody gave it.
    """
    pairable = counts.pairable()
    keep = pairable.patterns[:, step] > 0
    given = Counts(pairable.patterns[keep], pairable.units[keep], pairable.values)

    def statistic(resampled: Floats, seen: Counts) -> Floats:
        rows = coincidences(seen)[:, step, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = (resampled @ rows[:, step]) / (resampled @ rows.sum(axis=1))
        return found

    found = Agreement("specific", "nominal", _point(statistic, given))
    return _measured(found, given, statistic, (resamples, seed))


def fleiss_kappa(
    counts: Counts, *, weights: Weights = "none", resamples: int = RESAMPLES, seed: int = 0
) -> Agreement:
    """Fleiss' kappa, for any number of labels per unit.

    A grade's prevalence is the mean over units of its share of the unit's labels, also of units
    with one label, as in Gwet, Handbook of Inter-Rater Reliability, 4th ed. 2014, ch. 3; with
    equally many labels on every unit that is Fleiss 1971.
    """
    chance = _table(counts.values, weights)

    def statistic(resampled: Floats, seen: Counts) -> Floats:
        observed, prevalence = _observed(resampled, seen, chance)
        expected = np.einsum("bi,ij,bj->b", prevalence, chance, prevalence)
        return _corrected(observed, expected)

    return _of_patterns("fleiss_kappa", weights, counts, statistic, (resamples, seed))


def gwet_ac2(
    counts: Counts,
    *,
    weights: Weights = "quadratic",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Agreement:
    """Gwet's AC2; AC1 without weights. Defined also where everybody says the same: then 1.

    Source: Gwet, Handbook of Inter-Rater Reliability, 4th ed. 2014, ch. 3 (unequal numbers of
    labels); Gwet 2008, Br J Math Stat Psychol 61.
    """
    chance = _table(counts.values, weights)
    grades = len(counts.values)

    def statistic(resampled: Floats, seen: Counts) -> Floats:
        observed, prevalence = _observed(resampled, seen, chance)
        spread = (prevalence * (1 - prevalence)).sum(axis=1)
        return _corrected(observed, chance.sum() * spread / (grades * (grades - 1)))

    return _of_patterns("gwet_ac2", weights, counts, statistic, (resamples, seed))


def percent(
    counts: Counts, *, within: int = 0, resamples: int = RESAMPLES, seed: int = 0
) -> Agreement:
    """The share of pairs of labels of one unit that are equal, or at most `within` steps apart.

    Every unit counts the same, however many labels it has. Not corrected for chance.
    """
    steps = np.arange(len(counts.values))
    close = (np.abs(steps[:, None] - steps[None, :]) <= within).astype(np.float64)

    def statistic(resampled: Floats, seen: Counts) -> Floats:
        return _observed(resampled, seen, close)[0]

    name = "percent_exact" if within == 0 else f"percent_within_{within}"
    return _of_patterns(name, "none", counts, statistic, (resamples, seed))


def cohen_kappa(
    table: NDArray[np.int64] | Floats,
    values: Sequence[float],
    *,
    weights: Weights = "quadratic",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Agreement:
    """Cohen's kappa of two people, weighted by the distance of the grades.

    table: (grades, grades), units by the first person's grade (rows) and the second's.
    Source: Cohen 1960; Cohen 1968; linear and quadratic weights as in Fleiss & Cohen 1973.
    """
    grades = len(values)
    chance = _table(np.asarray(values, dtype=np.float64), weights)
    cells = np.asarray(table, dtype=np.int64).reshape(-1)
    found = np.flatnonzero(cells)
    patterns = np.eye(grades * grades)[found]
    counts = Counts(patterns, cells[found], np.arange(grades * grades, dtype=np.float64))

    def statistic(resampled: Floats, seen: Counts) -> Floats:
        shares = (resampled @ seen.patterns).reshape(-1, grades, grades)
        shares = shares / resampled.sum(axis=1)[:, None, None]
        observed = np.einsum("bij,ij->b", shares, chance)
        rows, columns = shares.sum(axis=2), shares.sum(axis=1)
        return _corrected(observed, np.einsum("bi,ij,bj->b", rows, chance, columns))

    units = int(cells.sum())
    measured = Agreement(
        "cohen_kappa", weights, _point(statistic, counts), units=units, labels=2 * units
    )
    return _with_interval(measured, counts, statistic, (resamples, seed))


def two_way_table(
    first: tuple[Ints, Ints], second: tuple[Ints, Ints], grades: int
) -> NDArray[np.int64]:
    """How often two people gave which grades to the units that both graded.

    first, second: units and steps of each, a unit at most once per person.
    Returns (grades, grades): rows are the first person's.
    """
    _, left, right = np.intersect1d(first[0], second[0], assume_unique=True, return_indices=True)
    cells = first[1][left] * grades + second[1][right]
    return np.bincount(cells, minlength=grades * grades).reshape(grades, grades).astype(np.int64)


def coincidences(counts: Counts) -> Floats:
    """Each set's coincidence matrix for one unit (sets, grades, grades).

    A unit with m labels adds 1 / (m - 1) for every ordered pair of its labels; nothing if m < 2.
    """
    patterns = counts.patterns
    pairs = patterns[:, :, None] * patterns[:, None, :]
    pairs -= patterns[:, :, None] * np.eye(patterns.shape[1])
    sizes = np.maximum(counts.sizes, 2)
    matrices: Floats = pairs / (sizes - 1)[:, None, None]
    return matrices


def label_alphas(
    units: Ints,
    steps: Ints,
    is_own: NDArray[np.bool_],
    values: Sequence[float],
    level: Level = "ordinal",
) -> Floats:
    """What each of a person's labels adds to their alpha with the others, in the order they come.

    That is 1 minus the label's distance from the others of its unit over the distance that chance
    would give, so that the mean is `alpha_with_others`. Arguments as for `count_own`. NaN where a
    label is alone on its unit, and everywhere if nothing varies.
    """
    grades, own = len(values), steps[is_own]
    mine = np.isin(units, units[is_own])
    names, places = np.unique(units[mine], return_inverse=True)
    flat = np.bincount(places * grades + steps[mine], minlength=len(names) * grades)
    others = flat.reshape(-1, grades)[np.searchsorted(names, units[is_own])].astype(np.float64)
    others[np.arange(len(own)), own] -= 1
    beside = others.sum(axis=1)
    shares = others / np.maximum(beside, 1)[:, None]
    margins = np.bincount(own[beside > 0], minlength=grades) + shares.sum(axis=0)
    apart = _distances(margins[None, :], np.asarray(values, dtype=np.float64), level)[0]
    chance = margins @ apart @ margins / max(margins.sum() * (margins.sum() - 1), 1.0)
    if not chance > 0:
        return np.full(len(own), np.nan)
    return np.where(beside > 0, 1 - (shares * apart[own]).sum(axis=1) / chance, np.nan)


def alphas(matrices: Floats, values: Floats, level: Level) -> Floats:
    """Alpha of many coincidence matrices at once; NaN where nothing varies.

    matrices: (many, grades, grades). Equal to the krippendorff package on each of them.
    On an ordinal scale the distance of two grades is that of their middle ranks.
    """
    margins = matrices.sum(axis=2)
    distances = _distances(margins, values, level)
    observed = (matrices * distances).sum(axis=(1, 2))
    expected = (margins[:, :, None] * margins[:, None, :] * distances).sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 1 - (margins.sum(axis=1) - 1) * observed / expected
    # a single grade leaves no expected disagreement: there is nothing to compare with
    return np.where(expected > 0, found, np.nan)


def _distances(margins: Floats, values: Floats, level: Level) -> Floats:
    """How far each two grades are apart (many, grades, grades), where so many are given of each.

    margins: (many, grades).
    """
    if level == "nominal":
        return np.broadcast_to(1 - np.eye(len(values)), (*margins.shape, len(values)))
    ranks = np.cumsum(margins, axis=1) - margins / 2
    places = ranks if level == "ordinal" else np.broadcast_to(values, margins.shape)
    distances: Floats = (places[:, :, None] - places[:, None, :]) ** 2
    return distances


def _package_alpha(pairable: Counts, level: Level) -> float | None:
    """The krippendorff package's value; it raises without overlap and is NaN without variation."""
    if pairable.units.sum() < FEWEST_UNITS or (pairable.patterns.sum(axis=0) > 0).sum() < 2:
        return None
    found = krippendorff.alpha(
        value_counts=np.repeat(pairable.patterns, pairable.units, axis=0),
        # only an interval has values; two grades of the same value are still two grades
        value_domain=pairable.values if level == "interval" else np.arange(len(pairable.values)),
        level_of_measurement=level,
    )
    return float(found) if np.isfinite(found) else None


def _alpha_statistic(level: Level) -> Statistic:
    def statistic(resampled: Floats, seen: Counts) -> Floats:
        each = coincidences(seen)
        flat = resampled @ each.reshape(len(each), -1)
        return alphas(flat.reshape(-1, *each.shape[1:]), seen.values, level)

    return statistic


def _of_patterns(
    measure: str, weights: str, counts: Counts, statistic: Statistic, draws: Draws
) -> Agreement:
    enough = counts.pairable().units.sum() >= FEWEST_UNITS
    value = _point(statistic, counts) if enough else None
    return _measured(Agreement(measure, weights, value), counts, statistic, draws)


def _measured(found: Agreement, counts: Counts, statistic: Statistic, draws: Draws) -> Agreement:
    pairable = counts.pairable()
    units = int(pairable.units.sum())
    labels = int((pairable.sizes * pairable.units).sum())
    return _with_interval(replace(found, units=units, labels=labels), counts, statistic, draws)


def _with_interval(
    found: Agreement, counts: Counts, statistic: Statistic, draws: Draws
) -> Agreement:
    if found.units < FEWEST_UNITS:
        return replace(found, value=None, why="no_overlap")
    if found.value is None:
        return replace(found, why="no_variation")
    if not draws[0]:
        return found
    low, high = _interval(counts, statistic, *draws)
    return replace(found, low=low, high=high)


def _point(statistic: Statistic, counts: Counts) -> float | None:
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
    rng = np.random.default_rng(seed)
    pairable = counts.sizes >= 2
    step = max(1, AT_ONCE // max(1, len(counts.units)))
    values = []
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        weights = np.zeros((size, len(counts.units)))
        for chosen in (pairable, ~pairable):
            total = int(counts.units[chosen].sum())
            if total:
                shares = counts.units[chosen] / total
                weights[:, chosen] = rng.multinomial(total, shares, size=size)
        values.append(statistic(weights, counts))
    found = np.concatenate(values)
    found = found[np.isfinite(found)]
    if 2 * len(found) < resamples:
        return None, None
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(found, [tail, 1 - tail])
    return float(low), float(high)


def _observed(resampled: Floats, seen: Counts, close: Floats) -> tuple[Floats, Floats]:
    """Observed agreement and the grades' prevalence, for each resample."""
    sizes = seen.sizes
    pairable = sizes >= 2
    weighted = seen.patterns @ close
    agreeing = (seen.patterns * (weighted - 1)).sum(axis=1)
    shares = agreeing[pairable] / (sizes * (sizes - 1))[pairable]
    chosen = resampled[:, pairable]
    observed = (chosen @ shares) / chosen.sum(axis=1)
    prevalence = (resampled @ (seen.patterns / sizes[:, None])) / resampled.sum(axis=1)[:, None]
    return observed, prevalence


def _corrected(observed: Floats, expected: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (observed - expected) / (1 - expected)
    return np.where(1 - expected > 1e-12, found, np.nan)


def _table(values: Floats, weights: Weights) -> Floats:
    """How much two grades agree: 1 for the same one, down to 0 for the ends of the scale."""
    if weights == "none":
        return np.eye(len(values))
    apart = np.abs(values[:, None] - values[None, :]) / max(values[-1] - values[0], 1e-12)
    agreeing: Floats = 1 - (apart if weights == "linear" else apart**2)
    return agreeing


def _unique_rows(rows: Ints) -> tuple[Ints, Ints]:
    """The different rows and how often each is there."""
    base = int(rows.max(initial=0)) + 1
    if base ** rows.shape[1] < 2**62:
        keys = rows @ (base ** np.arange(rows.shape[1], dtype=np.int64))
        _, first, counts = np.unique(keys, return_index=True, return_counts=True)
        return rows[first], counts
    different, counts = np.unique(rows, axis=0, return_counts=True)
    return different, counts
