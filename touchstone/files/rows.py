"""Rows of named values from a TSV or JSONL file; which of the two it is, its content tells.

JSONL has one object a line and begins with `{`. Everything else is TSV: `id<TAB>text`, or any
columns below a header, which is a first line that begins with the name of the id. A cell is
what stands between two tabs; there is no quoting.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.json_lines import Json, JsonRefusedError, json_object
from touchstone.files.reading import Limits, Progress, Source, read_lines

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
    id_names: tuple[str, ...],
    columns: tuple[str, ...] | None,
    limits: Limits,
    problems: Problems,
    progress: Progress | None = None,
) -> Iterator[Row]:
    """Every row that could be read; the others become problems.

    id_names: what the id may be called, the first of them in a TSV file without a header.
    columns: the names that a TSV header may have besides; None for any.
    Raises FileRefused where reading on makes no sense.
    """
    lines = (
        (number, text)
        for number, text in read_lines(source, limits=limits, problems=problems, progress=progress)
        if text.strip(BLANKS)
    )
    first = next(lines, None)
    if first is None:
        return
    number, text = first
    start = text.lstrip(BLANKS)
    if start.startswith("{"):
        yield from _json_rows(_again(first, lines), problems)
    elif start.startswith("[") and "\t" not in text:
        message = "this is a JSON array; write one object per line (JSON Lines)."
        raise problems.stop(number, Rule.JSON, message)
    else:
        header = _header(text, id_names)
        if header is None:
            yield from _tsv_rows(_again(first, lines), (id_names[0], "text"), problems)
        else:
            _check_header(header, columns, number, problems)
            yield from _tsv_rows(lines, header, problems)


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


def _header(text: str, id_names: tuple[str, ...]) -> tuple[str, ...] | None:
    cells = tuple(cell.strip(BLANKS).lower() for cell in text.split("\t"))
    return cells if cells[0] in id_names else None


def _check_header(
    header: tuple[str, ...], columns: tuple[str, ...] | None, line: int, problems: Problems
) -> None:
    for place, name in enumerate(header):
        if not name:
            message = f"column {place + 1} has no name."
        elif name in header[:place]:
            message = f"the column {quoted(name)} appears twice."
        elif place and columns is not None and name not in columns:
            message = f"the column {quoted(name)} is unknown; known are {', '.join(columns)}."
        else:
            continue
        raise problems.stop(line, Rule.HEADER, message)
