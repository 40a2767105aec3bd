"""Labels that were given elsewhere, and what was finally decided of the pairs, from a file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from annotation.labelling.submissions import LONGEST_SECONDS, MAX_NOTE_CHARACTERS
from touchstone.errors import DomainError
from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.labels import named_rows, names_sound, read_grade
from touchstone.files.numbers import NUMBER
from touchstone.files.reading import Progress, Source
from touchstone.scales import Scale

MOST_LABELS: Final = 3_000_000  # some 300 bytes each in memory
MAX_NAMES_CHARACTERS: Final = 500_000  # who is who
NAMES: Final = ("annotator", "query_id", "doc_id")
Key = tuple[str, str]  # the ids of a query and a document

_NUMBER: Final = re.compile(NUMBER)


class NamesRefused(DomainError):
    """Who is who can't be read."""


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """One line: an annotator's label of a pair. made_at: None where the file does not say."""

    line: int
    query_id: str
    doc_id: str
    annotator: str
    grade: int
    made_at: datetime | None
    seconds: float | None
    note: str


@dataclass(frozen=True)
class GivenLabels:
    """A file's labels in its order, and the final grades of pairs that have one.

    name: the file's. finals: by pair, with the line that says so first.
    """

    name: str
    labels: list[GivenLabel] = field(default_factory=list)
    finals: dict[Key, tuple[int, int]] = field(default_factory=dict)

    @property
    def annotators(self) -> list[str]:
        return sorted({label.annotator for label in self.labels})

    @property
    def fewest_of_pair(self) -> int:
        """How many labels the pair with the fewest has."""
        counts: dict[Key, int] = {}
        for label in self.labels:
            key = (label.query_id, label.doc_id)
            counts[key] = counts.get(key, 0) + 1
        return min(counts.values())

    def lines(self) -> dict[Key, int]:
        """The line in which each pair comes first."""
        result: dict[Key, int] = {}
        for label in self.labels:
            result.setdefault((label.query_id, label.doc_id), label.line)
        return result


def read_given_labels(
    source: Source, *, name: str, scale: Scale, at: datetime, progress: Progress | None = None
) -> GivenLabels:
    """Read labels as CSV or JSONL, gzipped or not.

    Columns or keys: annotator, query_id, doc_id, grade; and where there are any made_at (ISO
    8601, UTC unless it says otherwise), seconds, note, and final_grade: what was decided of the
    pair in the end, the same in all lines of the pair that say it. at: nothing was made later.
    Raises FileRefused with every line that breaks a rule.
    """
    problems = Problems(name)
    given = GivenLabels(name)
    once: dict[str, str] = {}  # names and ids come again and again: each is one object
    seen: dict[tuple[str, str, str], int] = {}
    for line, row in named_rows(source, problems, progress):
        values = dict(row) | {name: once.setdefault(row[name], row[name]) for name in NAMES}
        label = _label(line, values, scale, at, problems)
        if label is None or not _is_first(label, seen, problems):
            continue
        _note_final(line, values, scale, given, problems)
        given.labels.append(label)
        if len(given.labels) > MOST_LABELS:
            message = f"more than {MOST_LABELS:,} labels: split the file."
            raise problems.stop(line, Rule.TOO_MUCH, message)
    if not given.labels and not problems:
        raise problems.stop(1, Rule.EMPTY, "the file has no labels.")
    problems.raise_if_any()
    return given


def read_names(text: str) -> dict[str, str]:
    """Whose account a name of the file stands for, from lines like `agent_1 = ben`.

    Raises NamesRefused for a line that is none.
    """
    result: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        name, sign, username = (part.strip() for part in line.rpartition("="))
        if not (name and sign and username):
            raise NamesRefused("names_unreadable", f"{quoted(line)}: write NAME = USERNAME.")
        result[name] = username
    return result


def _label(
    line: int, values: Mapping[str, str], scale: Scale, at: datetime, problems: Problems
) -> GivenLabel | None:
    if not names_sound(line, values, problems):
        return None
    before = problems.total
    grade = read_grade(line, values["grade"], scale, problems)
    made_at = _time(line, values.get("made_at", ""), at, problems)
    seconds = _seconds(line, values.get("seconds", ""), problems)
    note = values.get("note", "")
    if len(note) > MAX_NOTE_CHARACTERS:
        problems.add(line, Rule.TEXT, f"the note has more than {MAX_NOTE_CHARACTERS:,} characters.")
    if grade is None or problems.total > before:
        return None
    ids = (values["query_id"], values["doc_id"])
    return GivenLabel(line, *ids, values["annotator"], grade, made_at, seconds, note)


def _is_first(label: GivenLabel, seen: dict[tuple[str, str, str], int], problems: Problems) -> bool:
    first = seen.setdefault((label.query_id, label.doc_id, label.annotator), label.line)
    if first != label.line:
        message = f"{quoted(label.annotator)} already labels this pair on line {first}."
        problems.add(label.line, Rule.DUPLICATE, message)
    return first == label.line


def _note_final(
    line: int, values: Mapping[str, str], scale: Scale, given: GivenLabels, problems: Problems
) -> None:
    text = values.get("final_grade", "")
    grade = read_grade(line, text, scale, problems) if text else None
    if grade is None:
        return
    key = (values["query_id"], values["doc_id"])
    before, first = given.finals.setdefault(key, (grade, line))
    if before != grade:
        message = f"conflicting final_grade: {before} on line {first}, {grade} here."
        problems.add(line, Rule.GRADE, message)


def _time(line: int, text: str, at: datetime, problems: Problems) -> datetime | None:
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        problems.add(line, Rule.TEXT, f"{quoted(text)} is not a time like 2026-03-14T09:26:53Z.")
        return None
    if time > at:
        problems.add(line, Rule.TEXT, f"{quoted(text)} is in the future.")
        return None
    return time


def _seconds(line: int, text: str, problems: Problems) -> float | None:
    if not text:
        return None
    seconds = float(text) if _NUMBER.fullmatch(text) else -1.0
    if not 0 <= seconds <= LONGEST_SECONDS:
        message = f"{quoted(text)} is not a number of seconds from 0 to {LONGEST_SECONDS:,.0f}."
        problems.add(line, Rule.NUMBER, message)
        return None
    return seconds
