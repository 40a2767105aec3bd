"""Rows of named values from a CSV, TSV or JSONL file; which of them it is, its content tells.

JSONL has one object per line and begins with `{`. CSV has a header that names the id, commas,
semicolons or bars between its cells, and quoted cells, which may have several lines. Everything
else is TSV: `id<TAB>text`, or any columns below a header, which is a first line that begins with
the name of the id. A cell of TSV is what stands between two tabs; there is no quoting.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.json_lines import Json, JsonRefusedError, json_object
from touchstone.files.rating_lines import unguarded
from touchstone.files.reading import Limits, Progress, Source, read_lines
from touchstone.files.table_columns import (
    LEFT_OUT,
    Parts,
    all_parts,
    check_parts,
    find_delimiter,
    header_cells,
)

BLANKS: Final = " \t"


@dataclass(frozen=True, slots=True)
class Row:
    """One line. values: by lower-case column name or by key. is_text: every value is a string."""

    line: int
    values: dict[str, Json]
    is_text: bool


def read_rows(
    source: Source,
    *,
    columns: tuple[str, ...] | None,
    parts: Parts,
    chosen: Mapping[str, str],
    limits: Limits,
    problems: Problems,
    progress: Progress | None = None,
) -> Iterator[Row]:
    """Every row that could be read; the others become problems.

    columns: the names that a TSV header may have besides the id's; None for any.
    parts: what the columns of CSV may be, and what the id may be called in TSV, the first of them
    in a file without a header. chosen: what a person said that columns are, by their
    names; where they did, the first line of TSV is a header too.
    Raises FileRefused where reading on makes no sense.
    """
    every = read_lines(source, limits=limits, problems=problems, progress=progress)
    first = next(((number, text) for number, text in every if text.strip(BLANKS)), None)
    if first is None:
        return
    number, text = first
    lines = ((number, text) for number, text in every if text.strip(BLANKS))
    start = text.lstrip(BLANKS)
    if start.startswith("{"):
        yield from _json_rows(_again(first, lines), problems)
    elif start.startswith("[") and "\t" not in text:
        message = "this is a JSON array; write one object per line (JSON Lines)."
        raise problems.stop(number, Rule.JSON, message)
    elif (delimiter := table_delimiter(text, parts, chosen)) is not None:
        cells = header_cells(text, delimiter)
        wrong = check_parts(cells, chosen, parts)
        if wrong:
            raise problems.stop(number, Rule.HEADER, wrong)
        named = all_parts(cells, chosen, parts)
        yield from _csv_rows(every, delimiter, tuple(named.values()), limits, problems)
    else:
        header = tsv_header(text, parts.tsv_ids)
        if header is None:
            yield from _tsv_rows(_again(first, lines), (parts.id, "text"), problems)
        else:
            _check_header(header, columns, number, problems)
            yield from _tsv_rows(lines, header, problems)


def table_delimiter(text: str, parts: Parts, chosen: Mapping[str, str]) -> str | None:
    """What separates the cells below a header; None for TSV that is read as it always was."""
    if "\t" in text:
        return "\t" if chosen else None
    return find_delimiter(text, parts, chosen)


def _csv_rows(
    lines: Iterator[tuple[int, str]],
    delimiter: str,
    named: tuple[str, ...],
    limits: Limits,
    problems: Problems,
) -> Iterator[Row]:
    """named: the part of each column."""
    csv.field_size_limit(max(csv.field_size_limit(), limits.line))
    for number, cells in _csv_cells(lines, delimiter, problems):
        if len(cells) != len(named):
            message = f"{len(cells)} columns, but {len(named)} are needed."
            problems.add(number, Rule.COLUMNS, message)
            continue
        values: dict[str, Json] = {
            part: unguarded(cell.strip())
            for part, cell in zip(named, cells, strict=True)
            if part != LEFT_OUT
        }
        yield Row(number, values, is_text=True)


def _csv_cells(
    lines: Iterator[tuple[int, str]], delimiter: str, problems: Problems
) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row that has some, with its first line: a quoted cell may have several."""
    begins, last = 0, 0

    def fed() -> Iterator[str]:
        nonlocal begins, last
        for number, text in lines:
            begins, last = begins or number, number
            yield f"{text}\n"

    if delimiter == "\t":  # no quoting
        rows = csv.reader(fed(), delimiter=delimiter, quoting=csv.QUOTE_NONE)
    else:
        rows = csv.reader(fed(), delimiter=delimiter, strict=True)
    try:
        for cells in rows:
            if any(cell.strip() for cell in cells):
                yield begins, cells
            begins = 0
    except csv.Error:
        message = "an unclosed quotation mark, or one inside a cell."
        raise problems.stop(begins or last, Rule.COLUMNS, message) from None


def _again(first: tuple[int, str], rest: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    yield first
    yield from rest


def _json_rows(lines: Iterator[tuple[int, str]], problems: Problems) -> Iterator[Row]:
    for number, text in lines:
        try:
            values = json_object(text)
        except JsonRefusedError as refused:
            problems.add(number, refused.rule, refused.message, column=refused.column)
        else:
            yield Row(number, values, is_text=False)


def _tsv_rows(
    lines: Iterator[tuple[int, str]], header: tuple[str, ...], problems: Problems
) -> Iterator[Row]:
    wanted = len(header)
    for number, text in lines:
        cells = text.split("\t")
        if len(cells) == wanted:
            values: dict[str, Json] = dict(zip(header, cells, strict=True))
            yield Row(number, values, is_text=True)
        else:
            count = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
            message = f"{count}, but {wanted} are needed, with a tab between ({', '.join(header)})."
            problems.add(number, Rule.COLUMNS, message)


def tsv_header(text: str, id_names: tuple[str, ...]) -> tuple[str, ...] | None:
    """The columns that a first line of TSV names; None where it is no header."""
    cells = tuple(cell.strip(BLANKS).lower() for cell in text.split("\t"))
    return cells if cells[0] in id_names else None


def _check_header(
    header: tuple[str, ...], columns: tuple[str, ...] | None, line: int, problems: Problems
) -> None:
    for position, name in enumerate(header):
        if not name:
            message = f"column {position + 1} has no name."
        elif name in header[:position]:
            message = f"the column {quoted(name)} appears twice."
        elif position and columns is not None and name not in columns:
            message = f"unknown column {quoted(name)}; allowed: {', '.join(columns)}."
        else:
            continue
        raise problems.stop(line, Rule.HEADER, message)
