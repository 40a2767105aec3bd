"""The lines of TREC files, parsed fast where they are sound and with care where they are not.

A block of lines is matched by one expression. Only a block in which that does not fit is
looked at line by line: that way is the authority, and names what is wrong and where.
"""

import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from judgments.formats.errors import Problems, Rule, quoted
from judgments.formats.ids import MAX_ID_CHARACTERS, NOT_IN_IDS, id_problem
from judgments.formats.numbers import INTEGER, NUMBER
from judgments.formats.reading import Batch, Limits, Progress, Source, line_text, read_batches
from judgments.scales import Scale

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int32]
LongIntegers = npt.NDArray[np.int64]

MAX_GRADE: Final = 2**31 - 1
BYTES_PER_PAIR: Final = 40  # what a pair takes while its table is put together
BYTES_PER_ID: Final = 100  # what an id takes beyond its characters

_WORD: Final = re.compile(r"[^ \t]+")
_ANY: Final = rf"[^{NOT_IN_IDS}]++"
_ID: Final = rf"[^{NOT_IN_IDS}]{{1,{MAX_ID_CHARACTERS}}}+"
_GRADE: Final = r"[+-]?[0-9]{1,9}"
_NOT_A_NUMBER: Final = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_INTEGER: Final = re.compile(INTEGER)
_NUMBER: Final = re.compile(NUMBER)


def _lines_of(*fields: str) -> re.Pattern[str]:
    inner = r"[ \t]++".join(fields)
    return re.compile(rf"^[ \t]*+(?!#){inner}[ \t]*+\r?$", re.MULTILINE)


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

    sound: finds (query, document, value) in text, in the lines that break no rule.
    value: the place of the value among the fields. problem: what is wrong with a value, or None.
    rest_allowed: text after the last field is ignored where the fourth is a number.
    """

    sound: re.Pattern[str]
    fields: tuple[str, ...]
    value: int
    problem: Callable[[str], tuple[Rule, str] | None]
    rest_allowed: bool = False


RUN_LINES: Final = Layout(
    sound=_lines_of(f"({_ID})", _ANY, f"({_ID})", _ANY, f"({NUMBER})", _ID),
    fields=("query", "Q0", "document", "rank", "score", "tag"),
    value=4,
    problem=_score_problem,
)
RUN_LINES_WITH_REST: Final = replace(RUN_LINES, rest_allowed=True)
QRELS_LINES: Final = Layout(
    sound=_lines_of(f"({_ID})", _ANY, f"({_ID})", f"({_GRADE})"),
    fields=("query", "iteration", "document", "grade"),
    value=3,
    problem=_grade_problem,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The pairs of a file, grouped by query, each group in file order.

    values: scores or grades. last: the last word of the last line that counts.
    """

    query_ids: tuple[str, ...]
    documents: tuple[str, ...]
    starts: LongIntegers
    codes: Integers
    lines: LongIntegers
    values: Floats
    last: str


class _Part(NamedTuple):
    query_ids: list[str]
    doc_ids: list[str]
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
        part = _sound_part(batch, layout)
        if part is None:
            part = _inspected_part(batch, layout, problems)
        if part.query_ids:
            gathered.add(part)
            if scale is not None:
                _check_grades(part, scale, problems)
    gathered.note_duplicates()
    problems.raise_if_any()
    if not gathered.count:
        raise problems.stop(1, Rule.EMPTY, "there is not one line of content in it.")
    return gathered.table()


def _sound_part(batch: Batch, layout: Layout) -> _Part | None:
    """The batch at once, if every line of it is sound; else None."""
    try:
        text = batch.data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    found = layout.sound.findall(text)
    if len(found) != batch.count:
        return None
    query_ids, doc_ids, numbers = ([row[i] for row in found] for i in range(3))
    values = np.fromiter(map(float, numbers), dtype=np.float64, count=batch.count)
    if not np.isfinite(values).all():
        return None
    lines = np.arange(batch.line, batch.line + batch.count, dtype=np.int64)
    last = _WORD.findall(text[text.rfind("\n", 0, -1) + 1 : -1].removesuffix("\r"))[-1]
    return _Part(query_ids, doc_ids, values, lines, last)


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
    return _Part(
        [row[0] for row in rows],
        [row[1] for row in rows],
        np.array([row[2] for row in rows], dtype=np.float64),
        np.array([row[3] for row in rows], dtype=np.int64),
        last,
    )


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


