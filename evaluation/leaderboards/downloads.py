"""The files that a leaderboard's page offers: those of the command, and Parquet where it can be."""

import io
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import Final

from evaluation.leaderboards.files import FORMATS, BoardFormat, BoardTable

COLUMNS: Final = ("ranker", "run", "measure", "mean", "low", "high", "n")


def as_parquet(table: BoardTable) -> bytes:
    """A row for each run and measure, every digit; the title is kept beside the schema."""
    # the extra `parquet`, which not every server has
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    rows = [
        (row.ranker, row.run, column, value.mean, value.low, value.high, value.n)
        for row in table.rows
        for column, value in zip(table.columns, row.values, strict=False)
    ]
    kinds = (*[pa.string()] * 3, *[pa.float64()] * 3, pa.int64())
    schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)), metadata={"title": table.title})
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    arrays = [pa.array(list(own), kind) for own, kind in zip(columns, kinds, strict=True)]
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_arrays(arrays, schema=schema), out)
    return out.getvalue()


@cache
def downloads() -> Mapping[str, BoardFormat[str] | BoardFormat[bytes]]:
    """By the names that addresses have."""
    found: dict[str, BoardFormat[str] | BoardFormat[bytes]] = dict(FORMATS)
    if find_spec("pyarrow"):
        kind = "application/vnd.apache.parquet"
        found["parquet"] = BoardFormat("parquet", "Parquet", "parquet", kind, as_parquet)
    return found
