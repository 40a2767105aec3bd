"""Small data sets, and what is asked of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from touchstone.bulk.columns import normalised
from touchstone.bulk.counts import BulkCounts, report
from touchstone.bulk.kernel import evaluate_rows
from touchstone.bulk.plan import Plan
from touchstone.bulk.spill import table_of

ROOT = Path(__file__).resolve().parents[3]
MEASURES = "nDCG@5 nDCG(gain='exp2')@10 AP(rel=2) RR@10 Judged@5"
Row = tuple[object, ...]


def plan(measures: str = MEASURES, **more: Any) -> Plan:
    """Columns are called what they are."""
    names = {"query": "query", "document": "document", "score": "score", "grade": "grade"}
    return Plan.of(**{**names, **more}, measures=measures)


def table(rows: Sequence[Row], *more: str) -> pa.Table:
    """Rows of (query, document, score, grade, …)."""
    names = ("query", "document", "score", "grade", *more)
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})


def counts(rows: pa.Table | Sequence[Row], asked: Plan) -> BulkCounts:
    """What the kernel says of them."""
    if not isinstance(rows, pa.Table):
        rows = table(rows, *asked.by)
    batches = rows.combine_chunks().to_batches()
    return evaluate_rows(
        asked, table_of(normalised(one, asked, where="rows", judgments=None) for one in batches)
    )


def means(rows: pa.Table | Sequence[Row], asked: Plan) -> Mapping[str, float | None]:
    """Each measure's mean."""
    found = report(asked, counts(rows, asked))["measures"]
    return {name: own["mean"] for name, own in found.items()}


def written(rows: pa.Table, path: Path, **options: Any) -> str:
    """The rows as one Parquet file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path, **options)
    return str(path)
