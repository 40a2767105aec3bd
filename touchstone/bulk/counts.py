"""What an evaluation comes to: integers per segment, which add up in any order to the same ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final, Self

import numpy as np

from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.plan import Plan
from touchstone.measures.exact import (
    COLUMNS,
    FRACTION_BITS,
    IntArray,
    add,
    as_integers,
    from_bytes,
    means,
    standard_errors,
    to_bytes,
)
from touchstone.measures.grades import MOST_GRADES
from touchstone.measures.rounding import rounded_mean

BETWEEN: Final = "\x1f"  # the parts of a query or segment that several columns make up
MOST_SEGMENTS: Final = 100_000
NAMELESS: Final = ""  # the segment of queries whose column is null, and of all where none is asked


@dataclass(frozen=True, eq=False)
class SegmentCounts:
    """rows of rankings, queries, and exact sums (n_measures, 6) as `touchstone.measures.exact`."""

    rows: int
    queries: int
    sums: IntArray

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SegmentCounts):
            return NotImplemented
        alike = (self.rows, self.queries) == (other.rows, other.queries)
        return alike and np.array_equal(self.sums, other.sums)

    __hash__ = None  # type: ignore[assignment]

    def merged(self, other: Self) -> "SegmentCounts":
        """Those of both."""
        return SegmentCounts(
            self.rows + other.rows, self.queries + other.queries, add(self.sums, other.sums)
        )


@dataclass(frozen=True)
class BulkCounts:
    """An evaluation of some whole queries. grades: the different values that judged them."""

    segments: Mapping[str, SegmentCounts] = field(default_factory=dict)
    grades: frozenset[float] = frozenset()

    def merged(self, other: "BulkCounts") -> "BulkCounts":
        """Those of both, which have no query in common: associative, and in any order the same.

        Raises BulkRefused for more segments, or more different grades, than there may be.
        """
        segments = dict(self.segments)
        for name, own in other.segments.items():
            segments[name] = segments[name].merged(own) if name in segments else own
        return checked(BulkCounts(segments, self.grades | other.grades))

    @classmethod
    def merge(cls, parts: Iterable["BulkCounts"]) -> "BulkCounts":
        """Those of all parts; none: nothing."""
        return reduce(cls.merged, parts, cls())


def checked(counts: BulkCounts) -> BulkCounts:
    """The counts. Raises BulkRefused for too many segments or grades."""
    if len(counts.segments) > MOST_SEGMENTS:
        raise BulkRefused(
            f"more than {MOST_SEGMENTS:,} segments: --by is for categories, not for ids"
        )
    if len(counts.grades) > MOST_GRADES:
        raise BulkRefused(
            f"more than {MOST_GRADES} different grades; if the column is a raw signal, map "
            "its values to grades with --signals, as in '>=60=3, >=10=1, >=0=0'"
        )
    return counts


def packed(counts: BulkCounts) -> list[dict[str, Any]]:
    """One row a segment, of integers and bytes, for engines that carry tables.

    Sums stay bytes: those of squares have more digits than any numeric column holds.
    """
    grades = np.array(sorted(counts.grades), "<f8").tobytes()
    return [
        {
            "segment": name,
            "rows": own.rows,
            "queries": own.queries,
            "sums": to_bytes(own.sums),
            "grades": grades,
        }
        for name, own in counts.segments.items()
    ]


def unpacked(rows: Iterable[Mapping[str, Any]]) -> BulkCounts:
    """The counts that `packed` made rows of, from any number of parts."""
    return BulkCounts.merge(
        BulkCounts(
            {row["segment"]: SegmentCounts(row["rows"], row["queries"], from_bytes(row["sums"]))},
            frozenset(np.frombuffer(row["grades"], "<f8").tolist()),
        )
        for row in rows
    )


def report(plan: Plan, counts: BulkCounts) -> dict[str, Any]:
    """The one object that `touchstone bulk --json` prints.

    Raises BulkRefused where no row has a grade: then no measure is of anything.
    """
    if not counts.grades:
        raise BulkRefused(f"no row has a grade in column {plan.grade!r}")
    nothing = SegmentCounts(0, 0, np.zeros((len(plan.asked), len(COLUMNS)), np.int64))
    whole = reduce(SegmentCounts.merged, counts.segments.values(), nothing)
    segments = sorted(counts.segments.items()) if plan.by else []
    names = [shown(name) for name, _ in segments]
    if len(set(names)) < len(names):  # of parts that have commas themselves
        names = [name for name, _ in segments]
    rows = (_reported(plan, own) for _, own in segments)
    return {**_reported(plan, whole), "segments": dict(zip(names, rows, strict=True))}


def shown(text: object) -> str:
    """A query or segment for people, the parts of one that several columns make up by commas."""
    return str(text).replace(BETWEEN, ", ")


def _reported(plan: Plan, own: SegmentCounts) -> dict[str, Any]:
    sums = _integers(own.sums)
    rows = zip(plan.asked, means(own.sums), standard_errors(own.sums), sums, strict=True)
    return {
        "rows": own.rows,
        "queries": own.queries,
        "measures": {
            asked.name: {
                "mean": rounded_mean(asked.measure, mean),
                "se": error,
                "sum": str(total),
                "scale": FRACTION_BITS,
            }
            for asked, mean, error, total in rows
        },
    }


def _integers(sums: IntArray) -> Sequence[int]:
    return [as_integers(row)[1] for row in sums.tolist()]
