"""The same runs under two sets of grades, side by side, on the same queries; nothing is written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.queries import list_means
from evaluation.evaluations.query_values import values_under
from evaluation.models import Run
from evaluation.runs.names import MOST, name_of, run_label
from evaluation.runs.selection import compared_measure
from judgments.models import JudgmentList, JudgmentVersion
from judgments.permissions import Access, check_may_see_rankings
from judgments.versions.queries import Judged
from touchstone.measures.definition import Measure
from touchstone.measures.tool_differences import places
from touchstone.statistics.ranks import ap_correlation, kendall_tau

Pair = tuple[int, int]  # pks of a query and a document
Floats = npt.NDArray[np.float64]
RESAMPLES: Final = 1_000
MIDDLE: Final = (0.025, 0.975)
FEWEST: Final = 15  # queries, for an interval
TOP: Final = 5  # runs


@dataclass(frozen=True)
class TwoMeans:
    """A run's mean and rank on each board."""

    label: str
    first: float | None
    second: float | None
    first_place: int | None
    second_place: int | None
    is_family: bool


@dataclass(frozen=True)
class Ranged:
    """A figure with the interval that resampled queries give; None where there is none."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class FamilyShift:
    """How much more the second board lifts the runs of a family than the others: the mean over its
    runs of (second − first mean), minus the same of the others.

    family: a tag of rankers. own, others: how many runs. why: the shift is null because of
    `no_runs` in one of the two, or `few_queries`; else empty.
    """

    family: str
    own: int
    others: int
    shift: Ranged
    why: str


@dataclass(frozen=True)
class TwoBoards:
    """Up to twelve runs, the best of the first board first.

    tau: Kendall's, of the two orders, with the interval that resampled queries give; None where
    there is no order, and no interval below 15 queries. tau_ap: AP correlation of the second order
    with the first, in which swaps near the top count more. top: Kendall's tau of the `top_runs`
    best runs of the first board; null where there are no more. same_best: the share of resamples in
    which both have the same best run. family: null without one.
    """

    measure: str
    queries: int
    runs: tuple[TwoMeans, ...]
    tau: float | None
    low: float | None
    high: float | None
    tau_ap: Ranged
    top_runs: int
    top: Ranged | None
    same_best: float | None
    family: FamilyShift | None


def get_two_boards(
    *,
    access: Access,
    judgment_list: JudgmentList,
    first: Mapping[Pair, int],
    second: Mapping[Pair, int],
    family: str = "",
) -> TwoBoards | None:
    """The list's runs by its first plain measure, under each of two sets of grades.

    first, second: codes of the scale; both of the same queries, or the means are over different
    ones. family: a tag; the shift of the rankers that have it is among the figures.
    None where fewer than two runs are evaluated.
    """
    check_may_see_rankings(access)
    measure = compared_measure(judgment_list, "").measure
    runs = _list_runs(judgment_list, measure)
    query_ids = np.unique(np.array([query for query, _ in first], np.int64))
    if len(runs) < 2 or not len(query_ids):
        return None
    boards = [_Board.of(judgment_list, runs, measure, query_ids, own) for own in (first, second)]
    many = len(query_ids)
    weights = np.vstack([np.ones(many), _drawn(many)])
    first_means, second_means = (board.means(weights) for board in boards)
    own = np.array([bool(family) and family in run.ranker.tags for run in runs])
    tau = _ranged(_tau, first_means, second_means)
    best = [
        np.nan_to_num(means[1:], nan=-1.0).argmax(axis=1) for means in (first_means, second_means)
    ]
    top = np.argsort(-np.nan_to_num(first_means[0], nan=-1.0), kind="stable")[:TOP]
    return TwoBoards(
        measure=measure.name,
        queries=many,
        runs=_rows(runs, _known(first_means[0]), _known(second_means[0]), own),
        tau=tau.value,
        low=tau.low,
        high=tau.high,
        tau_ap=_ranged(_tau_ap, first_means, second_means),
        top_runs=TOP,
        top=_ranged(_tau, first_means[:, top], second_means[:, top]) if len(runs) > TOP else None,
        same_best=float((best[0] == best[1]).mean()) if many >= FEWEST else None,
        family=_shift_of(family, own, second_means - first_means, many) if family else None,
    )


def _drawn(many: int) -> Floats:
    """How often each query is in each resample; of few queries there are none."""
    if many < FEWEST:
        return np.zeros((0, many))
    rng = np.random.default_rng(0)
    return rng.multinomial(many, np.full(many, 1 / many), RESAMPLES).astype(np.float64)


def _ranged(of: Callable[[Floats, Floats], float | None], first: Floats, second: Floats) -> Ranged:
    """A figure of two boards. first, second: (1 + resamples, runs); all queries come first."""
    value, *resampled = (of(one, other) for one, other in zip(first, second, strict=True))
    return _spread(value, [one for one in resampled if one is not None])


def _spread(value: float | None, resampled: Sequence[float]) -> Ranged:
    low, high = np.quantile(resampled, MIDDLE).tolist() if len(resampled) else (None, None)
    return Ranged(value, low, high)


def _shift_of(family: str, own: npt.NDArray[np.bool_], moved: Floats, queries: int) -> FamilyShift:
    """moved: (1 + resamples, runs), the second board's mean minus the first's."""
    why = "few_queries" if queries < FEWEST else ""
    if own.all() or not own.any():
        why = "no_runs"
    count = int(own.sum())
    shift = Ranged(None, None, None)
    if not why:
        shifts = moved[:, own].mean(axis=1) - moved[:, ~own].mean(axis=1)
        known = shifts[1:][np.isfinite(shifts[1:])]
        shift = _spread(None if np.isnan(shifts[0]) else float(shifts[0]), known.tolist())
    return FamilyShift(family, count, len(own) - count, shift, why)


def _rows(
    runs: Sequence[Run],
    first: list[float | None],
    second: list[float | None],
    own: npt.NDArray[np.bool_],
) -> tuple[TwoMeans, ...]:
    ranks, other_ranks = places(first), places(second)
    result = [
        TwoMeans(
            label=run_label(run.ranker.name, name_of(run)),
            first=first[column],
            second=second[column],
            first_place=ranks[column],
            second_place=other_ranks[column],
            is_family=bool(own[column]),
        )
        for column, run in enumerate(runs)
    ]
    return tuple(sorted(result, key=lambda row: (row.first_place or MOST + 1, row.label)))


def _list_runs(judgment_list: JudgmentList, measure: Measure) -> list[Run]:
    """The newest run of each ranker with a mean, the best first."""
    version = JudgmentVersion.objects.filter(list=judgment_list, number=judgment_list.head).first()
    if version is None:
        return []
    means = list_means(judgment_list=judgment_list, version=version, measure=measure)
    return [run for run, mean in means.items() if mean is not None][:MOST]


@dataclass(frozen=True)
class _Board:
    """values, counted: (runs, queries)."""

    values: Floats
    counted: Floats

    @classmethod
    def of(
        cls,
        judgment_list: JudgmentList,
        runs: Sequence[Run],
        measure: Measure,
        query_ids: npt.NDArray[np.int64],
        grades: Mapping[Pair, int],
    ) -> "_Board":
        judged = Judged.of(grades)
        result = [
            values_under(
                run=run,
                judged=judged,
                query_ids=query_ids,
                grades=grades_of(judgment_list),
                measure=measure,
            )
            for run in runs
        ]
        counted = np.array([one.counted for one in result], np.float64)
        return cls(np.array([one.values for one in result]) * counted, counted)

    def means(self, weights: Floats) -> Floats:
        """(resamples, runs), NaN where no query counts. weights: (resamples, queries)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            means: Floats = (weights @ self.values.T) / (weights @ self.counted.T)
        return means


def _known(means: Floats) -> list[float | None]:
    return [None if np.isnan(mean) else float(mean) for mean in means]


def _tau(first: Floats, second: Floats) -> float | None:
    return None if np.isnan(first).any() or np.isnan(second).any() else kendall_tau(first, second)


def _tau_ap(first: Floats, second: Floats) -> float | None:
    return (
        None if np.isnan(first).any() or np.isnan(second).any() else ap_correlation(first, second)
    )
