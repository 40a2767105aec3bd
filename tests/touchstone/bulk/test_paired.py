"""Paired differences of two data sets, beside a plain reading of their values."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from tests.touchstone.bulk.builders import plan, table
from touchstone.bulk.columns import normalised
from touchstone.bulk.counts import BulkCounts
from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.kernel import QueryRows, query_values
from touchstone.bulk.paired import PARTS, common_plan, compare_rows
from touchstone.bulk.spill import table_of
from touchstone.measures.exact import FRACTION_BITS, as_integers, exact_sums

ASKED = plan("nDCG@3 RR AP(rel=2)", by="country")


def rows_of(rows, *, asked=ASKED) -> pa.Table:
    batches = table(rows, "country").to_batches()
    return table_of(normalised(one, asked, where="rows", judgments=None) for one in batches)


def made(seed: int, users: range) -> list[tuple[object, ...]]:
    rng = np.random.default_rng(seed)
    return [
        (user, f"d{item}", float(rng.random()), int(rng.integers(0, 4)), "DE" if user % 3 else "FR")
        for user in users
        for item in range(int(rng.integers(2, 7)))
    ]


def values_of(rows) -> dict[int, tuple[str, list[float | None]]]:
    own = QueryRows.of(rows_of(rows))
    values, segments = query_values(ASKED, own)
    return {
        name: (
            segment,
            [
                float(v) if counts else None
                for v, counts in zip(values.values[n], values.counted[n], strict=True)
            ],
        )
        for n, (name, segment) in enumerate(zip(own.names.to_pylist(), segments, strict=True))
    }


def test_differences_are_those_of_each_common_query() -> None:
    left, right = made(1, range(60)), made(2, range(20, 90))
    found = compare_rows(ASKED, rows_of(left), rows_of(right))
    own, other = values_of(left), values_of(right)
    common = sorted(own.keys() & other.keys())
    assert sum(one.queries for one in found.segments.values()) == len(common) == 40
    assert sum(one.rows for one in found.segments.values()) == len(left) + len(right)
    for segment, counts in found.segments.items():
        here = [q for q in common if own[q][0] == segment]
        assert counts.queries == len(here)
        parts = counts.sums.reshape(len(PARTS), 3, -1)
        for measure in range(3):
            both = [
                (a, b)
                for q in here
                if (a := own[q][1][measure]) is not None and (b := other[q][1][measure]) is not None
            ]
            n, total, squares = as_integers(parts[0, measure].tolist())
            whole = [round((a - b) * 2**FRACTION_BITS) for a, b in both]
            assert (n, total) == (len(both), sum(whole))
            assert squares == sum(one * one for one in whole)
            for part, place in ((1, 0), (2, 1)):
                values = np.array([[pair[place]] for pair in both]).reshape(-1, 1)
                expected = exact_sums(values, np.ones(values.shape, bool))
                assert parts[part, measure].tolist() == expected[0].tolist()
            for part, side in ((3, own), (4, other)):
                counted = [
                    one[1][measure]
                    for one in side.values()
                    if one[0] == segment and one[1][measure] is not None
                ]
                assert parts[part, measure, 0] == len(counted)


def test_buckets_add_up_to_the_whole_in_any_order() -> None:
    left, right = made(3, range(50)), made(4, range(50))
    whole = compare_rows(ASKED, rows_of(left), rows_of(right))
    ends = [0, 7, 20, 50]
    parts = [
        compare_rows(
            ASKED,
            rows_of([row for row in left if start <= row[0] < stop]),
            rows_of([row for row in right if start <= row[0] < stop]),
        )
        for start, stop in pairwise(ends)
    ]
    assert BulkCounts.merge(parts) == BulkCounts.merge(reversed(parts)) == whole


def test_a_data_set_without_rows_has_no_common_query() -> None:
    left = rows_of(made(5, range(9)))
    for pair in ((left, table_of([])), (table_of([]), left), (table_of([]), table_of([]))):
        found = compare_rows(ASKED, *pair)
        assert sum(one.queries for one in found.segments.values()) == 0


def test_a_query_in_two_segments_is_named() -> None:
    left, right = [(1, "d", 1.0, 1, "DE")], [(1, "d", 1.0, 1, "FR")]
    with pytest.raises(BulkRefused, match="query '1' is in segment 'DE' of one data set and 'FR'"):
        compare_rows(ASKED, rows_of(left), rows_of(right))


def test_measures_that_both_have() -> None:
    found = common_plan(plan("nDCG@3 P(rel=1)@1 RR"), plan("RR P@1"))
    assert [one.name for one in found.asked] == ["P(rel=1)@1", "RR"]
    with pytest.raises(BulkRefused, match="no measure in common"):
        common_plan(plan("RR"), plan("RR@3"))
