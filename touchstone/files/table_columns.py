"""Which column of a table holds which part of a query or a document, by the columns' names."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from touchstone.files.errors import quoted

DELIMITERS: Final = (",", ";", "|")
LEFT_OUT: Final = ""  # the part of a column that is not read
_APART: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class Parts:
    """names: of each part, what its column may be called, the likeliest first; the id first of all.

    keeps_others: whether a column that is no part is kept under its own name. tsv_ids: with which
    of the id's names a header of TSV begins.
    """

    names: Mapping[str, tuple[str, ...]]
    keeps_others: bool
    tsv_ids: tuple[str, ...]

    @property
    def id(self) -> str:
        return next(iter(self.names))


QUERY_PARTS: Final = Parts(
    {
        "query_id": ("query_id", "id", "qid", "topic_id", "topic", "number"),
        "text": ("text", "query", "query_text", "search_term", "keywords", "title"),
        "description": ("description", "information_need", "narrative"),
        "segment": ("segment", "category"),
        "weight": ("weight", "frequency", "searches", "count"),
    },
    keeps_others=False,
    tsv_ids=("query_id", "_id", "id"),
)
DOCUMENT_PARTS: Final = Parts(
    {
        "doc_id": ("doc_id", "id", "docid", "docno", "document_id", "product_id", "sku", "asin"),
        "title": ("title", "name", "product_title", "product_name"),
        "text": ("text", "body", "content", "description", "product_description"),
        "url": ("url", "link"),
    },
    keeps_others=True,
    tsv_ids=("doc_id", "_id", "id"),
)


def plain_name(name: str) -> str:
    """A column's name as names are compared: “Product ID” is product_id."""
    return _APART.sub("_", name.casefold()).strip("_")


def guess_parts(columns: Sequence[str], parts: Parts) -> dict[str, str]:
    """The part that each column is taken for; LEFT_OUT, or its own name where others are kept.

    A part is one column's: that of its likeliest name.
    """
    result: dict[str, str] = {}
    for part, names in parts.names.items():
        plain = {plain_name(column): column for column in reversed(columns) if column not in result}
        column = next((plain[name] for name in names if name in plain), None)
        if column is not None:
            result[column] = part
    return {
        column: result.get(column, column if parts.keeps_others else LEFT_OUT) for column in columns
    }


def find_delimiter(line: str, parts: Parts, columns: Mapping[str, str]) -> str | None:
    """What separates the cells of a CSV file's header; None for a line that is no such header.

    columns: what a person said of them, by name.
    """
    best: tuple[int, str] | None = None
    for delimiter in DELIMITERS:
        cells = header_cells(line, delimiter)
        ids = set(parts.names[parts.id]) & {plain_name(cell) for cell in cells}
        is_header = len(cells) > 1 and (ids or not columns.keys().isdisjoint(cells))
        if is_header and (best is None or len(cells) > best[0]):
            best = len(cells), delimiter
    return best and best[1]


def header_cells(line: str, delimiter: str) -> list[str]:
    """The cells of a line, without the blanks around them; none where its quotes do not end."""
    if delimiter == "\t":
        return [cell.strip() for cell in line.split("\t")]
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, strict=True))]
    except (csv.Error, StopIteration):
        return []


def check_parts(columns: Sequence[str], chosen: Mapping[str, str], parts: Parts) -> str | None:
    """What is wrong with a header and with what a person said of its columns; None if nothing is.

    chosen: the part of each column that they said; of the others, what `guess_parts` says holds.
    """
    return next(_wrong_parts(columns, chosen, parts), None)


def _wrong_parts(columns: Sequence[str], chosen: Mapping[str, str], parts: Parts) -> Iterator[str]:
    has = f"the file has {', '.join(columns)}."
    used = [part for part in chosen.values() if part != LEFT_OUT]
    if "" in columns:
        yield f"column {list(columns).index('') + 1} has no name."
    yield from (f"the column {quoted(name)} appears twice." for name in _repeated(columns))
    yield from (f"no column {quoted(name)}; {has}" for name in chosen if name not in columns)
    yield from (f"two columns are the {quoted(part)}." for part in _repeated(used))
    if not parts.keeps_others:
        unknown = (part for part in used if part not in parts.names)
        known = ", ".join(parts.names)
        yield from (f"{quoted(part)} is no part of a query; parts are {known}." for part in unknown)
    if parts.id not in all_parts(columns, chosen, parts).values():
        yield f"no column is the {parts.id}; {has}"


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for position, name in enumerate(names) if name in names[:position]]


def all_parts(columns: Sequence[str], chosen: Mapping[str, str], parts: Parts) -> dict[str, str]:
    """The part of each column: as a person said, else as guessed, without taking a part twice."""
    guessed = guess_parts([column for column in columns if column not in chosen], parts)
    taken = set(chosen.values())
    rest = {
        column: part if part not in taken else (column if parts.keeps_others else LEFT_OUT)
        for column, part in guessed.items()
    }
    return {column: chosen.get(column, rest.get(column, LEFT_OUT)) for column in columns}
