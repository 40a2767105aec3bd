"""A machine judge's agreement with people: functions of plain values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan, sqrt
from typing import Final

import numpy as np
import numpy.typing as npt

from judgments.pages.answers import ON_PAGES
from touchstone.agreement.alpha import alpha, alpha_with_others
from touchstone.agreement.bootstrap import FEWEST_CLUSTERS, Agreement
from touchstone.agreement.counts import Counts, cluster_counts, count_labels, count_own
from touchstone.agreement.kappas import Weights, cohen_kappa, percent
from touchstone.statistics.clustered import clustered_mean
from touchstone.statistics.intervals import mean_interval
from touchstone.statistics.wilson import wilson_interval

Ints = npt.NDArray[np.int64]
RESAMPLES: Final = 500


@dataclass(frozen=True)
class Graded:
    """Pairs with a grade of people and one of the machine; arrays of one length.

    queries: ids. people, machine: steps of the scale, from 0.
    """

    queries: Ints
    people: Ints
    machine: Ints

    def __len__(self) -> int:
        return len(self.queries)

    def rows(self, chosen: npt.NDArray[np.bool_]) -> "Graded":
        """Some of the pairs."""
        return Graded(self.queries[chosen], self.people[chosen], self.machine[chosen])


@dataclass(frozen=True)
class Single:
    """People's single labels of the same pairs. pairs: places in `Graded`. steps: from 0."""

    pairs: Ints
    steps: Ints


@dataclass(frozen=True)
class Figure:
    """A measure with its interval of 95 %, for which queries are resampled; None where there is
    none, as below 15 queries. pairs: it rests on."""

    value: float | None
    low: float | None
    high: float | None
    pairs: int


@dataclass(frozen=True)
class Bias:
    """The mean of machine − people in steps of the scale, with Student's interval over queries."""

    value: float
    low: float | None
    high: float | None
    pairs: int
    queries: int


@dataclass(frozen=True)
class QueryAgreement:
    """A judge's agreement with people on the pairs of a query. query: its id.

    same: the share of pairs with the same grade, with Wilson's interval. bias: the mean of
    machine − people in steps of the scale, with Student's interval over pairs; None for
    one pair, and where all pairs differ alike.
    """

    query: int
    pairs: int
    same: float
    same_low: float
    same_high: float
    bias: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Trust:
    """A judge's agreement with people.

    alpha: of the machine with people's single labels; ceiling: of people with each other, on the
    same pairs, so that the two can be compared. kappa, weighted: Cohen's, with people's grade of
    the pair; quadratic weights. same: the share of pairs with the same grade. table: pairs by
    people's grade (rows) and the machine's. by_grade: bias where people gave each grade; null
    where they never did.

    On pages, by_query: all queries, with the largest bias first.
    """

    pairs: int
    queries: int
    alpha: Figure
    ceiling: Figure
    kappa: Figure
    weighted: Figure
    same: Figure
    table: tuple[tuple[int, ...], ...]
    bias: Bias
    by_grade: tuple[Bias | None, ...]
    by_query: tuple[QueryAgreement, ...] = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class Drift:
    """A revision beside an earlier one, on the pairs that both labelled.

    revision: the number of the earlier. alpha: between the two. same: the share of pairs with the
    same grade. bias: the mean of the later − the earlier grade, in steps.
    """

    revision: int
    alpha: Figure
    same: Figure
    bias: Bias


def drift_of(revision: int, both: Graded, values: Sequence[float]) -> Drift:
    """The drift since an earlier revision. both: its grades as people's, the later's as the
    machine's; at least one pair."""
    counts = _count_both(both, values)
    return Drift(
        revision=revision,
        alpha=_figure(alpha(counts, resamples=RESAMPLES)),
        same=_figure(percent(counts, resamples=RESAMPLES)),
        bias=bias_of(both),
    )


def _count_both(graded: Graded, values: Sequence[float]) -> Counts:
    return count_labels(
        np.tile(np.arange(len(graded)), 2),
        np.concatenate([graded.people, graded.machine]),
        values,
        np.tile(graded.queries, 2),
    )


