"""The pairs of a TREC file as they are put together: grouped by query, in file order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.id_columns import WORD, IdColumn, repeated
from touchstone.files.reading import Limits

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int32]
LongIntegers = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]
Words = npt.NDArray[np.uint64]
Array = TypeVar("Array", bound=npt.NDArray[np.generic])

BYTES_PER_PAIR: Final = 40  # what a pair takes while its table is put together
BYTES_PER_ID: Final = 100  # what a query's id takes beyond its characters
TOGETHER: Final = 1 << 16  # pairs that are worth a chunk: what is made of them stays in the cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The pairs of a file, or of some whole queries, grouped by query, each group in file order.

    documents: per pair. values: scores (float64) or grades (int32).
    last: the last word of the last line that counts. columns: of a line. by_rank: values are ranks
    with the sign of a score, so that the first has the highest.
    """

    query_ids: tuple[str, ...]
    documents: IdColumn
    starts: LongIntegers
    lines: Integers
    values: Numbers
    last: str
    columns: int = 0
    by_rank: bool = False


class Part(NamedTuple):
    """Some pairs. query_ids: of chunks of pairs, which are `lengths` long."""

    query_ids: list[str]
    lengths: LongIntegers
    doc_ids: IdColumn
    values: Floats
    lines: Integers
    last: str

    def before(self, pair: int) -> "Part":
        """The pairs before this one, with which the last chunk begins."""
        ids = self.doc_ids.at(slice(pair))
        own = self.query_ids[:-1], self.lengths[:-1]
        return Part(*own, ids, self.values[:pair], self.lines[:pair], self.last)

    def behind(self, pair: int) -> "Part":
        """The last chunk, which begins with this pair."""
        ids = self.doc_ids.at(slice(pair, None))
        own = self.query_ids[-1:], self.lengths[-1:]
        return Part(*own, ids, self.values[pair:], self.lines[pair:], self.last)


def _enlarged(array: Array, n_filled: int, shape: tuple[int, ...]) -> Array:
    """An array of this shape that begins with what is filled of another; zeros beside that."""
    out = np.empty(shape, array.dtype)
    out[:n_filled] = 0
    filled = array[:n_filled]
    out[tuple(map(slice, filled.shape))] = filled
    return cast(Array, out)


class NonContiguousQueriesError(Exception):
    """A file must be read whole, whether or not something is wrong with it."""


def whole_queries(parts: Iterable[Part], limits: Limits) -> Iterator[list[Part]]:
    """The parts of a file, some whole queries at a time: `TOGETHER` pairs or a little more.

    A query whose pairs do not follow each other comes more than once; that is not noticed.
    Raises NonContiguousQueriesError where one query alone has more pairs than fit.
    """
    held: list[Part] = []
    n_held = 0
    for part in parts:
        n_before_last = len(part.values) - int(part.lengths[-1])
        if n_before_last and n_held + n_before_last >= TOGETHER:
            yield [*held, part.before(n_before_last)]
            held, n_held = [part.behind(n_before_last)], int(part.lengths[-1])
        else:
            held.append(part)
            n_held += len(part.values)
        if n_held * BYTES_PER_PAIR > limits.memory:
            raise NonContiguousQueriesError
    if held:
        yield held


