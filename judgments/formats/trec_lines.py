"""The lines of TREC files, parsed fast where they are sound and with care where they are not.

A block of lines is read as arrays of bytes (`trec_bytes`). Only a block with something out of the
ordinary is looked at line by line: that way is the authority, and names what is wrong and where.
"""

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, groupby
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from judgments.formats.compiled import SOUND, UNUSUAL, expect, loops_after
from judgments.formats.errors import Problems, Rule, quoted
from judgments.formats.id_columns import LONGEST, WORD, IdColumn, repeated
from judgments.formats.ids import MAX_ID_CHARACTERS, id_problem
from judgments.formats.numbers import INTEGER, NUMBER
from judgments.formats.reading import Batch, Limits, Progress, Source, line_text, read_batches
from judgments.formats.trec_bytes import groups_of, is_plain, lines_of, plain_numbers
from judgments.scales import Scale

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int32]
LongIntegers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Array = TypeVar("Array", bound=npt.NDArray[np.generic])

MAX_GRADE: Final = 2**31 - 1
BYTES_PER_PAIR: Final = 40  # what a pair takes while its table is put together
BYTES_PER_ID: Final = 100  # what a query's id takes beyond its characters

_WORD: Final = re.compile(r"[^ \t]+")
_NOT_A_NUMBER: Final = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_INTEGER: Final = re.compile(INTEGER)
_NUMBER: Final = re.compile(NUMBER)


def _score_problem(text: str) -> tuple[Rule, str] | None:
    if _NOT_A_NUMBER.fullmatch(text):
        return Rule.NOT_FINITE, f"the score {quoted(text)} is not a finite number."
    if not _NUMBER.fullmatch(text):
        return Rule.SCORE, f"the score {quoted(text)} is not a number."
    if not math.isfinite(float(text)):
        return Rule.NOT_FINITE, f"the score {quoted(text)} is too large for a number."
    return None


def _grade_problem(text: str) -> tuple[Rule, str] | None:
    if not _INTEGER.fullmatch(text):
        return Rule.GRADE, f"the grade {quoted(text)} is not a whole number."
    if abs(float(text)) > MAX_GRADE:
        return Rule.GRADE, f"the grade {quoted(text)} is out of range."
    return None


@dataclass(frozen=True, slots=True)
class Layout:
    """How a line of one kind of file is made.

    value: the place of the value among the fields. whole: it is a whole number.
    problem: what is wrong with a value, or None.
    rest_allowed: text after the last field is ignored where the fourth is a number.
    """

    fields: tuple[str, ...]
    value: int
    whole: bool
    problem: Callable[[str], tuple[Rule, str] | None]
    rest_allowed: bool = False


