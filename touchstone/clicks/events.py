"""Impressions and clicks as rows of integers, and where they wait until a log has been read."""

from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO, Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

# The columns of an event. IS_CLICK: 0 or 1. QUERY: −1 without a text. QUERY_ID, IDENTITY: hashes,
# 0 where there is none; TIME: milliseconds, only where a text must be looked up.
IS_CLICK, APPLICATION, QUERY, DOCUMENT, RANK, QUERY_ID, IDENTITY, TIME = range(8)
WIDTH: Final = 8

BUCKETS: Final = 256
# 39 bytes an event
COLUMNS: Final = {
    "query_id": (QUERY_ID, "<i8"),
    "identity": (IDENTITY, "<i8"),
    "time": (TIME, "<i8"),
    "application": (APPLICATION, "<i4"),
    "query": (QUERY, "<i4"),
    "document": (DOCUMENT, "<i4"),
    "rank": (RANK, "<i2"),
    "is_click": (IS_CLICK, "i1"),
}
ROW: Final = np.dtype([(name, form) for name, (_, form) in COLUMNS.items()])


class EventStore(Protocol):
    """Where events wait."""

    def append(self, events: Ints, /) -> None:
        """Take some, int64 (n, 8)."""

    def __iter__(self) -> Iterator[Ints]:
        """All of them in parts, each in the order in which they came.

        Events with the same query id are in one part, and so are those with the same identity.
        """


class MemoryEvents:
    """Events in memory, 64 bytes each: one part, the whole log in its order."""

    def __init__(self) -> None:
        self._parts = [np.empty((0, WIDTH), np.int64)]

    def append(self, events: Ints) -> None:
        """Take events, int64 (n, 8)."""
        self._parts.append(events)

    def __iter__(self) -> Iterator[Ints]:
        """All events."""
        self._parts = [np.concatenate(self._parts)]
        yield from self._parts


class EventBuckets:
    """Events in temporary files, 39 bytes each, by a hash of their query id.

    So a result page is in one of them, and so is an event with those that repeat it. To be used as
    a context manager. The files have no name, so nothing of them stays if the process is killed.
    """

    def __init__(self) -> None:
        self._files: list[IO[bytes]] = [
            TemporaryFile()  # noqa: SIM115  (closed by __exit__)
            for _ in range(BUCKETS)
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()

    def append(self, events: Ints) -> None:
        """Take events, int64 (n, 8)."""
        rows = np.empty(len(events), ROW)
        for name, (column, _) in COLUMNS.items():
            rows[name] = events[:, column]
        query_id, identity = events[:, QUERY_ID], events[:, IDENTITY]
        bucket = np.where(query_id, query_id, identity) % BUCKETS
        rows = rows[np.argsort(bucket, kind="stable")]
        ends = np.cumsum(np.bincount(bucket, minlength=BUCKETS))
        for file, part in zip(self._files, np.split(rows, ends[:-1]), strict=True):
            file.write(part.tobytes())

    def __iter__(self) -> Iterator[Ints]:
        """The events of each file."""
        for file in self._files:
            file.seek(0)
            rows = np.frombuffer(file.read(), ROW)
            events = np.empty((len(rows), WIDTH), np.int64)
            for name, (column, _) in COLUMNS.items():
                events[:, column] = rows[name]
            yield events
