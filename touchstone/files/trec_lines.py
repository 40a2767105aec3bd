"""The lines of TREC files, parsed fast where they are sound and with care where they are not.

A block of lines is split at once, or, in processes that read much, scanned by a compiled loop
(`loops`). Only a block with something out of the ordinary is looked at line by line: that way is
the authority, and names what is wrong and where.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

import numpy as np

from touchstone.files.compiled import SOUND, UNUSUAL, expect, loops_after
from touchstone.files.errors import FileRefused, Problems, Rule, quoted
from touchstone.files.id_columns import LONGEST, IdColumn
from touchstone.files.ids import MAX_ID_CHARACTERS, NO_PLACES, NOT_IN_IDS, id_problem
from touchstone.files.numbers import INTEGER, NUMBER
from touchstone.files.reading import (
    Batch,
    Limits,
    Progress,
    Source,
    line_text,
    read_batches,
    size_of,
)
from touchstone.files.trec_pairs import (
    NonContiguousQueriesError,
    PairBuilder,
    Part,
    Table,
    whole_queries,
)
from touchstone.scales import Scale

MAX_GRADE: Final = 2**31 - 1

_WORD: Final = re.compile(r"[^ \t]+")
_NOT_A_NUMBER: Final = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_INTEGER: Final = re.compile(INTEGER)
_NUMBER: Final = re.compile(NUMBER)
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
# beyond ASCII, and in no id
_FOREIGN: Final = re.compile(rf"(?![\x00-\x7e])[{NOT_IN_IDS}]")
_NO_PLACES: Final = frozenset(position.encode() for position in NO_PLACES)


def _score_problem(text: str) -> tuple[Rule, str] | None:
    if _NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return None
    if _NOT_A_NUMBER.fullmatch(text):
        return Rule.NOT_FINITE, f"the score {quoted(text)} is not a finite number."
    if not _NUMBER.fullmatch(text):
        return Rule.SCORE, f"the score {quoted(text)} is not a number."
    return Rule.NOT_FINITE, f"the score {quoted(text)} is too large for a number."


def _rank_problem(text: str) -> tuple[Rule, str] | None:
    if _INTEGER.fullmatch(text) and abs(float(text)) <= MAX_GRADE:
        return None
    return Rule.RANK, f"the rank {quoted(text)} is not a whole number."


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
    problem: what is wrong with a value, or None. document: the place of the document's id.
    rest_allowed: text after the last field is ignored where the fourth is a number.
    by_rank: the value is a rank, which becomes a score by its sign.
    short: the layout of files whose first line has its number of fields.
    """

    fields: tuple[str, ...]
    value: int
    whole: bool
    problem: Callable[[str], tuple[Rule, str] | None]
    rest_allowed: bool = False
    document: int = 2
    by_rank: bool = False
    short: "Layout | None" = None

    @property
    def dtype(self) -> type[np.float64 | np.int32]:
        """Of values, once they are known to be sound."""
        return np.int32 if self.whole else np.float64


# What PyTerrier writes as "minimal" and MS MARCO takes: no score, no tag.
RANK_LINES: Final = Layout(
    fields=("query", "document", "rank"),
    value=2,
    whole=False,
    problem=_rank_problem,
    document=1,
    by_rank=True,
)
RUN_LINES: Final = Layout(
    fields=("query", "Q0", "document", "rank", "score", "tag"),
    value=4,
    whole=False,
    problem=_score_problem,
    short=RANK_LINES,
)
RUN_LINES_BY_RANK: Final = replace(RUN_LINES, value=3, problem=_rank_problem, by_rank=True)
RUN_LINES_WITH_REST: Final = replace(RUN_LINES, rest_allowed=True)
QRELS_LINES: Final = Layout(
    fields=("query", "iteration", "document", "grade"),
    value=3,
    whole=True,
    problem=_grade_problem,
)


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
    builder = PairBuilder(limits, problems, layout.dtype)
    seen: Layout | None = None
    for batch in read_batches(source, limits=limits, problems=problems, progress=progress):
        if batch.line == 1:
            size = size_of(source)
            expect(size)
            builder.expected = size * batch.count // len(batch.data)
        seen = seen or _layout_of(batch, layout)
        part = _part(batch, seen or layout, problems)
        if len(part.values):
            builder.add(part)
            if scale is not None:
                _check_grades(part, scale, problems)
    if not builder.count:
        problems.raise_if_any()
        raise problems.stop(1, Rule.EMPTY, "the file has no data.")
    table = builder.table()
    problems.raise_if_any()
    layout = seen or layout
    return replace(table, columns=len(layout.fields), by_rank=layout.by_rank)


