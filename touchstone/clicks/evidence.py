"""Impressions and clicks, counted for each query, document and rank."""

from dataclasses import dataclass, fields
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.errors import DomainError

Ints = NDArray[np.int64]
Key = tuple[Ints, Ints, Ints, Ints]  # application, query, document, rank

LARGEST_KEY: Final = 2**62
FEWEST_BUFFERED: Final = 1 << 20  # rows that wait, before they are added to the table
Sizes = tuple[int, int, int, int]  # each above the greatest application, query, document and rank


@dataclass(frozen=True)
class Evidence:
    """One row for each (application, query, document, rank), int64 (n,) each.

    application, query, document: codes, as the log's lists of names have them. rank: as logged.
    Ordered by these four. A row without impressions has clicks on what was not logged as shown.
    """

    application: Ints
    query: Ints
    document: Ints
    rank: Ints
    impressions: Ints
    clicks: Ints

    def __len__(self) -> int:
        return len(self.rank)

    @property
    def depth(self) -> int:
        """The greatest rank."""
        return int(self.rank.max(initial=0))

    @property
    def pair(self) -> Ints:
        """(n,), a number for each (query, document); never falling within an application."""
        return (self.query << 32) | self.document

    def select(self, keep: NDArray[np.bool_]) -> "Evidence":
        """The rows that a mask keeps."""
        if keep.all():
            return self
        return Evidence(*(getattr(self, field.name)[keep] for field in fields(self)))

    def rows_of(self, key: Key) -> Ints:
        """Where these, one entry each, stand in the table; all of them must."""
        columns = (self.application, self.query, self.document, self.rank)
        sizes = _sizes(columns)
        wanted = _packed(key, sizes)
        return np.searchsorted(_packed(columns, sizes), wanted).astype(np.int64)


@dataclass(frozen=True)
class _PackedRows:
    """Rows by one number that stands for their four keys, ascending. 16 bytes a row.

    Counts are of events, of which no log has as many as an int32 can count.
    """

    keys: Ints
    impressions: NDArray[np.int32]
    clicks: NDArray[np.int32]


class EvidenceBuilder:
    """Adds up evidence. What is added waits until there is half as much of it as in the table."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = _checked(sizes)
        self._parts: list[_PackedRows] = []
        self._waiting = 0
        self._rows = 0

    def add(self, key: Key, impressions: Ints, clicks: Ints) -> None:
        """Add counts, one entry each, of keys that may repeat."""
        part = _sums(_packed(key, self._sizes), impressions, clicks)
        self._parts.append(part)
        self._waiting += len(part.keys)
        if self._waiting > max(self._rows // 2, FEWEST_BUFFERED):
            self._add_up()

    def table(self) -> Evidence:
        """All that was added; to be called once."""
        self._add_up()
        return _unpacked(self._parts.pop(), self._sizes)

    def _add_up(self) -> None:
        keys, impressions, clicks = (
            np.concatenate([np.empty(0, form), *(getattr(part, name) for part in self._parts)])
            for name, form in (("keys", np.int64), ("impressions", np.int32), ("clicks", np.int32))
        )
        self._parts.clear()
        self._parts.append(_sums(keys, impressions, clicks))
        self._rows, self._waiting = len(self._parts[0].keys), 0


def counted(key: Key, impressions: Ints, clicks: Ints) -> Evidence:
    """Rows with the same key joined, in the keys' order."""
    sizes = _sizes(key)
    return _unpacked(_sums(_packed(key, sizes), impressions, clicks), sizes)


def _sums(keys: Ints, impressions: NDArray[Any], clicks: NDArray[Any]) -> _PackedRows:
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    if not len(starts):
        return _PackedRows(keys, np.empty(0, np.int32), np.empty(0, np.int32))
    return _PackedRows(
        keys[starts],
        np.add.reduceat(impressions[order], starts).astype(np.int32),
        np.add.reduceat(clicks[order], starts).astype(np.int32),
    )


def _unpacked(counts: _PackedRows, sizes: Sizes) -> Evidence:
    rest, rank = np.divmod(counts.keys, sizes[3])
    rest, document = np.divmod(rest, sizes[2])
    application, query = np.divmod(rest, sizes[1])
    impressions, clicks = counts.impressions.astype(np.int64), counts.clicks.astype(np.int64)
    return Evidence(application, query, document, rank, impressions, clicks)


def _sizes(columns: Key) -> Sizes:
    application, query, document, rank = (int(column.max(initial=0)) + 1 for column in columns)
    return _checked((application, query, document, rank))


def _checked(sizes: Sizes) -> Sizes:
    """Raises DomainError where one number for all four would take over 62 bits."""
    if prod(sizes) > LARGEST_KEY:
        raise DomainError("too_much", "More queries and documents than one table can hold.")
    return sizes


def _packed(columns: Key, sizes: Sizes) -> Ints:
    """One number for four; ordered as they are."""
    keys = columns[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        keys = keys * size + column
    return keys
