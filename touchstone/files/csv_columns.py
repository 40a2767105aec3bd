"""Columns of a CSV file with a header, some thousands of lines at a time.

Whole blocks are turned into columns: split at their delimiters where there is nothing more to it,
else by the csv module, which takes three times as long; only a block in which something is wrong is
looked at by line. A cell ends in its line. Blank lines are passed over.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.numbers import NUMBER
from touchstone.files.reading import (
    Batch,
    Limits,
    Progress,
    Source,
    line_text,
    read_batches,
)

_ODD: Final = ("\x00", "\r", "\ufeff")
_NUMBERS: Final = re.compile(rf"(?:[ \t]*+{NUMBER}[ \t]*+\n)*+")
_NUMBER: Final = re.compile(rf"[ \t]*+{NUMBER}[ \t]*+")


@dataclass(frozen=True, slots=True)
class CsvBlock:
    """Some rows of a file. lines: the line number of each; columns: the cells of each, by name."""

    lines: Sequence[int]
    columns: dict[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class CsvColumns:
    """Which columns are read: `needed` and, where the file has them, `optional`.

    unnamed: what the columns are in a file without a header; None where a header is needed. A first
    line is the header if it has one of the names. Other columns are not read.
    delimiter: between cells; with a tab, quotation marks mean nothing.
    """

    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()
    unnamed: tuple[str, ...] | None = None
    delimiter: str = ","


def read_csv_columns(
    source: Source,
    wanted: CsvColumns,
    *,
    limits: Limits,
    problems: Problems,
    progress: Progress | None = None,
) -> Iterator[CsvBlock]:
    """The wanted columns of every sound line; the others become problems.

    Names are compared without regard to case and blanks around them; cells are as they stand.
    Raises FileRefused where the header is wrong or the file can't be read on.
    """
    header: tuple[str, ...] | None = None
    batches = read_batches(source, limits=limits, problems=problems, progress=progress)
    for batch in batches:
        split = None if header is None else _split(batch, wanted.delimiter, len(header))
        if header is not None and split is not None:
            cells = {name: split[position :: len(header)] for position, name in enumerate(header)}
            yield CsvBlock(range(batch.line, batch.line + batch.count), _own(cells, wanted))
            continue
        lines, rows = _rows(batch, wanted.delimiter, problems)
        if not rows:
            continue
        if header is None:
            header, is_named = _header(lines[0], rows[0], wanted, problems)
            lines, rows = (lines[1:], rows[1:]) if is_named else (lines, rows)
        lines, rows = _of_width(lines, rows, header, problems)
        if rows:
            columns = dict(zip(header, zip(*rows, strict=True), strict=True))
            yield CsvBlock(lines, _own(columns, wanted))


def _own(columns: Mapping[str, Sequence[str]], wanted: CsvColumns) -> dict[str, Sequence[str]]:
    names = (*wanted.needed, *wanted.optional)
    return {name: columns[name] for name in names if name in columns}


def _is_odd(text: str) -> bool:
    return any(character in text for character in _ODD)


def _split(batch: Batch, delimiter: str, width: int) -> list[str] | None:
    """The cells of a batch, line after line, if every line has `width` and none is quoted."""
    if width < 2 or (delimiter != "\t" and b'"' in batch.data):
        return None
    result = np.frombuffer(batch.data, np.uint8)
    marks = result[(result == ord("\n")) | (result == ord(delimiter))]
    if len(marks) != width * batch.count:
        return None
    if (marks[width - 1 :: width] != ord("\n")).any():
        return None  # some line has a cell too many, and another one too few
    try:
        text = batch.data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if _is_odd(text) else text[:-1].replace("\n", delimiter).split(delimiter)


def numbers(
    cells: Sequence[str], lines: Sequence[int], name: str, problems: Problems
) -> npt.NDArray[np.float64]:
    """A column of finite numbers, float64 (n,); NaN where a problem was noted."""
    if _NUMBERS.fullmatch("\n".join((*cells, ""))):
        result = np.array(list(map(float, cells)))
        if np.isfinite(result).all():
            return result
    return np.array(
        [_number(cell, line, name, problems) for cell, line in zip(cells, lines, strict=False)]
    )


def _number(cell: str, line: int, name: str, problems: Problems) -> float:
    if not _NUMBER.fullmatch(cell):
        problems.add(line, Rule.NUMBER, f"the {name} {quoted(cell)} is not a number.")
        return np.nan
    result = float(cell)
    if not np.isfinite(result):
        problems.add(line, Rule.NOT_FINITE, f"the {name} {quoted(cell)} is too large.")
        return np.nan
    return result


def _rows(
    batch: Batch, delimiter: str, problems: Problems
) -> tuple[Sequence[int], list[list[str]]]:
    """The cells of every line of a batch that has some."""
    quoting: Literal[0, 3] = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    try:
        text = batch.data.decode("utf-8")
        if not _is_odd(text):
            texts = text.split("\n")[:-1]
            rows = list(csv.reader(texts, delimiter=delimiter, quoting=quoting, strict=True))
            if len(rows) == batch.count and all(rows):
                return range(batch.line, batch.line + batch.count), rows
    except (UnicodeDecodeError, csv.Error):
        pass  # some line is wrong, and is named below
    lines, rows = [], []
    for number, raw in enumerate(batch.data.split(b"\n")[:-1], start=batch.line):
        line = line_text(raw, number, problems)
        if line is None or not line.strip():
            continue
        try:
            cells = csv.reader([line], delimiter=delimiter, quoting=quoting, strict=True)
            rows.append(next(cells))
        except csv.Error:
            message = "an unclosed quotation mark in this line."
            problems.add(number, Rule.COLUMNS, message)
        else:
            lines.append(number)
    return lines, rows


def _header(
    line: int, cells: list[str], wanted: CsvColumns, problems: Problems
) -> tuple[tuple[str, ...], bool]:
    """The names of the columns, and whether the first line has them."""
    names = tuple(cell.strip().lower() for cell in cells)
    asked = {name.strip().lower(): name for name in (*wanted.needed, *wanted.optional)}
    if wanted.unnamed is not None and not asked.keys() & set(names):
        return wanted.unnamed, False
    missing = [own for name, own in asked.items() if name not in names and own in wanted.needed]
    if missing:
        message = (
            f"missing column {', '.join(missing)}; the file has {', '.join(map(quoted, cells))}."
        )
        raise problems.stop(line, Rule.HEADER, message)
    twice = [name for name in asked if names.count(name) > 1]
    if twice:
        raise problems.stop(line, Rule.HEADER, f"the column {quoted(twice[0])} appears twice.")
    # a column that no one asks for may have any name, or another one's
    return tuple(asked.get(name, f"\x00{position}") for position, name in enumerate(names)), True


def _of_width(
    lines: Sequence[int], rows: list[list[str]], header: tuple[str, ...], problems: Problems
) -> tuple[Sequence[int], list[list[str]]]:
    width = len(header)
    if set(map(len, rows)) <= {width}:
        return lines, rows
    kept = []
    for line, row in zip(lines, rows, strict=True):
        if len(row) == width:
            kept.append((line, row))
        else:
            problems.add(line, Rule.COLUMNS, f"{len(row)} columns, but {width} are needed.")
    return [line for line, _ in kept], [row for _, row in kept]
