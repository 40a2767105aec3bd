"""What the engine reads: for each ranking, the level of the document at every rank.

Two ways lead here. `judge_rankings` joins document ids with judgments. Whoever stores dense codes
of (query, document) pairs gathers the levels himself and makes a `GradedRankings` of them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.measures.definition import Measure
from evaluation.measures.grades import UNJUDGED, LevelArray

IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]

_TABLE_CELLS: Final = 1 << 22  # bytes of the table documents are looked up in: fits a cache
_LARGEST_SPAN: Final = 1 << 26  # of document ids; beyond it they are searched for instead
_LARGEST_KEY: Final = 1 << 62  # of (query, document); beyond it documents are numbered anew
_SEARCHED_CELLS: Final = 1 << 15  # ranks searched for at once
# What the two ways to join cost, in nanoseconds, measured: which of them is taken changes no value.
_PER_TABLE: Final = 7500.0  # filling the table for some queries, and emptying it
_PER_GATHER: Final = 4.0  # a rank looked up in the table
_PER_STEP: Final = 2.0  # a step of a binary search for a rank


@dataclass(frozen=True)
class GradedRankings:
    """n rankings, each of one query, with the grade of what stands at every rank.

    levels: uint8 (n, width), the level at ranks 1..width; 0 where unjudged and behind the end.
    lengths: int (n,), how many documents each ranking has; it may exceed width. 0: no answer.
    judged: int (n, n_grades), how many documents of the ranking's query are judged at level 1, 2…
    ties: int (n, width), for each rank, counted from 0, the first rank of its tie, and behind the
        end the rank itself; None where no measure averages over ties.
    """

    levels: LevelArray
    lengths: IntArray
    judged: IntArray
    ties: IntArray | None = None

    def __post_init__(self) -> None:
        rows = len(self.levels)
        if self.levels.ndim != 2 or self.levels.dtype != np.uint8:
            raise ValueError("levels must be a uint8 matrix")
        if self.lengths.shape != (rows,) or self.judged.ndim != 2 or len(self.judged) != rows:
            raise ValueError("every ranking needs one length and one row of counts")
        if self.ties is not None and self.ties.shape != self.levels.shape:
            raise ValueError("every rank needs to know its tie")

    def __len__(self) -> int:
        return len(self.levels)

    @cached_property
    def longest(self) -> int:
        """The length of the longest ranking."""
        return int(self.lengths.max(initial=0))

    def rows(self, start: int, stop: int) -> "GradedRankings":
        """The rankings start..stop, without a copy."""
        ties = None if self.ties is None else self.ties[start:stop]
        return GradedRankings(
            self.levels[start:stop], self.lengths[start:stop], self.judged[start:stop], ties
        )


@dataclass(frozen=True)
class Judgments:
    """The judgments of some queries, query after query.

    documents: int, the judged documents' ids; distinct within a query, in any order.
    levels: uint8, their levels (`Grades.levels` of their grade codes), none of them 0.
    lengths: int (n_queries,), how many belong to each query.
    """

    documents: IntArray
    levels: LevelArray
    lengths: IntArray

    def __post_init__(self) -> None:
        if not len(self.documents) == len(self.levels) == int(self.lengths.sum()):
            raise ValueError("documents, levels and lengths must agree")

    def counts(self, n_grades: int) -> npt.NDArray[np.int64]:
        """How many documents of each query are judged at each level 1..n_grades."""
        rows = np.repeat(np.arange(len(self.lengths)) * n_grades, self.lengths)
        flat = np.bincount(rows + self.levels - 1, minlength=len(self.lengths) * n_grades)
        return flat.reshape(-1, n_grades)


def judge_rankings(
    documents: IntArray,
    lengths: IntArray,
    judgments: Judgments,
    *,
    n_grades: int,
    queries: IntArray | None = None,
    width: int | None = None,
) -> GradedRankings:
    """Joins rankings with judgments.

    documents: document ids in rank order, ranking after ranking.
    lengths: how many belong to each ranking; 0 where a query has no answer.
    n_grades: how many grades the scale has.
    queries: ranking i answers the query in row queries[i] of the judgments; None: in row i.
    width: only so many ranks are looked at (`depth_needed` says how many measures want).
    """
    longest = int(lengths.max(initial=0))
    width = longest if width is None else min(width, longest)
    rows = np.arange(len(lengths)) if queries is None else queries
    if queries is None and len(judgments.lengths) != len(lengths):
        raise ValueError("without `queries`, every ranking needs its own row of judgments")
    matrix, filled = _matrix(documents, lengths, width)
    levels = _looked_up(matrix, rows, judgments)
    if filled is not None:
        levels *= filled
    return GradedRankings(levels, lengths, judgments.counts(n_grades)[rows])


def _matrix(
    documents: IntArray, lengths: IntArray, width: int
) -> tuple[IntArray, BoolArray | None]:
    """Documents as (n, width), and which cells are filled; None where all are."""
    if width == 0 or len(documents) == 0:
        return np.zeros((len(lengths), 0), np.int64), None
    if len(documents) == len(lengths) * (longest := int(lengths.max())):
        return documents.reshape(-1, longest)[:, :width], None
    starts = np.cumsum(lengths) - lengths
    places = starts[:, None] + np.arange(width)
    return documents.take(places, mode="clip"), np.arange(width) < lengths[:, None]


def _looked_up(matrix: IntArray, rows: IntArray, judgments: Judgments) -> LevelArray:
    """The level of every document of the matrix, each row with the judgments of its query."""
    if matrix.size == 0 or judgments.documents.size == 0:
        return np.zeros(matrix.shape, np.uint8)
    lowest = min(int(matrix.min()), int(judgments.documents.min()))
    highest = max(int(matrix.max()), int(judgments.documents.max()))
    span = highest - lowest + 1
    n_queries, n_judged = len(judgments.lengths), len(judgments.documents)
    tables = -(-n_queries // max(1, _TABLE_CELLS // span))
    by_table = tables * _PER_TABLE + matrix.size * _PER_GATHER
    by_search = matrix.size * (1 + n_judged.bit_length()) * _PER_STEP
    if span <= _LARGEST_SPAN and by_table <= by_search:
        return _scattered(matrix, rows, judgments, lowest, span)
    if span * n_queries > _LARGEST_KEY:
        return _searched_by_name(matrix, rows, judgments)
    return _searched(matrix, rows, judgments, lowest, span)


def _searched(
    matrix: IntArray, rows: IntArray, judgments: Judgments, lowest: int, span: int
) -> LevelArray:
    """By searching a sorted list of (query, document): for few ranks of many queries.

    Some rankings at a time, in the order of their queries, so that their list stays in the cache.
    """
    out = np.empty(matrix.shape, np.uint8)
    by_query = np.argsort(rows, kind="stable")
    in_place = bool((by_query == np.arange(len(rows))).all())
    ends = np.cumsum(judgments.lengths)
    step = max(1, _SEARCHED_CELLS // matrix.shape[1])
    for low in range(0, len(rows), step):
        high = min(low + step, len(rows))
        mine = slice(low, high) if in_place else by_query[low:high]
        own = rows[mine].astype(np.int64)
        first, last = int(own[0]), int(own[-1]) + 1
        judged = slice(int(ends[first] - judgments.lengths[first]), int(ends[last - 1]))
        offsets = np.arange(last - first, dtype=np.int64) * span - lowest
        keys = np.repeat(offsets, judgments.lengths[first:last]) + judgments.documents[judged]
        wanted = matrix[mine] + ((own - first) * span - lowest)[:, None]
        out[mine] = _found(keys, judgments.levels[judged], wanted)
    return out


def _found(keys: IntArray, levels: LevelArray, wanted: IntArray) -> LevelArray:
    """The level of every key that is wanted; 0 where there is none of it."""
    if len(keys) == 0:
        return np.zeros(wanted.shape, np.uint8)
    if (keys[1:] < keys[:-1]).any():
        order = np.argsort(keys)
        keys, levels = keys[order], levels[order]
    places = np.searchsorted(keys, wanted)
    places[places == len(keys)] = 0
    out: LevelArray = levels.take(places) * (keys.take(places) == wanted)
    return out


def _scattered(
    matrix: IntArray, rows: IntArray, judgments: Judgments, lowest: int, span: int
) -> LevelArray:
    """By a table of levels over document ids: scatter the judgments, gather the rankings, reset.

    As many queries at once as fit the table.
    """
    out = np.empty(matrix.shape, np.uint8)
    n_queries = len(judgments.lengths)
    together = min(n_queries, max(1, _TABLE_CELLS // span))
    table = np.zeros(together * span, np.uint8)
    ends = np.cumsum(judgments.lengths)
    by_query = np.argsort(rows, kind="stable")
    edges = np.searchsorted(rows[by_query], np.arange(0, n_queries + together, together))
    in_place = bool((by_query == np.arange(len(rows))).all())
    for chunk, first in enumerate(range(0, n_queries, together)):
        last = min(first + together, n_queries)
        start, stop = int(ends[first] - judgments.lengths[first]), int(ends[last - 1])
        offsets = np.repeat(np.arange(last - first) * span - lowest, judgments.lengths[first:last])
        cells = judgments.documents[start:stop] + offsets
        table[cells] = judgments.levels[start:stop]
        low, high = int(edges[chunk]), int(edges[chunk + 1])
        mine = slice(low, high) if in_place else by_query[low:high]
        own = matrix[mine] + ((rows[mine] - first) * span - lowest)[:, None]
        out[mine] = table.take(own)
        table[cells] = UNJUDGED
    return out


def _searched_by_name(matrix: IntArray, rows: IntArray, judgments: Judgments) -> LevelArray:
    """As `_searched`, with documents numbered anew: for ids too far apart for 64 bits."""
    names, packed = np.unique(
        np.concatenate((judgments.documents, matrix.ravel())), return_inverse=True
    )
    judged, ranked = np.split(packed, [judgments.documents.size])
    n_names = len(names)
    owners = np.repeat(np.arange(len(judgments.lengths)), judgments.lengths)
    keys = owners * n_names + judged
    order = np.argsort(keys)
    keys = keys[order]
    wanted = rows[:, None] * n_names + ranked.reshape(matrix.shape)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found = keys[places] == wanted
    return np.where(found, judgments.levels[order][places], np.uint8(UNJUDGED))


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
