"""`touchstone values` as CSV."""

import csv
import io

import pytest

from touchstone.cli import values


class Answering:
    """A client whose server has one value of a query with a dangerous id."""

    def per_query(self, name: str, **asked: str) -> list[dict[str, object]]:
        assert (name, asked["measures"]) == ("shop/main", "RR")
        row = {"run": "bm25/one", "query_id": "=1+1", "measure": "RR", "value": 1 / 3}
        return [row, row | {"query_id": "-7", "value": None}]


def test_no_cell_is_a_formula_and_every_digit_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "open_client", lambda *_: Answering())
    options = {"list": "shop/main", "measures": "RR", "runs": "", "version": "head", "json": False}
    printed: list[str] = []
    values.work(options, printed.append, printed.append)
    assert list(csv.reader(io.StringIO("".join(printed)))) == [
        ["run", "query_id", "measure", "value"],
        ["bm25/one", "'=1+1", "RR", "0.3333333333333333"],
        ["bm25/one", "-7", "RR", ""],
    ]
