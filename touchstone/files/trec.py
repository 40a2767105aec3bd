"""TREC runs and qrels: read with every mistake named, written byte for byte the same.

A run has six fields a line: query, anything, document, anything (a rank, which is ignored,
because the score decides), score, tag; or three: query, document, rank. Qrels have four: query,
anything, document, grade.
Fields are separated by blanks and tabs, and by nothing else: U+00A0 is part of a field.
Empty lines are skipped, and so are lines that begin with `#`, as trec_eval does.
"""

import math
import os
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from touchstone.files.errors import FileProblem, Problems
from touchstone.files.id_columns import IdColumn
from touchstone.files.ids import id_problem, query_id_problem
from touchstone.files.reading import TREC_LIMITS, Limits, Progress, Source
from touchstone.files.trec_lines import (
    QRELS_LINES,
    RANK_LINES,
    RUN_LINES,
    RUN_LINES_BY_RANK,
    RUN_LINES_WITH_REST,
    read_chunks,
    read_table,
    table_of,
)
from touchstone.files.trec_pairs import TOGETHER, NonContiguousQueriesError, Table
from touchstone.scales import Scale

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int32]
LongIntegers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, kw_only=True)
class TrecFile:
    """What runs and qrels have in common: pairs, grouped by query, compactly.

    query_ids: in order of first appearance.
    starts: length queries + 1; the pairs of query i are starts[i]:starts[i + 1], in file order.
    ids: per pair, its document. lines: per pair, the line it came from.
    """

    name: str
    query_ids: tuple[str, ...]
    starts: LongIntegers
    ids: IdColumn
    lines: Integers

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def documents(self) -> IdColumn:
        """The distinct documents."""
        return self.ids.numbered[0]

    @property
    def codes(self) -> Integers:
        """Per pair, the position of its document in `documents`."""
        return self.ids.numbered[1]

    def span(self, position: int) -> slice:
        """Where the pairs of the query at this position lie."""
        return slice(int(self.starts[position]), int(self.starts[position + 1]))

    def doc_ids(self, position: int) -> list[str]:
        """The document ids of the query at this position, in file order."""
        return self.ids.at(self.span(position)).texts()

    def problem(self, pair: int, rule: str, message: str) -> FileProblem:
        """A problem with one pair, named by its line, for checks beyond the format."""
        return FileProblem(self.name, int(self.lines[pair]), None, rule, message)


@dataclass(frozen=True, eq=False, kw_only=True)
class RunFile(TrecFile):
    """A run as it was read. tag: that of the last line. scores: per pair, all finite.

    by_rank: scores are ranks with a minus sign. has_scores: the file has some.
    """

    tag: str
    scores: Floats
    by_rank: bool = False
    has_scores: bool = True

    def whole(self) -> "RunFile":
        """The run."""
        return self

    def chunks(self) -> Iterator["RunFile"]:
        """The run, some whole queries at a time, as many as stay in the cache together."""
        first, n_queries = 0, len(self.query_ids)
        while first < n_queries:
            enough = int(self.starts[first]) + TOGETHER
            last = max(first + 1, int(np.searchsorted(self.starts, enough, "right")) - 1)
            yield self if last - first == n_queries else self._between(first, last)
            first = last

    def _between(self, first: int, last: int) -> "RunFile":
        """The queries from one position to another."""
        pairs = slice(int(self.starts[first]), int(self.starts[last]))
        return replace(
            self,
            query_ids=self.query_ids[first:last],
            starts=self.starts[first : last + 1] - self.starts[first],
            ids=self.ids.at(pairs),
            lines=self.lines[pairs],
            scores=self.scores[pairs],
        )

    def rankings(self, *, by_id: bool = False) -> Iterator[tuple[str, list[str], Floats]]:
        """(query id, document ids, scores) of each query, in file order, not sorted.

        by_id: the queries in the order of their ids' bytes.
        """
        positions = range(len(self.query_ids))
        # code points and UTF-8 bytes have the same order
        for position in sorted(positions, key=self.query_ids.__getitem__) if by_id else positions:
            own = self.scores[self.span(position)]
            yield self.query_ids[position], self.doc_ids(position), own


