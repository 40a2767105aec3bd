"""Tables as Parquet."""

import io
from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest

from touchstone.files import parquet

AT = datetime(2026, 3, 14, 9, 26, 53, 589793, tzinfo=UTC)


def test_a_file_of_many_rows_comes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "GROUP", 3)
    rows: list[list[object]] = [
        [f"d{place}", place if place % 2 else None, place / 7, place > 3, AT] for place in range(8)
    ]
    columns = {"doc": str, "grade": int, "share": float, "counts": bool, "at": datetime}
    parts = list(parquet.parquet_chunks(columns, rows, title="Some labels"))
    assert len(parts) > 3
    file = pq.ParquetFile(io.BytesIO(b"".join(parts)))
    assert file.num_row_groups == 3
    assert [list(row.values()) for row in file.read().to_pylist()] == rows
    assert file.schema_arrow.metadata[b"title"] == b"Some labels"


def test_a_file_without_rows_has_its_columns() -> None:
    table = pq.read_table(io.BytesIO(parquet.parquet_bytes({"doc": str}, [], title="None")))
    assert (table.column_names, table.num_rows) == (["doc"], 0)
