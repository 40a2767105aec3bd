"""What a file of queries or documents would be read as, told from its first bytes."""

import csv
import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from touchstone.files.collections import NO_COLUMNS
from touchstone.files.errors import FileRefused, Problems
from touchstone.files.json_lines import JsonRefusedError, json_object
from touchstone.files.reading import DOCUMENT_LIMITS, read_lines
from touchstone.files.rows import table_delimiter, tsv_header
from touchstone.files.table_columns import Parts, all_parts, check_parts, header_cells

HEAD: Final = 65_536  # bytes that are looked at
EXAMPLES: Final = 3  # rows
SEPARATORS: Final = {",": "commas", ";": "semicolons", "|": "vertical bars", "\t": "tabs"}


@dataclass(frozen=True)
class ColumnShown:
    """A column, what it is read as ("" if ignored), and its first values."""

    name: str
    part: str
    examples: tuple[str, ...]


@dataclass(frozen=True)
class FilePreview:
    """form: "csv", "tsv" or "jsonl". separator: of the cells, in words. problem: why it can't be
    read like that. has_header: whether columns have names, so that one can say what they are."""

    form: str
    separator: str = ""
    has_header: bool = False
    columns: tuple[ColumnShown, ...] = ()
    problem: str = ""


def preview_file(
    head: bytes, parts: Parts, *, name: str, columns: Mapping[str, str] = NO_COLUMNS
) -> FilePreview:
    """What the file would be read as. head: its first HEAD bytes; they may be gzipped.

    columns: as for `read_queries`.
    """
    try:
        lines = _lines(head, name)
    except FileRefused as refused:
        return FilePreview("", problem=refused.problems[0].message)
    if not lines:
        return FilePreview("", problem="there is no text at the beginning of the file.")
    return _of_lines(lines, parts, columns)


def _of_lines(lines: Sequence[str], parts: Parts, columns: Mapping[str, str]) -> FilePreview:
    first = lines[0]
    if first.lstrip().startswith("{"):
        return _of_json(first)
    delimiter = table_delimiter(first, parts, columns)
    if delimiter is not None:
        return _of_table(lines, delimiter, parts, columns)
    if tsv_header(first, parts.tsv_ids) is not None:
        return _of_table(lines, "\t", parts, columns)
    if "\t" not in first:
        wanted = f"a header with a column {parts.id}, or a tab between id and text."
        return FilePreview("", problem=f"the first line is neither CSV nor TSV: it needs {wanted}")
    positions = ("1", "2")
    named = dict(zip(positions, (parts.id, "text"), strict=True))
    return FilePreview("tsv", "tabs", False, _shown(positions, lines, "\t", named))


def _of_json(line: str) -> FilePreview:
    try:
        values = json_object(line)
    except JsonRefusedError as refused:
        return FilePreview("jsonl", problem=refused.message)
    columns = (ColumnShown(key, key, (str(value),)) for key, value in values.items())
    return FilePreview("jsonl", columns=tuple(columns))


def _of_table(
    lines: Sequence[str], delimiter: str, parts: Parts, columns: Mapping[str, str]
) -> FilePreview:
    header = header_cells(lines[0], delimiter)
    form = "tsv" if delimiter == "\t" else "csv"
    named = all_parts(header, columns, parts)
    return FilePreview(
        form,
        SEPARATORS[delimiter],
        True,
        _shown(header, lines[1:], delimiter, named),
        check_parts(header, columns, parts) or "",
    )


def _shown(
    header: Sequence[str], lines: Sequence[str], delimiter: str, named: Mapping[str, str]
) -> tuple[ColumnShown, ...]:
    if delimiter == "\t":  # no quoting
        rows = [line.split("\t") for line in lines[:EXAMPLES]]
    else:
        reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
        rows = list(islice(reader, EXAMPLES))
    return tuple(
        ColumnShown(
            column, named[column], tuple(row[position] for row in rows if position < len(row))
        )
        for position, column in enumerate(header)
    )


def _lines(head: bytes, name: str) -> list[str]:
    """The lines with content of the beginning, inflated; not the last one, which may be cut off."""
    if head.startswith(b"\x1f\x8b"):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, HEAD)
        except zlib.error:
            head = b""
    if len(head) >= HEAD and b"\n" in head:
        head = head[: head.rindex(b"\n") + 1]
    lines = read_lines(io.BytesIO(head), limits=DOCUMENT_LIMITS, problems=Problems(name))
    return [line for _, line in lines if line.strip()]
