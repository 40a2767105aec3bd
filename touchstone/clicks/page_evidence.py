"""Result pages of a log that does not fit into memory, counted for each pair and position."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.evidence import Evidence, EvidenceBuilder
from touchstone.clicks.log import (
    APPLICATION,
    DOCUMENT,
    IS_CLICK,
    QUERY,
    QUERY_ID,
    RANK,
    WIDTH,
)
from touchstone.clicks.sessions import FEWEST_RESULTS, MOST_RESULTS, pages

Ints = NDArray[np.int64]

BUCKETS: Final = 256
# what result pages are made of: 23 bytes an event
COLUMNS: Final = {
    "query_id": (QUERY_ID, "<i8"),
    "application": (APPLICATION, "<i4"),
    "query": (QUERY, "<i4"),
    "document": (DOCUMENT, "<i4"),
    "rank": (RANK, "<i2"),
    "is_click": (IS_CLICK, "i1"),
}
ROW: Final = np.dtype([(name, form) for name, (_, form) in COLUMNS.items()])


class EventBuckets:
    """Events in files by a hash of their query id: each result page is in one of them.

    folder: of the files, which stay until its creator removes it.
    """

    def __init__(self, folder: Path) -> None:
        self._files: list[IO[bytes]] = [
            (folder / f"{number}").open("w+b") for number in range(BUCKETS)
        ]

    def append(self, events: Ints) -> None:
        """Take events, int64 (n, 8), as a log has them; those without a query id are left out."""
        events = events[events[:, QUERY_ID] != 0]
        rows = np.empty(len(events), ROW)
        for name, (column, _) in COLUMNS.items():
            rows[name] = events[:, column]
        bucket = events[:, QUERY_ID] % BUCKETS
        rows = rows[np.argsort(bucket, kind="stable")]
        ends = np.cumsum(np.bincount(bucket, minlength=BUCKETS))
        for file, part in zip(self._files, np.split(rows, ends[:-1]), strict=True):
            file.write(part.tobytes())

    def __iter__(self) -> Iterator[Ints]:
        """The events of each bucket, in the order in which they came."""
        for file in self._files:
            file.seek(0)
            rows = np.frombuffer(file.read(), ROW)
            events = np.zeros((len(rows), WIDTH), np.int64)
            for name, (column, _) in COLUMNS.items():
                events[:, column] = rows[name]
            yield events

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()


@dataclass(frozen=True)
class PageCounts:
    """An application's result pages. rank_base: the rank of a first result.

    dropped: how many were left out, by the reason.
    """

    pages: int
    rank_base: int
    dropped: Mapping[str, int]


def count_pages(
    events: Iterable[Ints],
    bases: Mapping[int, int],
    *,
    fewest: int = FEWEST_RESULTS,
    most: int = MOST_RESULTS,
) -> tuple[Evidence, dict[int, PageCounts]]:
    """What `find_sessions` would find of each application, as `Sessions.evidence` counts it.

    events: parts of a log, each with whole pages. bases: the rank of a first result, by the
    application's code; others have no pages.
    """
    builder = EvidenceBuilder()
    numbers: Counter[int] = Counter()
    dropped: dict[int, Counter[str]] = {code: Counter() for code in bases}
    for part in events:
        for code, base in bases.items():
            own = part[part[:, APPLICATION] == code]
            sessions, left_out = pages(own, base, fewest=fewest, most=most)
            counted = sessions.evidence
            builder.add(replace(counted, application=np.full(len(counted), code, np.int64)))
            numbers[code] += len(sessions)
            dropped[code].update(left_out)
    found = {
        code: PageCounts(numbers[code], base, dict(dropped[code])) for code, base in bases.items()
    }
    return builder.table(), found
