"""The same runs under two sets of grades, side by side, on the same queries; nothing is written."""

from collections.abc import Mapping, Sequence
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
from touchstone.statistics.ranks import kendall_tau

Pair = tuple[int, int]  # pks of a query and a document
Floats = npt.NDArray[np.float64]
RESAMPLES: Final = 1_000
MIDDLE: Final = (0.025, 0.975)


@dataclass(frozen=True)
class TwoMeans:
    """A run's mean and rank on each board."""

    label: str
    first: float | None
    second: float | None
    first_place: int | None
    second_place: int | None


@dataclass(frozen=True)
class TwoBoards:
    """Up to twelve runs, the best of the first board first.

    tau: Kendall's, of the two orders, with the interval that resampled queries give; None where
    there is no order. same_best: the share of resamples in which both have the same best run.
    """

    measure: str
    queries: int
    runs: tuple[TwoMeans, ...]
    tau: float | None
    low: float | None
    high: float | None
    same_best: float | None


def get_two_boards(
    *,
    access: Access,
    judgment_list: JudgmentList,
    first: Mapping[Pair, int],
    second: Mapping[Pair, int],
) -> TwoBoards | None:
    """The list's runs by its first plain measure, under each of two sets of grades.

    first, second: codes of the scale; both of the same queries, or the means are over different
    ones. None where fewer than two runs are evaluated.
    """
    check_may_see_rankings(access)
    measure = compared_measure(judgment_list, "").measure
    runs = _list_runs(judgment_list, measure)
    query_ids = np.unique(np.array([query for query, _ in first], np.int64))
    if len(runs) < 2 or not len(query_ids):
        return None
    boards = [_Board.of(judgment_list, runs, measure, query_ids, own) for own in (first, second)]
    ones, others = (board.means(np.ones((1, len(query_ids))))[0] for board in boards)
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(len(query_ids), np.full(len(query_ids), 1 / len(query_ids)), RESAMPLES)
    resampled = [board.means(drawn.astype(np.float64)) for board in boards]
    taus = [_tau(one, other) for one, other in zip(*resampled, strict=True)]
    known = [tau for tau in taus if tau is not None]
    is_resampled = len(query_ids) > 1
    low, high = np.quantile(known, MIDDLE).tolist() if is_resampled and known else (None, None)
    best = [np.nan_to_num(means, nan=-1.0).argmax(axis=1) for means in resampled]
    return TwoBoards(
        measure=measure.name,
        queries=len(query_ids),
        runs=_rows(runs, _known(ones), _known(others)),
        tau=_tau(ones, others),
        low=low,
        high=high,
        same_best=float((best[0] == best[1]).mean()) if is_resampled else None,
    )


def _rows(
    runs: Sequence[Run], first: list[float | None], second: list[float | None]
) -> tuple[TwoMeans, ...]:
    result = [
        TwoMeans(run_label(run.ranker.name, name_of(run)), one, other, place, other_place)
        for run, one, other, place, other_place in zip(
            runs, first, second, places(first), places(second), strict=True
        )
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