@dataclass(slots=True)
class PairBuilder:
    """The pairs read so far, in file order.

    They are put where they stay, in arrays as long as the file promises: what no one touches of
    these costs nothing, and to touch memory twice took a quarter of reading a large file.

    dtype: of values. expected: how many there may be. queries: the first chunk of each.
    chunks: the first of the same query, and the lengths. words, lines, values: `count` of each
    are filled.
    """

    limits: Limits
    problems: Problems
    dtype: type[np.float64 | np.int32]
    expected: int = 0
    queries: dict[str, int] = field(default_factory=dict)
    chunks: list[tuple[LongIntegers, LongIntegers]] = field(default_factory=list)
    n_chunks: int = 0
    words: Words = field(default_factory=lambda: np.empty((0, 1), np.uint64))
    lines: Integers = field(default_factory=lambda: np.empty(0, np.int32))
    values: Numbers = field(init=False)
    long: dict[bytes, str] = field(default_factory=dict)
    count: int = 0
    memory: int = 0
    last: str = ""

    def __post_init__(self) -> None:
        self.values = np.empty(0, self.dtype)

    def add(self, part: Part) -> None:
        """Takes the pairs of a part. Raises FileRefused when they are more than fit."""
        before, n_own = len(self.queries), len(part.query_ids)
        firsts = map(self.queries.setdefault, part.query_ids, count(self.n_chunks))
        self.chunks.append((np.fromiter(firsts, np.int64, n_own), part.lengths))
        self.n_chunks += n_own
        self._put(part)
        per_pair = BYTES_PER_PAIR + WORD * part.doc_ids.words.shape[1]
        self.memory += len(part.values) * per_pair + (len(self.queries) - before) * BYTES_PER_ID
        self.memory += sum(map(len, part.query_ids)) + sum(map(len, part.doc_ids.long.values()))
        self.last = part.last
        if self.memory > self.limits.memory:
            line = int(part.lines[-1])
            message = f"more pairs and ids than fit into {self.limits.memory:,} bytes of memory."
            raise self.problems.stop(line, Rule.TOO_MUCH, message)

    def _put(self, part: Part) -> None:
        """Copies the pairs of a part behind the others."""
        own, (room, width) = part.doc_ids.words, self.words.shape
        start, stop = self.count, self.count + len(own)
        if stop > room or own.shape[1] > width:
            if stop > room:
                most = self.limits.memory // BYTES_PER_PAIR
                room = max(stop, 2 * room, min(self.expected * 9 // 8, most))
            self.words = _enlarged(self.words, start, (room, max(width, own.shape[1])))
            self.lines = _enlarged(self.lines, start, (room,))
            self.values = _enlarged(self.values, start, (room,))
        self.words[start:stop, : own.shape[1]] = own
        self.words[start:stop, own.shape[1] :] = 0
        self.lines[start:stop], self.values[start:stop] = part.lines, part.values
        self.long |= part.doc_ids.long
        self.count = stop

    def table(self) -> Table:
        """The pairs grouped by query, with a problem for every pair that appears twice."""
        firsts, lengths = (np.concatenate(own) for own in zip(*self.chunks, strict=True))
        of_queries = np.fromiter(self.queries.values(), np.int64, len(self.queries))
        numbers = np.searchsorted(of_queries, firsts)
        documents = IdColumn(self.words[: self.count], self.long)
        lines, values = self.lines[: self.count], self.values[: self.count]
        if (numbers[1:] < numbers[:-1]).any():
            order = np.argsort(np.repeat(numbers, lengths), kind="stable")
            documents, lines, values = documents.at(order), lines[order], values[order]
        counts = np.bincount(numbers, lengths, minlength=len(self.queries))
        starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        for array in (starts, documents.words, lines, values):
            array.flags.writeable = False
        table = Table(
            query_ids=tuple(self.queries),
            documents=documents,
            starts=starts,
            lines=lines,
            values=values,
            last=self.last,
        )
        self._note_repeated(table)
        return table

    def _note_repeated(self, table: Table) -> None:
        """A problem for every line whose pair an earlier line has, naming both."""
        pairs = repeated(table.documents, table.starts)
        for later, first in sorted(pairs, key=lambda pair: int(table.lines[pair[0]])):
            query = int(np.searchsorted(table.starts, later, "right")) - 1
            (doc_id,) = table.documents.at(slice(later, later + 1)).texts()
            message = (
                f"document {quoted(doc_id)} of query {quoted(table.query_ids[query])} "
                f"is already on line {table.lines[first]}."
            )
            self.problems.add(int(table.lines[later]), Rule.DUPLICATE, message)
