"""Queries and documents of a collection, streamed from CSV, TSV or JSONL, one frozen record each.

JSONL may name the id `query_id` or `doc_id`, `_id` (as BEIR does) or `id`. Queries have `text`
(or `title`), `description`, `segment` and `weight`; what else they have is not taken. Documents
have `title`, `text` and `url`; what else they have is kept in `fields`. An id may be written as
a whole number; other values that are missing may as well be null.
"""

import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeVar

from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.ids import id_problem, query_id_problem
from touchstone.files.json_lines import Json
from touchstone.files.numbers import NUMBER
from touchstone.files.reading import (
    DOCUMENT_LIMITS,
    QUERY_LIMITS,
    Limits,
    Progress,
    Source,
)
from touchstone.files.rows import Row, read_rows
from touchstone.files.table_columns import DOCUMENT_PARTS, QUERY_PARTS

QUERY_ID_NAMES: Final = QUERY_PARTS.tsv_ids
DOCUMENT_ID_NAMES: Final = DOCUMENT_PARTS.tsv_ids
QUERY_COLUMNS: Final = ("text", "title", "description", "segment", "weight")
MAX_SEGMENT_CHARACTERS: Final = 200
MAX_WEIGHT: Final = 1e12
MAX_FIELDS: Final = 200
MAX_FIELD_NAME_CHARACTERS: Final = 200
BYTES_PER_SEEN_ID: Final = 140
NO_COLUMNS: Final[Mapping[str, str]] = MappingProxyType({})

_NUMBER: Final = re.compile(NUMBER)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRecord:
    """One query of a file. text: never empty. weight: above 0. line: where it was."""

    query_id: str
    text: str
    description: str = ""
    segment: str = ""
    weight: float = 1.0
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord:
    """One document of a file. fields: what else the file says of it, as JSON values."""

    doc_id: str
    title: str = ""
    text: str = ""
    url: str = ""
    fields: Mapping[str, Json]
    line: int


Record = TypeVar("Record", QueryRecord, DocumentRecord)


def read_queries(
    source: Source,
    *,
    name: str,
    columns: Mapping[str, str] = NO_COLUMNS,
    limits: Limits = QUERY_LIMITS,
    progress: Progress | None = None,
) -> Iterator[QueryRecord]:
    """The queries of a file, one after the other.

    source: a path or a binary file object, gzipped or not. name: what problems call the file.
    columns: what columns of a table are, by their names; "" for one that is not read. Of columns
    that are not named, their names tell (`table_columns.QUERY_PARTS`).
    progress: called with the number of bytes of the source read so far.
    Raises FileRefused, at the latest at the end: only then is anything that came before sound,
    so store in a transaction while reading. Nothing follows a broken line.
    """
    problems = Problems(name)
    rows = read_rows(
        source,
        columns=QUERY_COLUMNS,
        parts=QUERY_PARTS,
        chosen=columns,
        limits=limits,
        problems=problems,
        progress=progress,
    )
    return _records(rows, _query, limits, problems)


def read_documents(
    source: Source,
    *,
    name: str,
    columns: Mapping[str, str] = NO_COLUMNS,
    limits: Limits = DOCUMENT_LIMITS,
    progress: Progress | None = None,
) -> Iterator[DocumentRecord]:
    """The documents of a file, one after the other; otherwise as `read_queries`."""
    problems = Problems(name)
    rows = read_rows(
        source,
        columns=None,
        parts=DOCUMENT_PARTS,
        chosen=columns,
        limits=limits,
        problems=problems,
        progress=progress,
    )
    return _records(rows, _document, limits, problems)


