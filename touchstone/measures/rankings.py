"""What the engine reads: for each ranking, the level of the document at every rank.

`judge_rankings` joins document ids with judgments. Callers that know the index of each ranked pair
among the judgments gather the levels themselves, for `grade_rankings`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.measures.counting import by_rank
from touchstone.measures.definition import Measure
from touchstone.measures.grades import LevelArray
from touchstone.measures.joining import IntArray, Join, Judgments

__all__ = [
    "BoolArray",
    "GradedRankings",
    "IntArray",
    "Judgments",
    "averaged",
    "grade_rankings",
    "judge_rankings",
    "quotients",
    "shown",
]

BoolArray = npt.NDArray[np.bool_]

_CELLS: Final = 1 << 18  # of a matrix that is filled at once


@dataclass(frozen=True)
class GradedRankings:
    """n rankings, each of one query, with the grade of what stands at every rank.

    levels: uint8 (n, width), the level at ranks 1..width; 0 where unjudged and behind the end.
    lengths: int (n,), how many documents each ranking has; it may exceed width. 0: no answer.
    judged: int (n, n_grades), how many documents of the ranking's query are judged at level 1, 2…
    ties: int (n, width), for each rank, counted from 0, the first rank of its tie, and behind the
        end the rank itself; None where no measure averages over ties.
    returned: int (n, n_grades), how many documents of the whole ranking have level 1, 2…, for
        rankings that are longer than width; None where the levels tell, or no one asks.
    """

    levels: LevelArray
    lengths: IntArray
    judged: IntArray
    ties: IntArray | None = None
    returned: IntArray | None = None

    def __post_init__(self) -> None:
        rows = len(self.levels)
        if self.levels.ndim != 2 or self.levels.dtype != np.uint8:
            raise ValueError("levels must be a uint8 matrix")
        if self.lengths.shape != (rows,) or self.judged.ndim != 2 or len(self.judged) != rows:
            raise ValueError("every ranking needs one length and one row of counts")
        if self.ties is not None and self.ties.shape != self.levels.shape:
            raise ValueError("every rank needs to know its tie")
        if self.returned is not None and self.returned.shape != self.judged.shape:
            raise ValueError("what is returned is counted by level, as what is judged is")

    def __len__(self) -> int:
        return len(self.levels)

    @cached_property
    def longest(self) -> int:
        """The length of the longest ranking."""
        return int(self.lengths.max(initial=0))

    def rows(self, start: int, stop: int) -> "GradedRankings":
        """The rankings start..stop, without a copy."""
        here = slice(start, stop)
        return GradedRankings(
            self.levels[here],
            self.lengths[here],
            self.judged[here],
            None if self.ties is None else self.ties[here],
            None if self.returned is None else self.returned[here],
        )


def judge_rankings(
    documents: IntArray,
    lengths: IntArray,
    judgments: Judgments,
    *,
    n_grades: int,
    queries: IntArray | None = None,
    width: int | None = None,
    returned: bool = False,
) -> GradedRankings:
    """Joins rankings with judgments.

    documents: document ids in rank order, ranking after ranking.
    lengths: how many belong to each ranking; 0 where a query has no answer.
    n_grades: how many grades the scale has.
    queries: ranking i answers the query in row queries[i] of the judgments; None: in row i.
    width: only so many ranks are looked at (`depth_needed` says how many measures want).
    returned: what is returned behind them is counted (`counts_needed` says if measures want it).
    """
    if queries is None and len(judgments.lengths) != len(lengths):
        raise ValueError("without `queries`, every ranking needs its own row of judgments")
    longest = int(lengths.max(initial=0))
    shown = longest if width is None else min(width, longest)
    joined = Join(
        documents,
        lengths,
        np.arange(len(lengths)) if queries is None else queries,
        judgments,
        shown,
        n_grades if returned and shown < longest else 0,
    ).done()
    judged = judgments.counts(n_grades)
    if queries is not None:
        judged = judged.T.take(queries, axis=1).T
    return GradedRankings(joined.levels, lengths, judged, returned=joined.counts)


def grade_rankings(
    levels: LevelArray,
    starts: IntArray,
    judged: IntArray,
    *,
    rows: IntArray,
    width: int | None = None,
    returned: bool = False,
) -> GradedRankings:
    """Rankings whose levels have been gathered already.

    levels: of all documents in rank order, ranking after ranking. starts: where each ranking
    begins, and where the last ends. judged: by row, as in `GradedRankings`.
    rows: which ranking stands in each row; -1: none. width, returned: as in `judge_rankings`.
    """
    lengths = np.where(rows < 0, 0, np.append(np.diff(starts), 0)[rows])
    longest = int(lengths.max(initial=0))
    shown = longest if width is None else min(width, longest)
    out = by_rank(len(rows), shown)
    if len(levels) == longest * len(rows) and np.array_equal(rows, np.arange(len(rows))):
        out[:] = levels.reshape(len(rows), longest)[:, :shown]
    else:
        first, ranks = starts[rows], np.arange(shown)
        step = max(1, _CELLS // max(1, shown))
        for low in range(0, len(rows), step):
            part = slice(low, low + step)
            positions = first[part, None] + ranks
            out[part] = levels.take(positions, mode="clip") if len(levels) else 0
            out[part] *= ranks < lengths[part, None]
    counts = _counts_of_rankings(levels, starts, judged.shape[1])[rows] if returned else None
    if counts is not None:
        counts[rows < 0] = 0
    return GradedRankings(out, lengths, judged, returned=counts)


def _counts_of_rankings(levels: LevelArray, starts: IntArray, n_grades: int) -> IntArray:
    """How many documents of each ranking have level 1, 2, …; behind the last, of none."""
    result = np.flatnonzero(levels)
    rankings = np.searchsorted(starts, result, "right") - 1
    cells = rankings * n_grades + (levels[result].astype(np.intp) - 1)
    flat = np.bincount(cells, minlength=len(starts) * n_grades)
    return flat.reshape(-1, n_grades).astype(np.int32)


def averaged(rows: npt.NDArray[np.float64] | BoolArray, ties: IntArray) -> npt.NDArray[np.float64]:
    """At every rank the mean over the ranks of its tie, (n, width). ties: as in GradedRankings."""
    width = rows.shape[1]
    tie = (ties + np.arange(len(rows))[:, None] * width).ravel()
    sums = np.bincount(tie, rows.ravel(), minlength=rows.size)
    sizes = np.bincount(tie, minlength=rows.size)
    return np.asarray((sums[tie] / sizes[tie]).reshape(rows.shape), np.float64)


def shown(measure: Measure, rankings: GradedRankings) -> IntArray:
    """How many documents of each ranking are within the measure's cutoff."""
    if measure.cutoff is None:
        return rankings.lengths
    return np.minimum(rankings.lengths, measure.cutoff)


def quotients(
    part: npt.NDArray[np.number], whole: npt.NDArray[np.number]
) -> npt.NDArray[np.float64]:
    """part / whole, and 0 where whole is 0."""
    out = np.zeros(len(whole))
    np.divide(part, whole, out=out, where=whole > 0)
    return out