def read_chunks(source: Source, layout: Layout, *, name: str, limits: Limits) -> Iterator[Table]:
    """The pairs of a file, some whole queries at a time, while nothing is wrong with it.

    So little of it is in memory at once that it stays in the cache, and is used again.
    A query whose lines do not follow each other comes more than once; that is not noticed.
    Raises NonContiguousQueriesError where anything is wrong: `read_table` says what it is.
    """
    problems = Problems(name)
    empty = True
    try:
        for parts in whole_queries(_parts(source, layout, limits, problems), limits):
            builder = PairBuilder(limits, problems, layout.dtype)
            builder.expected = sum(len(part.values) for part in parts)
            for part in parts:
                builder.add(part)
            table = builder.table()
            problems.raise_if_any()
            empty = False
            yield table
        problems.raise_if_any()
    except FileRefused as refused:
        raise NonContiguousQueriesError from refused
    if empty:
        raise NonContiguousQueriesError


def _parts(source: Source, layout: Layout, limits: Limits, problems: Problems) -> Iterator[Part]:
    """The sound lines of a file, batch by batch, and a problem for each that is not."""
    seen: Layout | None = None
    for batch in read_batches(source, limits=limits, problems=problems):
        if batch.line == 1:
            expect(size_of(source))
        seen = seen or _layout_of(batch, layout)
        part = _part(batch, seen or layout, problems)
        if len(part.values):
            yield part


def _layout_of(batch: Batch, layout: Layout) -> Layout | None:
    """How the lines of a file are made, by the first with content; None where there is none yet."""
    if layout.short is None:
        return layout
    for line in batch.data.split(b"\n"):
        words = line.split()
        if words and not words[0].startswith(b"#"):
            fits = len(words) == len(layout.short.fields) and words[layout.short.value].isdigit()
            return layout.short if fits else layout
    return None


def _part(batch: Batch, layout: Layout, problems: Problems) -> Part:
    """The sound lines of a batch, and a problem for each that is not."""
    part = _sound_part(batch, layout) or _inspected_part(batch, layout, problems)
    # 0 − 0 is 0, and no −0
    return part._replace(values=0.0 - part.values) if layout.by_rank else part


def _sound_part(batch: Batch, layout: Layout) -> Part | None:
    """A batch at once, if nothing in it is out of the ordinary; else None."""
    if not _is_plain(batch.data):
        return None
    compiled = loops_after(len(batch.data))
    if compiled is not None and not layout.by_rank:
        return _scanned_part(batch, layout, compiled)
    has_controls = _CONTROL.search(batch.data.replace(b"\r\n", b"\n"))
    return None if has_controls else _split_part(batch, layout)


def _split_part(batch: Batch, layout: Layout) -> Part | None:
    """The same by Python's ways to split and to read numbers."""
    rows = [line.split() for line in batch.data.split(b"\n")[:-1]]
    if {*map(len, rows)} != {len(layout.fields)}:
        return None
    columns = tuple(zip(*rows, strict=True))
    ids = [columns[position] for position in (0, layout.document, -1)]
    if not all(map(_NO_PLACES.isdisjoint, ids[:2])):
        return None
    chunks = [(query_id.decode(), len(list(own))) for query_id, own in groupby(columns[0])]
    texts = [raw.decode() for raw in columns[layout.value]]
    is_long = max(max(map(len, own)) for own in ids) > MAX_ID_CHARACTERS
    has_comment = any(query_id.startswith("#") for query_id, _ in chunks)
    if is_long or has_comment or any(map(layout.problem, texts)):
        return None
    return Part(
        [query_id for query_id, _ in chunks],
        np.array([length for _, length in chunks]),
        IdColumn.of_raw(columns[layout.document]),
        np.array([float(text) for text in texts]),
        np.arange(batch.line, batch.line + batch.count, dtype=np.int32),
        rows[-1][-1].decode(),
    )


