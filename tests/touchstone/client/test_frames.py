"""Rows become a frame of what is installed."""

import sys
from typing import Any

import pandas
import polars
import pytest

from touchstone.client.errors import ClientUsageError
from touchstone.client.frames import as_frame

ROWS: list[dict[str, Any]] = [
    {"run": "a/1", "value": 0.5, "more": 1},
    {"run": "a/2", "value": None, "more": 2},
]
COLUMNS = ("run", "value")


def test_a_frame_of_pandas_comes_first() -> None:
    found = as_frame(ROWS, COLUMNS)
    assert isinstance(found, pandas.DataFrame)
    assert list(found.columns) == ["run", "value"]
    assert found["value"].isna().tolist() == [False, True]


def test_polars_where_there_is_no_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = as_frame(ROWS, COLUMNS)
    assert isinstance(found, polars.DataFrame)
    assert found.rows() == [("a/1", 0.5), ("a/2", None)]
    with pytest.raises(ClientUsageError, match=r"touchstone-relevance\[pandas\]"):
        as_frame(ROWS, COLUMNS, "pandas")


def test_a_list_of_dicts_where_there_is_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    found = [{"run": "a/1", "value": 0.5}, {"run": "a/2", "value": None}]
    assert as_frame(ROWS, COLUMNS) == found
    assert as_frame(ROWS, COLUMNS, "rows") == found


def test_no_rows_are_a_frame_with_columns() -> None:
    assert list(as_frame([], COLUMNS, "pandas").columns) == ["run", "value"]
    assert as_frame([], COLUMNS, "polars").columns == ["run", "value"]


def test_another_kind_of_frame_is_refused() -> None:
    with pytest.raises(ClientUsageError, match="pandas, polars, rows"):
        as_frame(ROWS, COLUMNS, "arrow")  # type: ignore[arg-type]