@dataclass(frozen=True, eq=False, kw_only=True)
class QrelsFile(TrecFile):
    """Qrels as they were read. grades: per pair."""

    grades: Integers

    def judgments(self) -> Iterator[tuple[str, list[str], Integers]]:
        """(query id, document ids, grades) of each query, in file order."""
        for position, query_id in enumerate(self.query_ids):
            yield query_id, self.doc_ids(position), self.grades[self.span(position)]

    def pairs(self) -> Iterator[tuple[str, str, int]]:
        """(query id, document id, grade) of each pair, grouped by query."""
        for query_id, doc_ids, grades in self.judgments():
            for doc_id, grade in zip(doc_ids, grades.tolist(), strict=True):
                yield query_id, doc_id, grade


Read = TypeVar("Read", bound=TrecFile)


def count_ties(run: RunFile) -> tuple[int, int]:
    """How many pairs share their score with another of their query, and in how many queries.

    Scores are compared as float32, as `rank_orders` does.
    """
    n_pairs = n_queries = 0
    for chunk in run.chunks():
        queries = np.repeat(np.arange(len(chunk.query_ids)), np.diff(chunk.starts))
        scores = chunk.scores.astype(np.float32)
        order = np.lexsort((scores, queries))
        scores, queries = scores[order], queries[order]
        same = (scores[1:] == scores[:-1]) & (queries[1:] == queries[:-1])
        tied = np.append(same, False) | np.insert(same, 0, False)
        n_pairs += int(np.count_nonzero(tied))
        n_queries += len(np.unique(queries[tied]))
    return n_pairs, n_queries


