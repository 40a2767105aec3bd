"""Exact sums of stored runs, computed from the rankings and a version's judgments."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.exact import COLUMNS, IntArray, add, subtract
from evaluation.measures.definition import Measure
from evaluation.measures.grades import Grades
from evaluation.scoring import Ids, JudgedQueries, score_sums
from evaluation.selectors.rankings import load_rankings
from judgments.selectors import Judged, get_judged

TOGETHER: Final = 2_000_000  # ranks held in memory at once


@dataclass(frozen=True, slots=True)
class RunSize:
    """A run, and how many ranks and queries it has."""

    run_id: int
    rows: int
    queries: int

    @property
    def depth(self) -> float:
        """The mean length of its rankings."""
        return self.rows / max(1, self.queries)


@dataclass(frozen=True, slots=True)
class Board:
    """What is computed: these measures, on this list's scale."""

    list_id: int
    measures: tuple[Measure, ...]
    grades: Grades


def compute_sums(
    *, board: Board, version: int, runs: Sequence[RunSize], query_ids: Sequence[int] | None = None
) -> IntArray:
    """The sums at a version from scratch, (n_runs, n_measures, 6).

    query_ids: only these of the judged queries are in the mean; None: all are.
    """
    judged = get_judged(list_id=board.list_id, version=version, query_ids=query_ids)
    sums = _nothing(board, runs)
    for chunk in chunks(np.unique(judged.query_ids), runs):
        sums = add(sums, _sums_of(board, judged, chunk, runs))
    return sums


def move_sums(
    *,
    board: Board,
    sums: IntArray,
    before: int,
    after: int,
    query_ids: Sequence[int],
    runs: Sequence[RunSize],
) -> IntArray:
    """The sums at version `after`, from those at `before`, to the last bit.

    before, after: in either order; 0 is the empty list.
    query_ids: all queries with a judgment that begins or ends between the two.
    """
    for chunk in chunks(np.unique(np.array(query_ids, np.int64)), runs):
        rankings = load_rankings(run_ids=[run.run_id for run in runs], query_ids=chunk.tolist())
        for version, combine in ((after, add), (before, subtract)):
            judged = get_judged(list_id=board.list_id, version=version, query_ids=chunk.tolist())
            own = score_sums(
                board.measures,
                board.grades,
                judged_queries(judged, chunk, board.grades),
                rankings,
                n_runs=len(runs),
            )
            sums = combine(sums, own)
    return sums


def judged_queries(judged: Judged, query_ids: Ids, grades: Grades) -> JudgedQueries:
    """A version's judgments of some queries, as the measure engine wants them."""
    return JudgedQueries.of(
        query_ids,
        judged_queries=judged.query_ids,
        documents=judged.document_ids,
        codes=judged.grades,
        grades=grades,
    )


def _sums_of(board: Board, judged: Judged, chunk: Ids, runs: Sequence[RunSize]) -> IntArray:
    rankings = load_rankings(run_ids=[run.run_id for run in runs], query_ids=chunk.tolist())
    own = judged_queries(judged, chunk, board.grades)
    return score_sums(board.measures, board.grades, own, rankings, n_runs=len(runs))


def _nothing(board: Board, runs: Sequence[RunSize]) -> IntArray:
    return np.zeros((len(runs), len(board.measures), len(COLUMNS)), np.int64)


def chunks(query_ids: Ids, runs: Sequence[RunSize]) -> Iterator[Ids]:
    """The queries in portions whose rankings, of all the runs, fit into memory together."""
    ranks_per_query = sum(1.0 + run.depth for run in runs)
    step = max(1, int(TOGETHER / max(1.0, ranks_per_query)))
    for start in range(0, len(query_ids), step):
        yield query_ids[start : start + step]
