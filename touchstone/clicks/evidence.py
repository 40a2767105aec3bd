"""Impressions and clicks, counted for each query, document and rank."""

from dataclasses import dataclass, fields
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.errors import DomainError

Ints = NDArray[np.int64]
Key = tuple[Ints, Ints, Ints, Ints]  # application, query, document, rank

LARGEST_KEY: Final = 2**62
FEWEST_BUFFERED: Final = 1 << 20  # rows that wait, before they are added to the table


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
        return Evidence(*(getattr(self, field.name)[keep] for field in fields(self)))

    def rows_of(self, key: Key) -> Ints:
        """Where these, one entry each, stand in the table; all of them must."""
        columns = (self.application, self.query, self.document, self.rank)
        sizes = _sizes(columns)
        wanted = _packed(key, sizes)
        return np.searchsorted(_packed(columns, sizes), wanted).astype(np.int64)


def of_events(key: Key, is_click: NDArray[np.bool_]) -> Evidence:
    """Events, counted. key: the application, query, document and rank of each, (n,)."""
    clicks = is_click.astype(np.int64)
    return counted(key, 1 - clicks, clicks)


class EvidenceBuilder:
    """Adds up evidence. What is added waits until there is as much of it as in the table."""

    def __init__(self) -> None:
        self._parts: list[Evidence] = []
        self._waiting = 0
        self._rows = 0

    def add(self, part: Evidence) -> None:
        self._parts.append(part)
        self._waiting += len(part)
        if self._waiting > max(self._rows, FEWEST_BUFFERED):
            self.table()

    def table(self) -> Evidence:
        """All that was added so far."""
        if len(self._parts) != 1:
            none = np.empty(0, dtype=np.int64)
            application, query, document, rank, impressions, clicks = (
                np.concatenate([none, *(getattr(part, field.name) for part in self._parts)])
                for field in fields(Evidence)
            )
            self._parts = [counted((application, query, document, rank), impressions, clicks)]
        self._rows, self._waiting = len(self._parts[0]), 0
        return self._parts[0]


def counted(key: Key, impressions: Ints, clicks: Ints) -> Evidence:
    """Rows with the same key joined, in the keys' order."""
    keys = _packed(key, _sizes(key))
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    if not len(starts):
        return Evidence(*key, impressions, clicks)
    application, query, document, rank = (column[order[starts]] for column in key)
    return Evidence(
        application,
        query,
        document,
        rank,
        np.add.reduceat(impressions[order], starts),
        np.add.reduceat(clicks[order], starts),
    )


def _sizes(columns: Key) -> list[int]:
    return [int(column.max(initial=0)) + 1 for column in columns]


def _packed(columns: Key, sizes: list[int]) -> Ints:
    """One number for four; ordered as they are. Raises DomainError where it takes over 62 bits."""
    if prod(sizes) > LARGEST_KEY:
        raise DomainError("too_much", "More queries and documents than one table can hold.")
    keys = columns[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        keys = keys * size + column
    return keys
