"""A few queries with low values, of a sample: the queries of one bucket.

Queries get into buckets by a hash of their names, so those of one bucket are a sample of all. Of
them the lowest of the newest day are stored, with their first documents; never more of the data.
"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from evaluation.data_sets.plans import Columns
from touchstone.bulk.counts import BETWEEN

if TYPE_CHECKING:
    import pyarrow as pa

BUCKET: Final = 0
MOST: Final = 20  # queries of each measure
LONGEST: Final = 200  # characters of an id


def find_lowest(columns: Columns, table: "pa.Table") -> list[dict[str, Any]]:
    """The lowest queries of each measure, as JSON.

    table: the rows of a bucket, with the kernel's columns.
    """
    from touchstone.bulk.lowest import lowest_queries  # noqa: PLC0415  (an extra)

    plan, prefix = columns.plan, ""
    if columns.day and table.num_rows:
        days = {one.split(BETWEEN)[0] for one in set(table.column("segment").to_pylist()) if one}
        prefix = max(days, default="")
        prefix += BETWEEN if columns.segments else ""
    return [
        {
            "measure": one.measure,
            "queries": one.queries,
            "lowest": [
                asdict(low)
                | {"query": low.query[:LONGEST]}
                | {"documents": [[own.doc_id[:LONGEST], own.grade] for own in low.documents]}
                for low in one.lowest
            ],
        }
        for one in lowest_queries(plan, table, most=MOST, prefix=prefix)
    ]
