"""A qrels file, and what it says of a run's rankings."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluation.measures.errors import MeasureError
from evaluation.measures.grades import MOST_GRADES, UNJUDGED, Grades, LevelArray
from evaluation.measures.ordering import rank_orders, rule_of, tie_starts
from evaluation.measures.rankings import GradedRankings, IntArray, Judgments, grade_rankings
from judgments.formats.id_columns import IdColumn, found_in
from judgments.formats.trec import QrelsFile, RunFile
from judgments.temporal import Traits

_NARROW: Final = 1 << 10  # between the least and the greatest grade: then grades need no sorting
_FEW: Final = 2  # times as many pairs as are read: then only those are looked up


class _Read(NamedTuple):
    """The pairs of a run that are read. places: in the file. starts: where each ranking's begin."""

    places: IntArray
    starts: IntArray


@dataclass(frozen=True, eq=False)
class _OfRun:
    """What qrels and one run have in common."""

    qrels: QrelsFile
    run: RunFile

    @cached_property
    def query_ids(self) -> tuple[str, ...]:
        """The judged queries, then the queries that only the run has."""
        return query_rows(self.qrels, self.run)

    @cached_property
    def rows(self) -> IntArray:
        """Where the run has the ranking of each of the queries; -1: nowhere."""
        return _rows_of(self.run.query_ids, self.query_ids)

    @cached_property
    def judged(self) -> IntArray:
        """Where the qrels have each query of the run; -1: nowhere."""
        return _rows_of(self.qrels.query_ids, self.run.query_ids)

    @cached_property
    def places(self) -> IntArray:
        """Where the qrels have each pair of the run; -1: nowhere."""
        return self.found(self.run.ids, self.run.starts)

    def found(self, ids: IdColumn, starts: IntArray) -> IntArray:
        """Where the qrels have some pairs of the run, ranking by ranking; -1: nowhere."""
        return found_in(ids, starts, self.qrels.ids, self.qrels.starts, self.judged)


