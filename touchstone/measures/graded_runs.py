"""A run of a file with its grades, worked out some whole queries at a time.

So little is in memory at once that it stays in the cache: to touch memory for the first time costs
more than what is done there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from touchstone.files.id_columns import IdColumn, found_in
from touchstone.files.trec import RunFile
from touchstone.files.trec_pairs import NonContiguousQueriesError
from touchstone.measures.counting import by_rank
from touchstone.measures.definition import Measure
from touchstone.measures.engine import counts_needed, depth_needed
from touchstone.measures.grades import UNJUDGED
from touchstone.measures.judged_files import JudgedQueries, order_of
from touchstone.measures.ordering import rule_of, tie_starts
from touchstone.measures.rankings import BoolArray, GradedRankings, IntArray, grade_rankings

Ordering = tuple[str, str]
Rows = IntArray | slice

_FEW: Final = 2  # times as many pairs as are read: then only those are looked up


class Reading(NamedTuple):
    """What some measures read of rankings. width, returned: as in `judge_rankings`."""

    ordering: Ordering
    width: int | None
    returned: bool = False

    @classmethod
    def of(cls, measures: Sequence[Measure]) -> "Reading":
        """What these read, which have one ordering."""
        return cls(measures[0].ordering, depth_needed(measures), counts_needed(measures))


@dataclass(frozen=True, eq=False)
class GradedRun:
    """A run's rankings with their grades, a row per query.

    query_ids: the judged queries as the qrels have them, then those that only the run has.
    answered: the rows of the queries that the run has, in its order.
    rankings: by ordering.
    """

    query_ids: tuple[str, ...]
    answered: IntArray
    rankings: Mapping[Ordering, GradedRankings]

    def order(self) -> list[int]:
        """The rows as the run has their queries, those that it does not answer last."""
        others = np.ones(len(self.query_ids), bool)
        others[self.answered] = False
        return [*self.answered.tolist(), *np.flatnonzero(others).tolist()]


def graded_run(
    judged: JudgedQueries, chunks: Iterable[RunFile], readings: Sequence[Reading]
) -> GradedRun:
    """The rankings of a run, in every order that is read.

    chunks: the run, some whole queries at a time. readings: each of another ordering.
    Raises NonContiguousQueriesError where a query is in several chunks.
    """
    rows = _Rows(judged)
    parts = [
        [_graded(chunk, reading) for reading in readings]
        for chunk in (
            _Chunk(judged, run, rows.of(run.query_ids)) for run in chunks if run.query_ids
        )
    ]
    n_rows = len(judged.qrels.query_ids) + len(rows.new)
    counts = judged.counts_of(np.arange(n_rows))
    return GradedRun(
        judged.qrels.query_ids + tuple(rows.new),
        np.concatenate([np.empty(0, np.int64), *rows.taken]),
        {
            reading.ordering: _joined([own[position] for own in parts], rows.taken, counts)
            for position, reading in enumerate(readings)
        },
    )


@dataclass(slots=True)
class _Rows:
    """Gives each query of a run its row, some at a time.

    new: the rows of those that are not judged. taken: the rows so far, chunk by chunk.
    """

    judged: JudgedQueries
    new: dict[str, int] = field(default_factory=dict)
    taken: list[IntArray] = field(default_factory=list)
    is_taken: BoolArray = field(init=False)

    def __post_init__(self) -> None:
        self.is_taken = np.zeros(len(self.judged.qrels.query_ids), bool)

    def of(self, query_ids: tuple[str, ...]) -> IntArray:
        """Raises NonContiguousQueriesError where one has its row already."""
        rows = self._rows(query_ids)
        judged = rows[rows < len(self.is_taken)]
        if self.is_taken[judged].any():
            raise NonContiguousQueriesError
        self.is_taken[judged] = True
        self.taken.append(rows)
        return rows

    def _rows(self, query_ids: tuple[str, ...]) -> IntArray:
        known = self.judged.qrels.query_ids
        # most runs have the judged queries in their order
        start = int(self.taken[-1][-1]) + 1 if self.taken else 0
        if known[start : start + len(query_ids)] == query_ids:
            return np.arange(start, start + len(query_ids))
        rows = [self.judged.rows.get(query_id, -1) for query_id in query_ids]
        for position, row in enumerate(rows):
            if row < 0:
                rows[position] = len(known) + len(self.new)
                if self.new.setdefault(query_ids[position], rows[position]) != rows[position]:
                    raise NonContiguousQueriesError
        return np.array(rows, np.int64)


@dataclass(frozen=True, eq=False)
class _Chunk:
    """Some queries of a run. rows: of each; those of judged queries are where the qrels have it."""

    judged: JudgedQueries
    run: RunFile
    rows: IntArray

    @cached_property
    def places(self) -> IntArray:
        """Where the qrels have each pair; -1: nowhere."""
        return self.found(self.run.ids, self.run.starts)

    def found(self, ids: IdColumn, starts: IntArray) -> IntArray:
        """Where the qrels have some of the pairs, ranking by ranking; -1: nowhere."""
        qrels = self.judged.qrels
        of_queries = np.where(self.rows < len(qrels.query_ids), self.rows, -1)
        return found_in(ids, starts, qrels.ids, qrels.starts, of_queries)


class _Read(NamedTuple):
    """The pairs of a run that are read. places: in the file. starts: where each ranking's begin."""

    places: IntArray
    starts: IntArray