def of_queries(file: Read, query_ids: Container[str]) -> Read:
    """What a file has of some queries, in its order."""
    kept = [position for position, query_id in enumerate(file.query_ids) if query_id in query_ids]
    spans: list[LongIntegers] = [
        np.arange(file.starts[position], file.starts[position + 1]) for position in kept
    ]
    positions = np.concatenate([np.zeros(0, np.int64), *spans])
    per_pair = "scores" if isinstance(file, RunFile) else "grades"
    return replace(
        file,
        query_ids=tuple(file.query_ids[position] for position in kept),
        starts=np.cumsum([0, *map(len, spans)], dtype=np.int64),
        ids=file.ids.at(positions),
        lines=file.lines[positions],
        **{per_pair: getattr(file, per_pair)[positions]},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunToRead:
    """A run on disk, read again on each access.

    path, name, limits, text_after_tag: as `read_run` takes them.
    queries: only these; None for all.
    """

    path: str | os.PathLike[str]
    name: str
    limits: Limits = TREC_LIMITS
    text_after_tag: bool = False
    queries: Container[str] | None = None

    def whole(self) -> RunFile:
        """The run. Raises FileRefused."""
        run = read_run(
            self.path, name=self.name, limits=self.limits, text_after_tag=self.text_after_tag
        )
        return self._chosen(run)

    def chunks(self) -> Iterator[RunFile]:
        """The run, some whole queries at a time, of which no more is in memory at once.

        A query whose lines do not follow each other comes more than once.
        Raises NonContiguousQueriesError for what must be read whole: a file with an error, or one
        that can't be read twice.
        """
        if not Path(self.path).is_file():
            raise NonContiguousQueriesError
        layout = RUN_LINES_WITH_REST if self.text_after_tag else RUN_LINES
        for table in read_chunks(self.path, layout, name=self.name, limits=self.limits):
            yield self._chosen(_run(table, self.name))

    def _chosen(self, run: RunFile) -> RunFile:
        return run if self.queries is None else of_queries(run, self.queries)


def read_run(
    source: Source,
    *,
    name: str,
    limits: Limits = TREC_LIMITS,
    progress: Progress | None = None,
    text_after_tag: bool = False,
    by_rank: bool = False,
) -> RunFile:
    """A run, all of it or nothing.

    source: a path or a binary file object, gzipped or not. name: what problems call the file.
    by_rank: the rank column decides instead of the score, as it does where there is no score.
    text_after_tag: ignore what follows the tag, as trec_eval does, where the rank is a number.
    progress: called with the number of bytes of the source read so far.
    Raises FileRefused, which names every problem with its line.
    """
    layout = RUN_LINES_WITH_REST if text_after_tag else RUN_LINES
    if by_rank:
        layout = RUN_LINES_BY_RANK
    return _run(read_table(source, layout, name=name, limits=limits, progress=progress), name)


def _run(table: Table, name: str) -> RunFile:
    has_scores = table.columns != len(RANK_LINES.fields)
    return RunFile(
        name=name,
        query_ids=table.query_ids,
        starts=table.starts,
        ids=table.documents,
        lines=table.lines,
        tag=table.last if has_scores else "",
        scores=table.values,
        by_rank=table.by_rank,
        has_scores=has_scores,
    )


def read_qrels(
    source: Source,
    *,
    name: str,
    limits: Limits = TREC_LIMITS,
    progress: Progress | None = None,
    scale: Scale | None = None,
) -> QrelsFile:
    """Qrels, all of them or nothing.

    source, name, progress: as in `read_run`.
    scale: grades outside it are refused; without one, any whole number of 32 bits is a grade.
    Raises FileRefused, which names every problem with its line.
    """
    table = read_table(
        source, QRELS_LINES, name=name, limits=limits, progress=progress, scale=scale
    )
    return _qrels(table, name)


def qrels_of(
    rows: Sequence[tuple[str, str, float, int]], *, name: str, limits: Limits, problems: Problems
) -> QrelsFile:
    """Qrels from rows of (query, document, grade, line) that another format had; at least one.

    Raises FileRefused for a pair that appears twice, and for more than fit.
    """
    return _qrels(table_of(rows, limits=limits, problems=problems), name)


def _qrels(table: Table, name: str) -> QrelsFile:
    return QrelsFile(
        name=name,
        query_ids=table.query_ids,
        starts=table.starts,
        ids=table.documents,
        lines=table.lines,
        grades=table.values,
    )


def format_qrels(pairs: Iterable[tuple[str, str, int]]) -> bytes:
    """Qrels in their one canonical form, so that equal judgments are equal bytes.

    pairs: (query id, document id, grade), in any order.
    Returns lines of the four fields with one blank between, ordered by query and then by
    document, both by their UTF-8 bytes. `read_qrels` gives the same pairs back.
    Raises ValueError for a pair that appears twice, or an id that no reader would accept.
    """
    lines = []
    before = ("", "")
    # code points and UTF-8 bytes have the same order
    for query_id, doc_id, grade in sorted(pairs):
        if (query_id, doc_id) == before:
            raise ValueError(f"query {query_id!r} has document {doc_id!r} twice")
        _check_ids(query_id, doc_id)
        before = (query_id, doc_id)
        lines.append(f"{query_id} 0 {doc_id} {int(grade)}\n")
    return "".join(lines).encode("utf-8")


def format_run(
    rankings: Iterable[tuple[str, Sequence[str], Iterable[float], Iterable[int]]], *, tag: str
) -> bytes:
    """A run as TREC lines, with the shortest digits that give the same score again.

    rankings: (query id, document ids, scores, ranks) of each query. Lines keep their order, from
    which the ranks, from 1, may differ: of two documents that tie, say, the one that stands later.
    Raises ValueError for ids or a tag that no reader would accept, and for scores not finite.
    """
    _check("tag", tag, id_problem(tag))
    lines = []
    for query_id, doc_ids, scores, ranks in rankings:
        for doc_id, number, rank in zip(doc_ids, scores, ranks, strict=True):
            _check_ids(query_id, doc_id)
            score = float(number)
            if not math.isfinite(score):
                raise ValueError(f"the score of document {doc_id!r} is {score}")
            lines.append(f"{query_id} Q0 {doc_id} {rank} {score!r} {tag}\n")
    return "".join(lines).encode("utf-8")


def _check_ids(query_id: str, doc_id: str) -> None:
    _check("query", query_id, query_id_problem(query_id))
    _check("document", doc_id, id_problem(doc_id))


def _check(what: str, value: str, problem: str | None) -> None:
    if problem:
        raise ValueError(f"the {what} {value!r} {problem}")