def trust_of(graded: Graded, single: Single, values: Sequence[float]) -> Trust:
    """All figures of some pairs, at least one. values: what the scale's steps stand for."""
    grades = len(values)
    table = np.bincount(graded.people * grades + graded.machine, minlength=grades * grades).reshape(
        grades, grades
    )
    said = count_labels(single.pairs, single.steps, values, graded.queries[single.pairs])
    return Trust(
        pairs=len(graded),
        queries=len(np.unique(graded.queries)),
        alpha=alpha_with_people(graded, single, values),
        ceiling=_figure(alpha(said, resamples=RESAMPLES)),
        kappa=kappa_of(graded, values, "none"),
        weighted=kappa_of(graded, values, "quadratic"),
        same=same_of(graded, values),
        table=tuple(tuple(row) for row in table.tolist()),
        bias=bias_of(graded),
        by_grade=tuple(
            bias_of(graded.rows(chosen)) if (chosen := graded.people == step).any() else None
            for step in range(grades)
        ),
        by_query=_by_query(graded),
    )


def kappa_of(graded: Graded, values: Sequence[float], weights: Weights) -> Figure:
    """Cohen's kappa of the machine with people's grade of the pair."""
    grades = len(values)
    cells = graded.people * grades + graded.machine
    tables = cluster_counts(graded.queries, cells, grades * grades).reshape(-1, grades, grades)
    resamples = RESAMPLES if len(tables) >= FEWEST_CLUSTERS else 0
    return _figure(cohen_kappa(tables, values, weights=weights, resamples=resamples))


def same_of(graded: Graded, values: Sequence[float]) -> Figure:
    """The share of pairs with the same grade."""
    return _figure(percent(_count_both(graded, values), resamples=RESAMPLES))


def alpha_with_people(graded: Graded, single: Single, values: Sequence[float]) -> Figure:
    """Ordinal alpha of the machine with people's single labels."""
    own = np.arange(len(graded))
    counts = count_own(
        np.concatenate([own, single.pairs]),
        np.concatenate([graded.machine, single.steps]),
        np.concatenate([np.ones(len(own), bool), np.zeros(len(single.pairs), bool)]),
        values,
        np.concatenate([graded.queries, graded.queries[single.pairs]]),
    )
    return _figure(alpha_with_others(counts, resamples=RESAMPLES))


def bias_of(graded: Graded) -> Bias:
    """The mean difference of the grades."""
    _, cluster = np.unique(graded.queries, return_inverse=True)
    result = clustered_mean((graded.machine - graded.people).astype(np.float64), cluster)
    return Bias(result.value, result.low, result.high, len(graded), int(cluster.max()) + 1)


def _by_query(graded: Graded) -> tuple[QueryAgreement, ...]:
    queries, cluster = np.unique(graded.queries, return_inverse=True)
    difference = (graded.machine - graded.people).astype(np.float64)
    count = np.bincount(cluster)
    mean = np.bincount(cluster, weights=difference) / count
    same = np.bincount(cluster, weights=difference == 0)
    squares = np.bincount(cluster, weights=(difference - mean[cluster]) ** 2)
    result = []
    for place in np.lexsort((queries, -count, -np.abs(mean))).tolist():
        pairs, bias = int(count[place]), float(mean[place])
        low_same, high_same = wilson_interval(float(same[place]), pairs) or (0.0, 1.0)
        error = sqrt(squares[place] / (pairs - 1) / pairs) if pairs > 1 else None
        low, high = mean_interval(bias, error, pairs) or (None, None)
        result.append(
            QueryAgreement(
                query=int(queries[place]),
                pairs=pairs,
                same=float(same[place]) / pairs,
                same_low=low_same,
                same_high=high_same,
                bias=bias,
                low=low,
                high=high,
            )
        )
    return tuple(result)


def _figure(found: Agreement) -> Figure:
    value = found.value
    if value is None or isnan(value):
        return Figure(None, None, None, found.units)
    return Figure(value, found.low, found.high, found.units)
