"""Krippendorff's alpha: of all labels, of one person with the others, and what each label adds."""

from collections.abc import Sequence
from typing import Final, Literal

import krippendorff
import numpy as np
from numpy.typing import NDArray

from touchstone.agreement.bootstrap import (
    FEWEST_UNITS,
    RESAMPLES,
    Agreement,
    Statistic,
    measured,
    point,
)
from touchstone.agreement.counts import Counts, Floats, Ints, coincidences

Level = Literal["nominal", "ordinal", "interval"]

LEVELS: Final[tuple[Level, ...]] = ("nominal", "ordinal", "interval")


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
    return measured(Agreement("alpha", level, value), pairable, statistic, (resamples, seed))


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
    result = Agreement("alpha_with_others", level, point(statistic, pairable))
    return measured(result, pairable, statistic, (resamples, seed))


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
    names, positions = np.unique(units[mine], return_inverse=True)
    flat = np.bincount(positions * grades + steps[mine], minlength=len(names) * grades)
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
        result = 1 - (margins.sum(axis=1) - 1) * observed / expected
    # a single grade leaves no expected disagreement: there is nothing to compare with
    return np.where(expected > 0, result, np.nan)


def _distances(margins: Floats, values: Floats, level: Level) -> Floats:
    """How far each two grades are apart (many, grades, grades), where so many are given of each.

    margins: (many, grades).
    """
    if level == "nominal":
        return np.broadcast_to(1 - np.eye(len(values)), (*margins.shape, len(values)))
    ranks = np.cumsum(margins, axis=1) - margins / 2
    positions = ranks if level == "ordinal" else np.broadcast_to(values, margins.shape)
    distances: Floats = (positions[:, :, None] - positions[:, None, :]) ** 2
    return distances


def _package_alpha(pairable: Counts, level: Level) -> float | None:
    """The krippendorff package's value; it raises without overlap and is NaN without variation."""
    if pairable.units.sum() < FEWEST_UNITS or (pairable.patterns.sum(axis=0) > 0).sum() < 2:
        return None
    result = krippendorff.alpha(
        value_counts=np.repeat(pairable.patterns, pairable.units, axis=0),
        # only an interval has values; two grades of the same value are still two grades
        value_domain=pairable.values if level == "interval" else np.arange(len(pairable.values)),
        level_of_measurement=level,
    )
    return float(result) if np.isfinite(result) else None


def _alpha_statistic(level: Level) -> Statistic:
    def statistic(resampled: Floats, seen: Counts) -> Floats:
        each = coincidences(seen)
        flat = resampled @ each.reshape(len(each), -1)
        return alphas(flat.reshape(-1, *each.shape[1:]), seen.values, level)

    return statistic