def _graded(chunk: _Chunk, reading: Reading) -> GradedRankings:
    """The rankings of a chunk, in its order."""
    run, (ordering, width, returned) = chunk.run, reading
    order = order_of(run, ordering)
    read = None if returned or width is None else _first_of_each(run, order, width)
    positions: IntArray
    starts: IntArray
    if read is None:
        positions, starts = chunk.places[order], run.starts
    else:
        positions, starts = chunk.found(run.ids.at(read.places), read.starts), read.starts
    graded = grade_rankings(
        chunk.judged.levels.take(positions + 1),
        starts,
        chunk.judged.counts_of(chunk.rows),
        rows=np.arange(len(chunk.rows)),
        width=width,
        returned=returned,
    )
    if read is not None:
        graded = replace(graded, lengths=np.diff(run.starts))
    if ordering[0] != "averaged":
        return graded
    return replace(graded, ties=_ties(run, order, ordering, graded.levels.shape[1]))


def _first_of_each(run: RunFile, order: IntArray, width: int) -> _Read | None:
    """The pairs at the first ranks of every ranking; None where those are not so few."""
    lengths = np.diff(run.starts)
    read = np.minimum(lengths, width)
    starts = np.concatenate(([0], np.cumsum(read)))
    if len(order) <= _FEW * int(starts[-1]):
        return None
    positions = np.arange(int(starts[-1])) + np.repeat(run.starts[:-1] - starts[:-1], read)
    return _Read(order[positions], starts)


def _ties(run: RunFile, order: IntArray, ordering: Ordering, width: int) -> npt.NDArray[np.intp]:
    """The first rank of each rank's tie, a row per ranking."""
    out = np.tile(np.arange(width), (len(run.query_ids), 1))
    for row in range(len(out)):
        ranked = run.scores[order[run.span(row)]]
        out[row, : len(ranked)] = tie_starts(ranked, precision=rule_of(ordering)[1])
    return out


def _joined(
    parts: Sequence[GradedRankings], rows: Sequence[IntArray], judged: IntArray
) -> GradedRankings:
    """The rankings of all chunks in the rows that they belong to. judged: of all rows."""
    n_rows = len(judged)
    if len(parts) == 1 and np.array_equal(rows[0], np.arange(n_rows)):
        return parts[0]
    width = max((part.levels.shape[1] for part in parts), default=0)
    levels, lengths = by_rank(n_rows, width), np.zeros(n_rows, np.int64)
    levels[:] = UNJUDGED
    ties = returned = None
    if parts and parts[0].ties is not None:
        ties = np.tile(np.arange(width), (n_rows, 1))
    if parts and parts[0].returned is not None:
        returned = np.zeros(judged.shape, np.int32)
    for part, own in zip(parts, rows, strict=True):
        here = _adjacent(own)
        levels[here, : part.levels.shape[1]] = part.levels
        lengths[here] = part.lengths
        if ties is not None and part.ties is not None:
            ties[here, : part.ties.shape[1]] = part.ties
        if returned is not None and part.returned is not None:
            returned[here] = part.returned
    return GradedRankings(levels, lengths, judged, ties, returned)


def _adjacent(rows: IntArray) -> Rows:
    """The rows as a slice, where they are one."""
    first, last = int(rows[0]), int(rows[-1]) + 1
    ascending = last - first == len(rows) and np.array_equal(rows, np.arange(first, last))
    return slice(first, last) if ascending else rows