@dataclass(frozen=True, eq=False)
class JudgedQueries:
    """A qrels file, ready to judge any number of runs, one after the other.

    traits: the segment and weight of queries; None where nothing is known of them.
    values: what each grade code of the file is worth; None where it is worth what it says.
    """

    qrels: QrelsFile
    traits: Mapping[str, Traits] | None = None
    values: Mapping[int, float] | None = None
    _last: list[_OfRun] = field(default_factory=list, init=False)

    @cached_property
    def grades(self) -> Grades:
        """The grades that occur in the file."""
        found = _different(self.qrels.grades)
        if len(found) > MOST_GRADES:
            raise MeasureError(f"{self.qrels.name} has more than {MOST_GRADES} different grades")
        if not found:
            raise MeasureError(f"{self.qrels.name} has no judgment")
        if self.values is not None:
            return Grades.of({code: self.values[code] for code in found})
        return Grades.integers(found)

    @cached_property
    def levels(self) -> LevelArray:
        """The level of each pair, and before them that of a pair that is not judged."""
        return np.append(np.uint8(UNJUDGED), self.grades.levels(self.qrels.grades))

    @cached_property
    def counts(self) -> IntArray:
        """How many documents of each query have each grade; behind the last, of none."""
        lengths = np.append(np.diff(self.qrels.starts), 0)
        places = np.arange(len(self.qrels))  # whatever tells the documents of a query apart
        return Judgments(places, self.levels[1:], lengths).counts(len(self.grades.codes))

    def rankings(
        self,
        run: RunFile,
        ordering: tuple[str, str],
        width: int | None,
        *,
        returned: bool = False,
    ) -> GradedRankings:
        """The run's rankings of `query_rows`, in the order of a tie rule, with their grades.

        width, returned: as in `judge_rankings`.
        """
        own, order = self._of(run), order_of(run, ordering)
        rows = own.rows
        read = None if returned or width is None else _first_of_each(run, order, width)
        places: IntArray
        starts: IntArray
        if read is None:
            places, starts = own.places[order], run.starts
        else:
            places, starts = own.found(run.ids.at(read.places), read.starts), read.starts
        judged = np.minimum(np.arange(len(rows)), len(self.qrels.query_ids))
        graded = grade_rankings(
            self.levels.take(places + 1),
            starts,
            self.counts.T.take(judged, axis=1).T,
            rows=rows,
            width=width,
            returned=returned,
        )
        if read is not None:
            lengths = np.append(np.diff(run.starts), 0)
            graded = replace(graded, lengths=np.where(rows < 0, 0, lengths[rows]))
        if ordering[0] != "averaged":
            return graded
        return replace(graded, ties=_ties(run, rows, order, ordering, graded.levels.shape[1]))

    def ranked(
        self, run: RunFile, ordering: tuple[str, str]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The numbers of the documents, ranking after ranking, and how many each ranking has.

        A number belongs to a document, whatever the query; those of the qrels have its own.
        """
        rows = self._of(run).rows
        ranked = self._numbers(run)[run.codes[order_of(run, ordering)]]
        spans = [run.span(row) if row >= 0 else slice(0, 0) for row in rows.tolist()]
        parts = [ranked[span] for span in spans]
        lengths = np.array([len(part) for part in parts], np.int64)
        return np.concatenate([np.empty(0, np.int64), *parts]), lengths

    def query_rows(self, run: RunFile) -> tuple[str, ...]:
        """The judged queries, then the queries that only the run has."""
        return self._of(run).query_ids

    def _of(self, run: RunFile) -> _OfRun:
        if not self._last or self._last[0].run is not run:
            self._last[:] = [_OfRun(self.qrels, run)]  # one alone: runs are large
        return self._last[0]

    def _numbers(self, run: RunFile) -> npt.NDArray[np.int64]:
        """A number for each document of the run: the qrels' own, or one that nobody else has."""
        known = {doc_id: number for number, doc_id in enumerate(self.qrels.documents)}
        new = len(known)
        pairs = enumerate(run.documents)
        return np.array([known.get(doc_id, new + place) for place, doc_id in pairs], np.int64)


def _different(grades: npt.NDArray[np.int32]) -> list[int]:
    """The different grades, ascending."""
    if not len(grades) or (lowest := int(grades.min())) + _NARROW < int(grades.max()):
        return list(map(int, np.unique(grades)))
    there = np.zeros(_NARROW + 1, bool)
    there[grades - lowest] = True
    return [lowest + int(place) for place in np.flatnonzero(there)]


def _rows_of(known: tuple[str, ...], wanted: tuple[str, ...]) -> IntArray:
    """Where each query that is wanted is among those known; -1: nowhere."""
    if known == wanted:
        return np.arange(len(known))
    place = {query_id: row for row, query_id in enumerate(known)}
    return np.array([place.get(query_id, -1) for query_id in wanted], np.int64)


def query_rows(qrels: QrelsFile, run: RunFile) -> tuple[str, ...]:
    """The judged queries, then the queries that only the run has."""
    if qrels.query_ids == run.query_ids:
        return qrels.query_ids
    judged = set(qrels.query_ids)
    return qrels.query_ids + tuple(q for q in run.query_ids if q not in judged)


def _first_of_each(run: RunFile, order: IntArray, width: int) -> _Read | None:
    """The pairs at the first ranks of every ranking; None where those are not so few."""
    lengths = np.diff(run.starts)
    read = np.minimum(lengths, width)
    starts = np.concatenate(([0], np.cumsum(read)))
    if len(order) <= _FEW * int(starts[-1]):
        return None
    places = np.arange(int(starts[-1])) + np.repeat(run.starts[:-1] - starts[:-1], read)
    return _Read(order[places], starts)


def order_of(run: RunFile, ordering: tuple[str, str]) -> npt.NDArray[np.intp]:
    """The places of the run's documents in rank order, ranking by ranking."""
    ties, precision = rule_of(ordering)
    return rank_orders(run.ids, run.starts, run.scores, ties=ties, precision=precision)


def _ties(
    run: RunFile, rows: IntArray, order: IntArray, ordering: tuple[str, str], width: int
) -> npt.NDArray[np.intp]:
    """The first rank of each rank's tie, a row per query."""
    out = np.tile(np.arange(width), (len(rows), 1))
    for row, ranking in enumerate(rows.tolist()):
        if ranking >= 0:
            ranked = run.scores[order[run.span(ranking)]]
            out[row, : len(ranked)] = tie_starts(ranked, precision=rule_of(ordering)[1])
    return out
