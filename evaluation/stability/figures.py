"""How stable the order of some runs is: against other queries, and against other labels.

What a worker computes; `queries` reads what is kept of it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from evaluation.evaluations.first_ranks import load_first_ranks
from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.sums import judged_queries
from evaluation.models import Run
from evaluation.runs.selection import ComparedRun, list_compared
from evaluation.stability.evidence import get_grade_chances
from evaluation.stability.winner_fragility import first_place_figures
from judgments.models import JudgmentList
from judgments.versions.queries import get_judged
from touchstone.measures.definition import Measure
from touchstone.measures.engine import depth_needed
from touchstone.measures.grades import Grades
from touchstone.measures.scoring import STORED_ORDER, StoredJudgments, StoredRankings, score
from touchstone.statistics.resampling import FloatArray
from touchstone.statistics.stability import Stability, board_stability, drawn_levels

RESAMPLES: Final = 2_000
DRAWS: Final = 40  # of the grades; each serves its share of the resamples
MOST_RANKS: Final = 10_000_000  # that a measure reads of all runs together; with more, labels stay
MOST_IN_TABLE: Final = 12  # runs of which every pair is shown
SEED: Final = 0
TRYING: Final = 10  # steps in which judgments are tried with other grades
STEPS: Final = 2 + DRAWS + TRYING
# Raised when the same runs and judgments give other figures than before.
REVISION: Final = 1
Report = Callable[[int], None]


def stability_figures(
    *,
    judgment_list: JudgmentList,
    version: int,
    measure: Measure,
    runs: Sequence[Run],
    query_ids: Sequence[int] | None,
    report: Report,
) -> dict[str, Any]:
    """How stable the order of two runs or more is, as values that JSON can hold; for the worker.

    A judgment's grade is drawn from the posterior that its campaign kept, else from its votes; one
    that was decided, or has neither, stays as it is. rows: the runs, best first. Empty without a
    query, and where a run has no mean.

    query_ids: None for all that are judged. report: called with how many of STEPS are done.
    """
    compared = []
    for own in list_compared(
        runs=runs,
        judgment_list=judgment_list,
        version=version,
        measure=measure,
        query_ids=query_ids,
    ):
        compared.append(own)
        report(0)
    compared.sort(key=lambda own: (-(own.mean.value or 0.0), own.name))
    values = _values(compared)
    if values.shape[1] == 0 or np.isnan(values).all(axis=1).any():
        return {}
    report(1)
    by_queries = board_stability(values, resamples=RESAMPLES, seed=SEED)
    report(2)
    noisy, by_labels = _with_labels(judgment_list, version, measure, compared, report)
    first_place = first_place_figures(
        compared=compared,
        judgment_list=judgment_list,
        version=version,
        measure=measure,
        report=lambda share: report(2 + DRAWS + int(share * TRYING)),
    )
    return _figures(compared, by_queries, by_labels) | {
        "queries": values.shape[1],
        "noisy": noisy,
        "first_place": first_place,
    }


def _values(compared: Sequence[ComparedRun]) -> FloatArray:
    """(n_runs, n_queries), NaN where a query is not in a run's mean; none that is in no one's."""
    values = np.stack([np.where(own.values.counted, own.values.values, np.nan) for own in compared])
    return np.asarray(values[:, ~np.isnan(values).all(axis=0)], np.float64)


def _with_labels(
    judgment_list: JudgmentList,
    version: int,
    measure: Measure,
    compared: Sequence[ComparedRun],
    report: Report,
) -> tuple[int, Stability | None]:
    """How many judgments may have another grade, and what becomes of the order then.

    None where there are none such, and where runs are too long to be read again and again.
    """
    depth, query_ids = depth_needed([measure]), compared[0].values.query_ids
    lengths = [own.run.row_count / max(1, own.run.query_count) for own in compared]
    ranks = len(query_ids) * sum(min(length, depth or length) for length in lengths)
    if ranks > MOST_RANKS or measure.ordering != STORED_ORDER:
        return 0, None
    grades = grades_of(judgment_list)
    judged = get_judged(list_id=judgment_list.pk, version=version, query_ids=query_ids.tolist())
    own = judged_queries(judged, query_ids, grades)
    chances = get_grade_chances(
        list_id=judgment_list.pk, version=version, judged=own, grades=grades
    )
    noisy = int((np.count_nonzero(chances, axis=1) > 1).sum())
    if not noisy:
        return 0, None
    rankings = load_first_ranks(
        runs=[one.run for one in compared], query_ids=query_ids, depth=depth
    )
    redrawn = _Redrawn(measure, grades, own, rankings, chances, len(compared), report)
    return noisy, board_stability(
        _values(compared), resamples=RESAMPLES, seed=SEED, draw=redrawn.values, draws=DRAWS
    )


@dataclass(eq=False)
class _Redrawn:
    """The runs' values under redrawn grades."""

    measure: Measure
    grades: Grades
    judged: StoredJudgments
    rankings: StoredRankings
    chances: FloatArray
    n_runs: int
    report: Report
    drawn: int = 0

    def values(self, rng: np.random.Generator) -> FloatArray:
        """(n_runs, n_queries), NaN where a query is not in a run's mean."""
        judgments = self.judged.judgments
        levels = drawn_levels(judgments.levels, self.chances, rng)
        judged = replace(self.judged, judgments=replace(judgments, levels=levels))
        result = score([self.measure], self.grades, judged, self.rankings, n_runs=self.n_runs)
        self.drawn += 1
        self.report(2 + self.drawn)
        return np.where(result.counted[..., 0], result.values[..., 0], np.nan)


def _figures(
    compared: Sequence[ComparedRun], by_queries: Stability, by_labels: Stability | None
) -> dict[str, Any]:
    shown = by_labels or by_queries
    firsts = None if by_labels is None else by_labels.first.tolist()
    n_runs = len(compared)
    return {
        "resamples": shown.resamples,
        "tau_median": shown.tau_median,
        "tau_reached": shown.tau_reached,
        "has_labels": by_labels is not None,
        "rows": [
            {
                "run": own.run.pk,
                "mean": own.mean.value,
                "low": float(shown.low[at]),
                "high": float(shown.high[at]),
                "highest": int(shown.highest[at]),
                "lowest": int(shown.lowest[at]),
                "first": float(by_queries.first[at]),
                "first_labels": firsts and firsts[at],
                "above_next": float(shown.wins[at, at + 1]) if at + 1 < n_runs else None,
                "above": shown.wins[at].tolist() if n_runs <= MOST_IN_TABLE else [],
            }
            for at, own in enumerate(compared)
        ],
    }
