"""The queries with the lowest values, and their documents."""

import numpy as np
import pyarrow as pa

from tests.touchstone.bulk.builders import means, plan, table
from tests.touchstone.bulk.generator import interactions
from touchstone.bulk.columns import normalised
from touchstone.bulk.low_queries import LowDocument
from touchstone.bulk.lowest import lowest_queries
from touchstone.bulk.spill import table_of

ROWS = (
    ("good", "d1", 2.0, 1, "DE"),
    ("good", "d2", 1.0, 0, "DE"),
    ("bad", "d1", 1.0, 1, "FR"),
    ("bad", "d2", 2.0, 0, "FR"),
    ("bad", "d3", None, 1, "FR"),
    ("tied", "d9", 1.0, None, "DE"),
    ("tied", "d10", 1.0, 1, "DE"),
    ("unjudged", "d1", 1.0, None, "DE"),
)
ASKED = plan("P(rel=1)@1 RR", by="country")


def kernel_rows(rows: pa.Table, asked=ASKED) -> pa.Table:
    batches = rows.combine_chunks().to_batches()
    return table_of(normalised(one, asked, where="rows", judgments=None) for one in batches)


def test_the_lowest_come_first_with_their_documents_in_rank_order() -> None:
    precision, rank = lowest_queries(ASKED, kernel_rows(table(ROWS, "country")), most=2)
    assert (precision.measure, precision.queries) == ("P(rel=1)@1", 3)
    assert [(one.query, one.value) for one in precision.lowest] == [("bad", 0.0), ("tied", 0.0)]
    bad, tied = precision.lowest
    assert (bad.segment, bad.ranked) == ("FR", 2)
    assert bad.documents == (LowDocument("d2", 0.0), LowDocument("d1", 1.0))
    assert tied.documents == (LowDocument("d9", None), LowDocument("d10", 1.0))
    assert [one.value for one in rank.lowest] == [0.5, 0.5]


def test_only_queries_of_a_segment_are_looked_at() -> None:
    found = lowest_queries(ASKED, kernel_rows(table(ROWS, "country")), most=9, prefix="D")
    assert [one.query for one in found[0].lowest] == ["tied", "good"]


def test_no_rows_have_no_lowest() -> None:
    found = lowest_queries(ASKED, kernel_rows(table(ROWS, "country").slice(0, 0)), most=9)
    assert [(one.queries, one.lowest) for one in found] == [(0, ()), (0, ())]


def test_they_are_the_values_whose_mean_is_evaluated() -> None:
    asked = plan("nDCG@5", query="user", document="item", by="country")
    rows = pa.concat_tables(interactions(4_000, seed=3))
    (found,) = lowest_queries(asked, kernel_rows(rows, asked), most=10_000)
    values = [one.value for one in found.lowest]
    assert values == sorted(values)
    assert len(values) == found.queries
    assert np.isclose(np.mean(values), means(rows, asked)["nDCG@5"] or 0.0)
