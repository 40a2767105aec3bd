"""Two rankings of the same queries: exact sums of the differences of each query that both have."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from touchstone.bulk.counts import BulkCounts, SegmentCounts, checked, shown
from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.kernel import QueryRows, query_values
from touchstone.bulk.plan import Plan
from touchstone.measures.engine import Values
from touchstone.measures.exact import exact_sums

# what the rows of the sums are, each of them once for every measure
PARTS: Final = ("difference", "left", "right", "left_all", "right_all")
Numbers = npt.NDArray[np.int64]


def common_plan(left: Plan, right: Plan) -> Plan:
    """The left plan with the measures that both compute. Raises BulkRefused if there are none."""
    known = set(right.measures)
    asked = tuple(one for one in left.asked if one.measure in known)
    if not asked:
        raise BulkRefused("the two data sets have no measure in common")
    return replace(left, asked=asked)


def compare_rows(plan: Plan, left: pa.Table, right: pa.Table) -> BulkCounts:
    """The exact sums of `PARTS` by segment, of left minus right, over the queries that are in both.

    left, right: as `evaluate_rows` takes them, all rows of the same queries. The sums have
    5 · n_measures rows: part by part. A difference counts where a measure counts on both sides;
    the last two parts are of all queries of a side. rows: of both; queries: those in both.
    Raises as `evaluate_rows`, and BulkRefused for a query that is in different segments.
    """
    sides = [_Side(plan, table) for table in (left, right)]
    own, other = (side.names for side in sides)
    places = pc.index_in(
        own, value_set=other.cast(own.type) if len(other) else pa.array([], own.type)
    )
    in_both = np.asarray(places.is_valid().to_numpy(zero_copy_only=False), bool)
    first = np.flatnonzero(in_both)
    second = places.drop_null().to_numpy(zero_copy_only=False).astype(np.int64)
    segments = sides[0].segments[first]
    differs = segments != sides[1].segments[second]
    if differs.any():
        place = int(differs.argmax())
        two = (shown(sides[0].segments[first[place]]), shown(sides[1].segments[second[place]]))
        name = shown(own[int(first[place])].as_py())
        raise BulkRefused(
            f"query {name!r} is in segment {two[0]!r} of one data set and {two[1]!r} of the other"
        )
    pairs = [sides[0].values[first], sides[1].values[second]]
    both = sides[0].counted[first] & sides[1].counted[second]
    difference = np.where(both, pairs[0] - pairs[1], 0.0)
    result = {}
    for segment in sorted({*sides[0].segments.tolist(), *sides[1].segments.tolist()}):
        here = segments == segment
        alone = [side.segments == segment for side in sides]
        parts = [
            exact_sums(difference[here], both[here]),
            *(exact_sums(values[here], both[here]) for values in pairs),
            *(
                exact_sums(side.values[mine], side.counted[mine])
                for side, mine in zip(sides, alone, strict=True)
            ),
        ]
        n_rows = sum(int(side.rows[mine].sum()) for side, mine in zip(sides, alone, strict=True))
        result[segment] = SegmentCounts(n_rows, int(here.sum()), np.concatenate(parts))
    return checked(BulkCounts(result, sides[0].grades | sides[1].grades))


class _Side:
    """One data set's queries of a bucket: names, segments, values, and rows of rankings."""

    names: Any
    values: npt.NDArray[np.float64]
    counted: npt.NDArray[np.bool_]
    segments: npt.NDArray[np.object_]
    rows: Numbers
    grades: frozenset[float]

    def __init__(self, plan: Plan, table: pa.Table) -> None:
        rows = QueryRows.of(table)
        self.names = rows.names
        shape = (len(rows.names), len(plan.asked))
        result = Values(np.zeros(shape), np.zeros(shape, bool))
        segments: Sequence[str] = []
        self.rows, self.grades = np.zeros(0, np.int64), frozenset()
        if len(rows.names):
            result, segments = query_values(plan, rows)
            of_rankings = None if rows.is_judgment is None else ~rows.is_judgment
            self.rows = rows.counted(of_rankings)
            known = pc.unique(rows.column("grade")).drop_null()
            self.grades = frozenset(known.cast(pa.float64()).to_pylist())
        self.values, self.counted = result.values, result.counted
        self.segments = np.array(segments, object)