def _numbering() -> defaultdict[str, int]:
    """A dictionary that gives each new key the next number."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


@dataclass(slots=True)
class _Gathered:
    """The pairs read so far, in file order."""

    limits: Limits
    problems: Problems
    queries: defaultdict[str, int] = field(default_factory=_numbering)
    documents: defaultdict[str, int] = field(default_factory=_numbering)
    parts: list[tuple[Integers, Integers, LongIntegers, Floats]] = field(default_factory=list)
    count: int = 0
    memory: int = 0
    last: str = ""

    def add(self, part: _Part) -> None:
        """Takes the pairs of a part. Raises FileRefused when they are more than fit."""
        count = len(part.query_ids)
        queries = self._numbered(self.queries, part.query_ids)
        codes = self._numbered(self.documents, part.doc_ids)
        self.parts.append((queries, codes, part.lines, part.values))
        self.count += count
        self.memory += count * BYTES_PER_PAIR
        self.last = part.last
        if self.memory > self.limits.memory:
            line = int(part.lines[-1])
            message = f"more pairs and ids than fit into {self.limits.memory:,} bytes of memory."
            raise self.problems.stop(line, Rule.TOO_MUCH, message)

    def _numbered(self, numbers: defaultdict[str, int], ids: list[str]) -> Integers:
        before = len(numbers)
        codes = np.fromiter(map(numbers.__getitem__, ids), dtype=np.int32, count=len(ids))
        new = len(numbers) - before
        added = islice(reversed(numbers), new)
        self.memory += sum(map(sys.getsizeof, added)) + new * BYTES_PER_ID
        return codes

    def note_duplicates(self) -> None:
        """A problem for every line whose pair an earlier line has, naming both."""
        if not self.parts:
            return
        pairs = np.concatenate([part[0] for part in self.parts]).astype(np.int64)
        pairs *= len(self.documents)
        pairs += np.concatenate([part[1] for part in self.parts])
        if _all_differ(pairs):
            return
        order = np.argsort(pairs, kind="stable")
        ordered = pairs[order]
        repeats = np.concatenate(([False], ordered[1:] == ordered[:-1]))
        first_of = np.maximum.accumulate(np.where(repeats, 0, np.arange(len(ordered))))
        lines = np.concatenate([part[2] for part in self.parts])
        later = order[repeats]
        first = order[first_of[repeats]]
        query_ids, documents = list(self.queries), list(self.documents)
        for place in np.argsort(later).tolist():
            query, document = divmod(int(pairs[later[place]]), len(documents))
            message = (
                f"document {quoted(documents[document])} of query {quoted(query_ids[query])} "
                f"is already on line {lines[first[place]]}."
            )
            self.problems.add(int(lines[later[place]]), Rule.DUPLICATE, message)

    def table(self) -> Table:
        """The pairs grouped by query."""
        queries, codes, lines, values = (
            np.concatenate([part[i] for part in self.parts]) for i in range(4)
        )
        self.parts.clear()
        counts = np.bincount(queries, minlength=len(self.queries))
        if (queries[1:] < queries[:-1]).any():
            order = np.argsort(queries, kind="stable")
            codes, lines, values = codes[order], lines[order], values[order]
        starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        for array in (starts, codes, lines, values):
            array.flags.writeable = False
        return Table(
            query_ids=tuple(self.queries),
            documents=tuple(self.documents),
            starts=starts,
            codes=codes,
            lines=lines,
            values=values,
            last=self.last,
        )


def _all_differ(pairs: LongIntegers) -> bool:
    ordered = np.sort(pairs)
    return not bool((ordered[1:] == ordered[:-1]).any())
