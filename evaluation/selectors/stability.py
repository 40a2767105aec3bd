"""How stable the order of some runs is: against other queries, and against other labels."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
from django.core.cache import cache

from evaluation.measures.definition import Measure
from evaluation.measures.grades import Grades
from evaluation.scoring import STORED_ORDER, JudgedQueries, StoredRankings, score
from evaluation.selectors.compared_runs import ComparedRun
from evaluation.selectors.evidence import get_grade_chances
from evaluation.selectors.measure_sets import grades_of
from evaluation.selectors.query_values import KEPT
from evaluation.selectors.rankings import load_rankings
from evaluation.selectors.sums import judged_queries
from evaluation.statistics.resampling import FloatArray
from evaluation.statistics.stability import Stability, board_stability, drawn_levels
from judgments.models import JudgmentList
from judgments.selectors import get_judged

RESAMPLES: Final = 2_000
DRAWS: Final = 40  # of the grades; each serves its share of the resamples
MOST_RANKS: Final = 2_000_000  # of all runs together; with more, labels are not drawn
MOST_QUERIES: Final = 2_000  # of which the grades are drawn
SEED: Final = 0


@dataclass(frozen=True)
class BoardStability:
    """How stable a board is. by_labels: queries and labels drawn; None where labels can't be.

    noisy: judgments whose votes or posterior leave more than one grade possible.
    """

    by_queries: Stability
    by_labels: Stability | None
    noisy: int


@dataclass(frozen=True)
class StabilityRow:
    """One run's share of first places, and how often it is above each of the others.

    above: in the order of the page's runs; None against itself. first_labels: with labels drawn
    as well; None where they can't be.
    """

    name: str
    first: float
    first_labels: float | None
    above: tuple[float | None, ...]


@dataclass(frozen=True)
class BoardShown:
    """How stable the order of the runs is. tau: Kendall's, of half of the resamples and of 95 %."""

    rows: tuple[StabilityRow, ...]
    resamples: int
    tau_median: float | None
    tau_reached: float | None
    has_labels: bool
    noisy: int


def get_board_stability(
    *, compared: Sequence[ComparedRun], judgment_list: JudgmentList, version: int, measure: Measure
) -> BoardStability | None:
    """The stability of the order of two runs or more; None without a query. Kept in the cache.

    A judgment's grade is drawn from the posterior that its campaign kept, else from its votes; one
    that was decided, or has neither, stays as it is.
    """
    values = np.stack([np.where(own.values.counted, own.values.values, np.nan) for own in compared])
    values = values[:, ~np.isnan(values).all(axis=0)]
    if values.shape[1] == 0 or np.isnan(values).all(axis=1).any():
        return None
    name = _cache_name(compared, judgment_list, version, measure)
    kept: BoardStability | None = cache.get(name)
    if kept is None:
        kept = _compute(values, compared, judgment_list, version, measure)
        cache.set(name, kept, KEPT)
    return kept


def get_board_shown(
    *, compared: Sequence[ComparedRun], judgment_list: JudgmentList, version: int, measure: Measure
) -> BoardShown | None:
    """The stability as a page shows it, the surest first; None for fewer than two runs."""
    if len(compared) < 2:
        return None
    found = get_board_stability(
        compared=compared, judgment_list=judgment_list, version=version, measure=measure
    )
    if found is None:
        return None
    shown = found.by_labels or found.by_queries
    first = found.by_queries.first
    order = sorted(range(len(compared)), key=lambda place: (-first[place], compared[place].name))
    rows = tuple(
        StabilityRow(
            name=compared[place].name,
            first=float(first[place]),
            first_labels=None if found.by_labels is None else float(found.by_labels.first[place]),
            above=tuple(
                None if other == place else float(shown.wins[place, other]) for other in order
            ),
        )
        for place in order
    )
    return BoardShown(
        rows=rows,
        resamples=shown.resamples,
        tau_median=shown.tau_median,
        tau_reached=shown.tau_reached,
        has_labels=found.by_labels is not None,
        noisy=found.noisy,
    )


def _compute(
    values: FloatArray,
    compared: Sequence[ComparedRun],
    judgment_list: JudgmentList,
    version: int,
    measure: Measure,
) -> BoardStability:
    by_queries = board_stability(values, resamples=RESAMPLES, seed=SEED)
    ranks = sum(own.run.row_count for own in compared)
    query_ids = compared[0].values.query_ids
    if ranks > MOST_RANKS or len(query_ids) > MOST_QUERIES or measure.ordering != STORED_ORDER:
        return BoardStability(by_queries, None, 0)
    grades = grades_of(judgment_list)
    judged = get_judged(list_id=judgment_list.pk, version=version, query_ids=query_ids.tolist())
    own = judged_queries(judged, query_ids, grades)
    chances = get_grade_chances(
        list_id=judgment_list.pk, version=version, judged=own, grades=grades
    )
    noisy = int((np.count_nonzero(chances, axis=1) > 1).sum())
    if not noisy:
        return BoardStability(by_queries, None, 0)
    rankings = load_rankings(run_ids=[one.run.pk for one in compared], query_ids=query_ids.tolist())
    redrawn = _Redrawn(measure, grades, own, rankings, chances, len(compared))
    by_labels = board_stability(
        values, resamples=RESAMPLES, seed=SEED, draw=redrawn.values, draws=DRAWS
    )
    return BoardStability(by_queries, by_labels, noisy)


@dataclass(frozen=True, eq=False)
class _Redrawn:
    """The runs' values under grades that are drawn anew."""

    measure: Measure
    grades: Grades
    judged: JudgedQueries
    rankings: StoredRankings
    chances: FloatArray
    n_runs: int

    def values(self, dice: np.random.Generator) -> FloatArray:
        """(n_runs, n_queries), NaN where a query is not in a run's mean."""
        judgments = self.judged.judgments
        levels = drawn_levels(judgments.levels, self.chances, dice)
        judged = replace(self.judged, judgments=replace(judgments, levels=levels))
        found = score([self.measure], self.grades, judged, self.rankings, n_runs=self.n_runs)
        return np.where(found.counted[..., 0], found.values[..., 0], np.nan)


def _cache_name(
    compared: Sequence[ComparedRun], judgment_list: JudgmentList, version: int, measure: Measure
) -> str:
    queries: npt.NDArray[np.int64] = compared[0].values.query_ids
    parts = (
        *(str(own.run.public_id) for own in compared),
        str(judgment_list.pk),
        str(version),
        f"{measure.name} {measure.revision}",
        hashlib.sha256(queries.tobytes()).hexdigest(),
    )
    return "stability:1:" + hashlib.sha256("\n".join(parts).encode()).hexdigest()
