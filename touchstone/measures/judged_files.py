"""A qrels file, ready to judge runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.files.trec import QrelsFile, RunFile
from touchstone.measures.errors import MeasureError
from touchstone.measures.grades import MOST_GRADES, UNJUDGED, Grades, LevelArray
from touchstone.measures.ordering import rank_orders, rule_of
from touchstone.measures.rankings import IntArray, Judgments
from touchstone.measures.traits import Traits

_NARROW: Final = 1 << 10  # between the least and the greatest grade: then grades need no sorting
_TOGETHER: Final = 1 << 16  # pairs that are worked on at once: they stay in the cache


@dataclass(frozen=True, eq=False)
class JudgedQueries:
    """A qrels file, ready to judge any number of runs, one after the other.

    traits: the segment and weight of queries; None where nothing is known of them.
    values: what each grade code of the file is worth; None where it is worth what it says.
    """

    qrels: QrelsFile
    traits: Mapping[str, Traits] | None = None
    values: Mapping[int, float] | None = None

    @cached_property
    def grades(self) -> Grades:
        """The grades that occur in the file."""
        result = _different(self.qrels.grades)
        if len(result) > MOST_GRADES:
            raise MeasureError(f"{self.qrels.name} has more than {MOST_GRADES} different grades")
        if not result:
            raise MeasureError(f"{self.qrels.name} has no judgment")
        if self.values is not None:
            return Grades.of({code: self.values[code] for code in result})
        return Grades.integers(result)

    @cached_property
    def levels(self) -> LevelArray:
        """The level of each pair, and before them that of a pair that is not judged."""
        levels = np.empty(len(self.qrels) + 1, np.uint8)
        levels[0] = UNJUDGED
        for start in range(0, len(self.qrels), _TOGETHER):
            own = self.qrels.grades[start : start + _TOGETHER]
            levels[start + 1 : start + 1 + len(own)] = self.grades.levels(own)
        return levels

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Where the qrels have each query."""
        return {query_id: row for row, query_id in enumerate(self.qrels.query_ids)}

    @cached_property
    def counts(self) -> IntArray:
        """How many documents of each query have each grade; behind the last, of none."""
        lengths = np.append(np.diff(self.qrels.starts), 0)
        lines = self.qrels.lines  # they tell the documents of a query apart
        return Judgments(lines, self.levels[1:], lengths).counts(len(self.grades.codes))

    def counts_of(self, rows: IntArray) -> IntArray:
        """How many documents of the query in each row have each grade; behind the last, none."""
        judged = np.minimum(rows, len(self.qrels.query_ids))
        return self.counts.T.take(judged, axis=1).T

    def ranked(
        self, run: RunFile, ordering: tuple[str, str]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The numbers of the documents, ranking after ranking, and how many each ranking has.

        A number belongs to a document, whatever the query; those of the qrels have its own.
        """
        return self._numbers(run)[run.codes[order_of(run, ordering)]], np.diff(run.starts)

    def _numbers(self, run: RunFile) -> npt.NDArray[np.int64]:
        """A number for each document of the run: the qrels' own, or one that no one else has."""
        known = {doc_id: number for number, doc_id in enumerate(self.qrels.documents.texts())}
        new = len(known)
        pairs = enumerate(run.documents.texts())
        return np.array([known.get(doc_id, new + position) for position, doc_id in pairs], np.int64)


def _different(grades: npt.NDArray[np.int32]) -> list[int]:
    """The different grades, ascending."""
    if not len(grades) or (lowest := int(grades.min())) + _NARROW < int(grades.max()):
        return list(map(int, np.unique(grades)))
    there = np.zeros(_NARROW + 1, bool)
    for start in range(0, len(grades), _TOGETHER):
        there[grades[start : start + _TOGETHER] - lowest] = True
    return [lowest + int(position) for position in np.flatnonzero(there)]


def order_of(run: RunFile, ordering: tuple[str, str]) -> npt.NDArray[np.intp]:
    """The places of the run's documents in rank order, ranking by ranking."""
    ties, precision = rule_of(ordering)
    return rank_orders(run.ids, run.starts, run.scores, ties=ties, precision=precision)
