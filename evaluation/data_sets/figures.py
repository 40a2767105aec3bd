"""An evaluation's integers: packed per bucket, and by day and segment at its end."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evaluation.data_sets.plans import Columns
from judgments.storage.serialization import pack, unpack
from touchstone.bulk.counts import BETWEEN, BulkCounts, packed, unpacked
from touchstone.bulk.errors import BulkRefused
from touchstone.measures.exact import to_bytes

MOST: Final = 10_000  # days times segments: rows in the database
LONGEST_DAY: Final = 40
LONGEST_SEGMENT: Final = 200


@dataclass(frozen=True)
class Figures:
    """The sums of one day and segment, as `models.DataSetFigures`."""

    day: str
    segment: str
    rows: int
    queries: int
    sums: bytes


def pack_counts(counts: BulkCounts) -> bytes:
    """A bucket's counts."""
    return pack(packed(counts))


def unpack_counts(data: bytes) -> BulkCounts:
    """What `pack_counts` was given."""
    return unpacked(unpack(data))


def figures_of(columns: Columns, counts: BulkCounts) -> Sequence[Figures]:
    """The counts by day and segment.

    Raises BulkRefused where no row has a grade, and for days or segments that are ids rather.
    """
    if not counts.grades:
        raise BulkRefused(f"no row has a grade in column {columns.grade!r}")
    if len(counts.segments) > MOST:
        raise BulkRefused(
            f"{len(counts.segments):,} days and segments together; {MOST:,} are the most. "
            "Segments are for categories, not for ids"
        )
    result: dict[tuple[str, str], Figures] = {}
    for name, own in sorted(counts.segments.items()):
        parts = name.split(BETWEEN)
        day = parts.pop(0) if columns.day else ""
        segment = ", ".join(parts)
        if len(day) > LONGEST_DAY or len(segment) > LONGEST_SEGMENT:
            raise BulkRefused(f"the day {day!r} or the segment {segment!r} is too long a text")
        if (day, segment) in result:
            raise BulkRefused(f"two segments would both be called {segment!r}")
        result[day, segment] = Figures(day, segment, own.rows, own.queries, to_bytes(own.sums))
    return list(result.values())