RUN_LINES: Final = Layout(
    fields=("query", "Q0", "document", "rank", "score", "tag"),
    value=4,
    whole=False,
    problem=_score_problem,
)
RUN_LINES_WITH_REST: Final = replace(RUN_LINES, rest_allowed=True)
QRELS_LINES: Final = Layout(
    fields=("query", "iteration", "document", "grade"),
    value=3,
    whole=True,
    problem=_grade_problem,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The pairs of a file, grouped by query, each group in file order.

    documents: per pair. values: scores or grades.
    last: the last word of the last line that counts.
    """

    query_ids: tuple[str, ...]
    documents: IdColumn
    starts: LongIntegers
    lines: Integers
    values: Floats
    last: str


class _Part(NamedTuple):
    """Some pairs. query_ids: of stretches of pairs, which are `lengths` long."""

    query_ids: list[str]
    lengths: LongIntegers
    doc_ids: IdColumn
    values: Floats
    lines: LongIntegers
    last: str


def read_table(
    source: Source,
    layout: Layout,
    *,
    name: str,
    limits: Limits,
    progress: Progress | None,
    scale: Scale | None = None,
) -> Table:
    """All pairs of a file, or FileRefused with every line that breaks a rule.

    scale: the codes that values may have; None for any.
    """
    problems = Problems(name)
    gathered = _Gathered(limits, problems)
    for batch in read_batches(source, limits=limits, problems=problems, progress=progress):
        if batch.line == 1:
            gathered.expected = _lines_to_come(source, batch)
            expect(gathered.expected)
        part = _sound_part(batch, layout)
        if part is None:
            part = _inspected_part(batch, layout, problems)
        if len(part.values):
            gathered.add(part)
            if scale is not None:
                _check_grades(part, scale, problems)
    if not gathered.count:
        problems.raise_if_any()
        raise problems.stop(1, Rule.EMPTY, "there is not one line of content in it.")
    table = gathered.table()
    problems.raise_if_any()
    return table


def _lines_to_come(source: Source, first: Batch) -> int:
    """How many lines are behind the first batch of a file, if they are like those in it."""
    if not isinstance(source, str | os.PathLike):
        return 0
    return max(0, Path(source).stat().st_size - len(first.data)) * first.count // len(first.data)


def _sound_part(batch: Batch, layout: Layout) -> _Part | None:
    """The batch at once, if nothing in it is out of the ordinary; else None."""
    if loops := loops_after(batch.count):
        return _scanned_part(batch, layout, loops)
    found = lines_of(batch.data, batch.count, len(layout.fields))
    if found is None:
        return None
    query_ids, doc_ids = found.ids(0), found.ids(2)
    if query_ids is None or doc_ids is None:
        return None
    values, others = plain_numbers(found, layout.value, whole=layout.whole)
    texts = found.texts(others, layout.value)
    if any(map(layout.problem, texts)):
        return None
    values[others] = [float(text) for text in texts]
    first = groups_of(query_ids)
    return _Part(
        query_ids.at(first).texts(),
        np.diff(first, append=batch.count),
        doc_ids,
        values,
        np.arange(batch.line, batch.line + batch.count, dtype=np.int64),
        found.texts(np.array([batch.count - 1]), len(layout.fields) - 1)[0],
    )


def _scanned_part(batch: Batch, layout: Layout, loops: Any) -> _Part | None:
    """The same by compiled loops."""
    if not (batch.data.isascii() or is_plain(batch.data)):
        return None
    data = np.frombuffer(batch.data, np.uint8)
    values = np.empty(batch.count)
    odd, stretches = np.empty((batch.count, 3), np.int64), np.empty(batch.count, np.int64)
    names, filled = np.empty(len(data), np.uint8), np.zeros(3, np.int64)
    outcome, width = SOUND, 1
    longest = min(LONGEST, MAX_ID_CHARACTERS)
    while outcome != UNUSUAL:
        words = np.empty((batch.count, width), np.uint64)
        outcome = loops.scan(
            data, len(layout.fields), layout.value, layout.whole, longest,
            words, values, odd, stretches, names, filled,
        )  # fmt: skip
        if outcome == SOUND:
            break
        width = outcome
    else:
        return None
    n_stretches, n_odd, n_names = filled.tolist()
    for line, start, end in odd[:n_odd].tolist():
        text = batch.data[start:end].decode()
        if layout.problem(text):
            return None
        values[line] = float(text)
    return _Part(
        names[:n_names].tobytes().decode().split("\n")[:-1],
        np.diff(stretches[:n_stretches], append=batch.count),
        IdColumn(words),
        values,
        np.arange(batch.line, batch.line + batch.count, dtype=np.int64),
        batch.data.rsplit(None, 1)[1].decode(),
    )


def _inspected_part(batch: Batch, layout: Layout, problems: Problems) -> _Part:
    """The batch line by line: the sound lines, and a problem for each that is not."""
    rows: list[tuple[str, str, float, int]] = []
    last = ""
    if batch.data.replace(b"\r\n", b"\n").strip(b" \t\n"):
        for number, raw in enumerate(batch.data.split(b"\n")[:-1], start=batch.line):
            text = line_text(raw, number, problems)
            words = [] if text is None else list(_WORD.finditer(text))
            row = _row(words, layout, number, problems) if words else None
            if row is not None:
                rows.append((*row, number))
                last = words[len(layout.fields) - 1].group()
    return _part_of(rows, last)


def _part_of(rows: Sequence[tuple[str, str, float, int]], last: str) -> _Part:
    """Rows of (query, document, value, line) as a part."""
    stretches = [(query, len(list(own))) for query, own in groupby(row[0] for row in rows)]
    return _Part(
        [query for query, _ in stretches],
        np.array([length for _, length in stretches], dtype=np.int64),
        IdColumn.of([row[1] for row in rows]),
        np.array([row[2] for row in rows], dtype=np.float64),
        np.array([row[3] for row in rows], dtype=np.int64),
        last,
    )


def table_of(
    rows: Sequence[tuple[str, str, float, int]], *, limits: Limits, problems: Problems
) -> Table:
    """Rows of (query, document, value, line) of another format, in their order; at least one.

    Raises FileRefused for pairs that are there twice, and for more than fit.
    """
    gathered = _Gathered(limits, problems)
    gathered.add(_part_of(rows, ""))
    table = gathered.table()
    problems.raise_if_any()
    return table


def _row(
    words: list[re.Match[str]], layout: Layout, line: int, problems: Problems
) -> tuple[str, str, float] | None:
    """(query, document, value) of a line that is not empty; None for a comment or a problem."""
    if words[0].group().startswith("#"):
        _check_comment(words, layout, line, problems)
        return None
    if not _columns_fit(words, layout):
        problems.add(line, Rule.COLUMNS, _columns_message(words, layout))
        return None
    known = problems.total
    for place in (0, 2, *range(5, len(layout.fields))):
        wrong = id_problem(words[place].group())
        if wrong:
            what = f"the {layout.fields[place]} {quoted(words[place].group())} {wrong}."
            problems.add(line, Rule.ID, what, column=words[place].start() + 1)
    value = _value(words[layout.value], layout, line, problems)
    if value is None or problems.total > known:
        return None
    return words[0].group(), words[2].group(), value


def _check_comment(
    words: list[re.Match[str]], layout: Layout, line: int, problems: Problems
) -> None:
    """A line that could be meant as data must not vanish as a comment."""
    if _columns_fit(words, layout) and _NUMBER.fullmatch(words[layout.value].group()):
        message = "a line that begins with # is a comment, but this one looks like data."
        problems.add(line, Rule.COMMENT, message, column=words[0].start() + 1)


def _columns_fit(words: list[re.Match[str]], layout: Layout) -> bool:
    wanted = len(layout.fields)
    if len(words) > wanted and layout.rest_allowed:
        return _INTEGER.fullmatch(words[3].group()) is not None
    return len(words) == wanted


def _columns_message(words: list[re.Match[str]], layout: Layout) -> str:
    found = f"{len(words)} column" if len(words) == 1 else f"{len(words)} columns"
    wanted = f"{len(layout.fields)} are needed ({' '.join(layout.fields)})"
    odd = re.search(r"[^\S \t]", words[0].string)
    hint = f"; U+{ord(odd.group()):04X} is not a blank here" if odd else ""
    return f"{found}, but {wanted}{hint}."


def _value(word: re.Match[str], layout: Layout, line: int, problems: Problems) -> float | None:
    problem = layout.problem(word.group())
    if problem is None:
        return float(word.group())
    rule, message = problem
    problems.add(line, rule, message, column=word.start() + 1)
    return None


def _check_grades(part: _Part, scale: Scale, problems: Problems) -> None:
    outside = ~np.isin(part.values, scale.codes)
    for value, line in zip(part.values[outside], part.lines[outside], strict=True):
        problems.add(int(line), Rule.SCALE, f"the grade {value:.0f} is not on the scale {scale}.")


def _enlarged(array: Array, n_filled: int, shape: tuple[int, ...]) -> Array:
    """An array of this shape that begins with what is filled of another; zeros beside that."""
    out = np.empty(shape, array.dtype)
    out[:n_filled] = 0
    filled = array[:n_filled]
    out[tuple(map(slice, filled.shape))] = filled
    return cast(Array, out)


@dataclass(slots=True)
class _Gathered:
    """The pairs read so far, in file order.

    They are put where they stay, in arrays as long as the file promises: what nobody touches of
    these costs nothing, and to touch memory twice took a quarter of reading a large file.

    expected: how many there may be. queries: the first stretch of each. stretches: the first of
    the same query, and the lengths. words, lines, values: `count` of each are filled.
    """

    limits: Limits
    problems: Problems
    queries: dict[str, int] = field(default_factory=dict)
    stretches: list[tuple[LongIntegers, LongIntegers]] = field(default_factory=list)
    n_stretches: int = 0
    words: Words = field(default_factory=lambda: np.empty((0, 1), np.uint64))
    lines: Integers = field(default_factory=lambda: np.empty(0, np.int32))
    values: Floats = field(default_factory=lambda: np.empty(0))
    long: dict[bytes, str] = field(default_factory=dict)
    expected: int = 0
    count: int = 0
    memory: int = 0
    last: str = ""

    def add(self, part: _Part) -> None:
        """Takes the pairs of a part. Raises FileRefused when they are more than fit."""
        before, n_own = len(self.queries), len(part.query_ids)
        firsts = map(self.queries.setdefault, part.query_ids, count(self.n_stretches))
        self.stretches.append((np.fromiter(firsts, np.int64, n_own), part.lengths))
        self.n_stretches += n_own
        self._put(part)
        per_pair = BYTES_PER_PAIR + WORD * part.doc_ids.words.shape[1]
        self.memory += len(part.values) * per_pair + (len(self.queries) - before) * BYTES_PER_ID
        self.memory += sum(map(len, part.query_ids)) + sum(map(len, part.doc_ids.long.values()))
        self.last = part.last
        if self.memory > self.limits.memory:
            line = int(part.lines[-1])
            message = f"more pairs and ids than fit into {self.limits.memory:,} bytes of memory."
            raise self.problems.stop(line, Rule.TOO_MUCH, message)

    def _put(self, part: _Part) -> None:
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
        """The pairs grouped by query, with a problem for every pair that is there twice."""
        firsts, lengths = (np.concatenate(own) for own in zip(*self.stretches, strict=True))
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