def _records(
    rows: Iterator[Row],
    record_of: Callable[["_Reading"], tuple[str, Record]],
    limits: Limits,
    problems: Problems,
) -> Iterator[Record]:
    seen: dict[str, int] = {}
    memory = 0
    for row in rows:
        record_id, record = record_of(_Reading(row, problems))
        if record_id in seen:
            message = f"{quoted(record_id)} is already on line {seen[record_id]}."
            problems.add(row.line, Rule.DUPLICATE, message)
        elif record_id:
            seen[record_id] = row.line
            memory += sys.getsizeof(record_id) + BYTES_PER_SEEN_ID
        if memory > limits.memory:
            message = f"more ids than fit into {limits.memory:,} bytes of memory."
            raise problems.stop(row.line, Rule.TOO_MUCH, message)
        if not problems:
            yield record
    problems.raise_if_any()
    if not seen:
        raise problems.stop(1, Rule.EMPTY, "the file has no data.")


def _query(reading: "_Reading") -> tuple[str, QueryRecord]:
    query_id = reading.id(QUERY_ID_NAMES, query_id_problem)
    title = reading.text("title")
    text = reading.text("text") or title
    if not text.strip():
        reading.problem(Rule.TEXT, "the query has no text.")
    segment = reading.text("segment")
    if len(segment) > MAX_SEGMENT_CHARACTERS or not segment.isprintable():
        message = f"the segment must be one line of at most {MAX_SEGMENT_CHARACTERS} characters."
        reading.problem(Rule.FIELD, message)
    return query_id, QueryRecord(
        query_id=query_id,
        text=text,
        description=reading.text("description"),
        segment=segment,
        weight=reading.weight(),
        line=reading.row.line,
    )


def _document(reading: "_Reading") -> tuple[str, DocumentRecord]:
    doc_id = reading.id(DOCUMENT_ID_NAMES, id_problem)
    return doc_id, DocumentRecord(
        doc_id=doc_id,
        title=reading.text("title"),
        text=reading.text("text"),
        url=reading.text("url"),
        fields=reading.rest(),
        line=reading.row.line,
    )


class _Reading:
    """Takes the values of one row by name, and notes what is wrong with them."""

    def __init__(self, row: Row, problems: Problems) -> None:
        self.row = row
        self.left = dict(row.values)
        self.problems = problems

    def problem(self, rule: Rule, message: str) -> None:
        self.problems.add(self.row.line, rule, message)

    def id(self, names: tuple[str, ...], wrong: Callable[[str], str | None]) -> str:
        """The id by the first of these names that is there; empty where it is none."""
        name = next((name for name in names if name in self.left), None)
        if name is None:
            self.problem(Rule.ID, f"no id; it is called {', '.join(names[:-1])} or {names[-1]}.")
            return ""
        value = self.left.pop(name)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            self.problem(Rule.ID, f"the {name} must be text.")
            return ""
        problem = wrong(value)
        if problem:
            self.problem(Rule.ID, f"the {name} {quoted(value)} {problem}.")
            return ""
        return value

    def text(self, name: str) -> str:
        """A text; missing and null are empty."""
        value = self.left.pop(name, None)
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        self.problem(Rule.FIELD, f"{name} must be text.")
        return ""

    def weight(self) -> float:
        """A finite number above 0; missing, null and an empty cell are 1."""
        value = self.left.pop("weight", None)
        if value is None or (self.row.is_text and value == ""):
            return 1.0
        if self.row.is_text and isinstance(value, str) and _NUMBER.fullmatch(value):
            value = float(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            weight = float(value)
            if math.isfinite(weight) and 0 < weight < MAX_WEIGHT:
                return weight
        message = f"the weight must be a number above 0 and below {MAX_WEIGHT:.0e}."
        self.problem(Rule.WEIGHT, message)
        return 1.0

    def rest(self) -> dict[str, Json]:
        """What was not taken; of a TSV file, only cells that are not empty."""
        kept = {k: v for k, v in self.left.items() if not (self.row.is_text and v == "")}
        if len(kept) > MAX_FIELDS:
            self.problem(Rule.FIELD, f"{len(kept)} fields; at most {MAX_FIELDS} are allowed.")
        for name in kept:
            if not name.strip() or len(name) > MAX_FIELD_NAME_CHARACTERS:
                message = f"a field's name must have 1 to {MAX_FIELD_NAME_CHARACTERS} characters."
                self.problem(Rule.FIELD, message)
        return kept
