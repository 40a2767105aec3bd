"""Kappas, Gwet's AC2, and agreement that is not corrected for chance."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from touchstone.agreement.bootstrap import (
    RESAMPLES,
    Agreement,
    measured,
    of_patterns,
    point,
    with_interval,
)
from touchstone.agreement.counts import Counts, Floats, coincidences

Weights = Literal["none", "linear", "quadratic"]


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

    return of_patterns("fleiss_kappa", weights, counts, statistic, (resamples, seed))


def cohen_kappa(
    table: NDArray[np.int64] | Floats,
    values: Sequence[float],
    *,
    weights: Weights = "quadratic",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Agreement:
    """Cohen's kappa of two people, weighted by the distance of the grades.

    table: (grades, grades), units by the first person's grade (rows) and the second's; or one such
    table for each cluster of units, (clusters, grades, grades): the interval then resamples them.
    Source: Cohen 1960; Cohen 1968; linear and quadratic weights as in Fleiss & Cohen 1973.
    """
    grades = len(values)
    chance = _table(np.asarray(values, dtype=np.float64), weights)
    tables = np.asarray(table, dtype=np.int64)
    if tables.ndim == 2:  # each unit is its own cluster
        cells = tables.reshape(-1)
        patterns, counted = np.eye(len(cells), dtype=np.int64)[cells > 0], cells[cells > 0]
    else:
        rows = tables.reshape(len(tables), -1)
        patterns, counted = np.unique(rows[rows.any(axis=1)], axis=0, return_counts=True)
    # a unit has two labels
    labels = (2 * patterns).astype(np.float64)
    counts = Counts(labels, counted, np.arange(grades * grades, dtype=np.float64))

    def statistic(resampled: Floats, seen: Counts) -> Floats:
        shares = (resampled @ seen.patterns).reshape(-1, grades, grades)
        shares = shares / shares.sum(axis=(1, 2))[:, None, None]
        observed = np.einsum("bij,ij->b", shares, chance)
        rows, columns = shares.sum(axis=2), shares.sum(axis=1)
        return _corrected(observed, np.einsum("bi,ij,bj->b", rows, chance, columns))

    units = int(tables.sum())
    measured = Agreement(
        "cohen_kappa", weights, point(statistic, counts), units=units, labels=2 * units
    )
    return with_interval(measured, counts, statistic, (resamples, seed))


def gwet_ac2(
    counts: Counts,
    *,
    weights: Weights = "quadratic",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Agreement:
    """Gwet's AC2; AC1 without weights. Defined also where everyone says the same: then 1.

    Source: Gwet, Handbook of Inter-Rater Reliability, 4th ed. 2014, ch. 3 (unequal numbers of
    labels); Gwet 2008, Br J Math Stat Psychol 61.
    """
    chance = _table(counts.values, weights)
    grades = len(counts.values)

    def statistic(resampled: Floats, seen: Counts) -> Floats:
        observed, prevalence = _observed(resampled, seen, chance)
        spread = (prevalence * (1 - prevalence)).sum(axis=1)
        return _corrected(observed, chance.sum() * spread / (grades * (grades - 1)))

    return of_patterns("gwet_ac2", weights, counts, statistic, (resamples, seed))


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
    return of_patterns(name, "none", counts, statistic, (resamples, seed))


def specific(counts: Counts, step: int, *, resamples: int = RESAMPLES, seed: int = 0) -> Agreement:
    """When one person gives a grade, how often another of the unit does too.

    The grade's share of its own row in the coincidence matrix (Fleiss 1975; Cicchetti &
    Feinstein 1990). Not corrected for chance. units: pairable ones in which someone gave it.
    """
    pairable = counts.pairable()
    keep = pairable.patterns[:, step] > 0
    given = pairable.only(keep)

    def statistic(resampled: Floats, seen: Counts) -> Floats:
        rows = coincidences(seen)[:, step, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            result: Floats = (resampled @ rows[:, step]) / (resampled @ rows.sum(axis=1))
        return result

    result = Agreement("specific", "nominal", point(statistic, given))
    return measured(result, given, statistic, (resamples, seed))


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
        result = (observed - expected) / (1 - expected)
    return np.where(1 - expected > 1e-12, result, np.nan)


def _table(values: Floats, weights: Weights) -> Floats:
    """How much two grades agree: 1 for the same one, down to 0 for the ends of the scale."""
    if weights == "none":
        return np.eye(len(values))
    apart = np.abs(values[:, None] - values[None, :]) / max(values[-1] - values[0], 1e-12)
    agreeing: Floats = 1 - (apart if weights == "linear" else apart**2)
    return agreeing