def _is_plain(data: bytes) -> bool:
    """Whether it is UTF-8, and none of its characters beyond ASCII is one that no id may have."""
    try:
        return data.isascii() or not _FOREIGN.search(data.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _scanned_part(batch: Batch, layout: Layout, compiled: Any) -> Part | None:
    """The same by a compiled loop."""
    data = np.frombuffer(batch.data, np.uint8)
    values = np.empty(batch.count)
    odd, chunks = np.empty((batch.count, 3), np.int64), np.empty(batch.count + 1, np.int64)
    names, filled = np.empty(len(data), np.uint8), np.zeros(3, np.int64)
    outcome, width = SOUND, 1
    longest = min(LONGEST, MAX_ID_CHARACTERS)
    while outcome != UNUSUAL:
        words = np.empty((batch.count, width), np.uint64)
        outcome = compiled.scan(
            data, len(layout.fields), layout.value, layout.whole, longest,
            words, values, odd, chunks, names, filled,
        )  # fmt: skip
        if outcome == SOUND:
            break
        width = outcome
    else:
        return None
    n_chunks, n_odd, n_names = filled.tolist()
    chunks[n_chunks] = batch.count
    for line, start, end in odd[:n_odd].tolist():
        text = batch.data[start:end].decode()
        if layout.problem(text):
            return None
        values[line] = float(text)
    return Part(
        names[:n_names].tobytes().decode().split("\n")[:-1],
        chunks[1 : n_chunks + 1] - chunks[:n_chunks],
        IdColumn(words),
        values,
        np.arange(batch.line, batch.line + batch.count, dtype=np.int32),
        batch.data[batch.data.rfind(b"\n", 0, -1) + 1 :].split()[-1].decode(),
    )


def _inspected_part(batch: Batch, layout: Layout, problems: Problems) -> Part:
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


def _part_of(rows: Sequence[tuple[str, str, float, int]], last: str) -> Part:
    """Rows of (query, document, value, line) as a part."""
    chunks = [(query, len(list(own))) for query, own in groupby(row[0] for row in rows)]
    return Part(
        [query for query, _ in chunks],
        np.array([length for _, length in chunks], dtype=np.int64),
        IdColumn.of([row[1] for row in rows]),
        np.array([row[2] for row in rows], dtype=np.float64),
        np.array([row[3] for row in rows], dtype=np.int32),
        last,
    )


def table_of(
    rows: Sequence[tuple[str, str, float, int]], *, limits: Limits, problems: Problems
) -> Table:
    """Rows of (query, document, grade, line) of another format, in their order; at least one.

    Raises FileRefused for pairs that appear twice, and for more than fit.
    """
    builder = PairBuilder(limits, problems, np.int32)
    builder.add(_part_of(rows, ""))
    table = builder.table()
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
    for position in (0, layout.document, *range(5, len(layout.fields))):
        wrong = id_problem(words[position].group())
        is_tag = position > 2  # which is in no address
        if wrong and not (is_tag and words[position].group() in NO_PLACES):
            what = f"the {layout.fields[position]} {quoted(words[position].group())} {wrong}."
            problems.add(line, Rule.ID, what, column=words[position].start() + 1)
    value = _value(words[layout.value], layout, line, problems)
    if value is None or problems.total > known:
        return None
    return words[0].group(), words[layout.document].group(), value


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
    result = f"{len(words)} column" if len(words) == 1 else f"{len(words)} columns"
    wanted = f"{len(layout.fields)} are needed ({' '.join(layout.fields)})"
    if layout.short is not None:
        wanted += f", or {len(layout.short.fields)} ({' '.join(layout.short.fields)})"
    odd = re.search(r"[^\S \t]", words[0].string)
    hint = f"; U+{ord(odd.group()):04X} is not a blank here" if odd else ""
    return f"{result}, but {wanted}{hint or _what_it_is(words, layout)}."


def _what_it_is(words: list[re.Match[str]], layout: Layout) -> str:
    """What a line of the wrong kind of file seems to be; "" where nothing is recognised."""
    texts = [word.group() for word in words]
    first = texts[0] if texts else ""
    if first.startswith(("{", "[")):
        return "; this is JSON"
    if len(texts) == 1 and "," in first:
        return "; this is CSV"
    if layout.whole and len(texts) == len(RUN_LINES.fields) and _NUMBER.fullmatch(texts[4]):
        return "; this is a run, not judgments"
    if layout.whole and len(texts) == 3 and _INTEGER.fullmatch(texts[2]):
        return "; a run without scores (query document rank) looks like this"
    if not layout.whole and len(texts) == len(QRELS_LINES.fields) and _INTEGER.fullmatch(texts[3]):
        return "; these are judgments, not a run"
    return ""


def _value(word: re.Match[str], layout: Layout, line: int, problems: Problems) -> float | None:
    problem = layout.problem(word.group())
    if problem is None:
        return float(word.group())
    rule, message = problem
    problems.add(line, rule, message, column=word.start() + 1)
    return None


def _check_grades(part: Part, scale: Scale, problems: Problems) -> None:
    outside = ~np.isin(part.values, scale.codes)
    for value, line in zip(part.values[outside], part.lines[outside], strict=True):
        problems.add(int(line), Rule.SCALE, f"the grade {value:.0f} is not on the scale {scale}.")
