"""Columns of every type that fits, and what is refused of the others."""

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.touchstone.bulk.builders import counts, means, plan, table
from touchstone.bulk.counts import report
from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.ids import hashes
from touchstone.errors import DomainError

ROWS = [("1", "7", 0.9, 0), ("1", "8", 0.8, 1), ("2", "7", 0.7, 1)]


def with_column(name: str, column: pa.Array) -> pa.Table:
    rows = table(ROWS)
    return rows.set_column(rows.schema.names.index(name), name, column)


@pytest.mark.parametrize(
    "kind",
    [
        pa.int8(),
        pa.uint16(),
        pa.int64(),
        pa.uint64(),
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int32(), pa.int64()),
        pa.decimal128(20, 0),
    ],
    ids=str,
)
def test_ids_of_any_type_give_the_same_integers(kind: pa.DataType) -> None:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    is_text = value in (pa.string(), pa.large_string(), pa.string_view())
    rows = table(ROWS)
    for place, name in enumerate(("query", "document")):
        own: list[Any] = [row[place] if is_text else int(row[place]) for row in ROWS]
        if pa.types.is_decimal(value):
            own = [Decimal(one) for one in own]
        column = pa.array(own, pa.string() if value == pa.string_view() else value)
        rows = rows.set_column(place, name, column.cast(kind) if is_text else _as(column, kind))
    assert rows.schema.field("document").type == kind
    assert counts(rows, plan()) == counts(ROWS, plan())


def _as(column: pa.Array, kind: pa.DataType) -> pa.Array:
    return column.dictionary_encode() if pa.types.is_dictionary(kind) else column


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0.9, 0.8, 0.7], pa.float32()),
        pa.array([9, 8, 7], pa.int32()),
        pa.array([Decimal("0.9"), Decimal("0.8"), Decimal("0.7")]),
        pa.array([0.9, 0.8, 0.7], pa.float16()),
    ],
    ids=lambda column: str(column.type),
)
def test_scores_may_be_any_numbers(column: pa.Array) -> None:
    assert counts(with_column("score", column), plan()) == counts(ROWS, plan())


@pytest.mark.parametrize(
    "column",
    [
        pa.array([False, True, True]),
        pa.array([0, 1, 1], pa.uint8()),
        pa.array([0.0, 1.0, 1.0], pa.float32()),
        pa.array([-0.0, 1.0, 1.0]),
    ],
    ids=lambda column: str(column.type),
)
def test_grades_may_be_any_numbers_and_yes_or_no(column: pa.Array) -> None:
    found, expected = counts(with_column("grade", column), plan()), counts(ROWS, plan())
    assert found.segments == expected.segments


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("name", "column", "message"),
    [
        ("query", pa.array(["1", None, "2"]), "rows: 1 rows have no query (null)"),
        ("document", pa.array([None, None, 3]), "rows: 2 rows have no document (null)"),
        ("query", pa.array([1.0, 1.0, 2.0]), "holds double; ids are whole numbers or text"),
        ("document", pa.array([[1], [2], [3]]), "ids are whole numbers or text"),
        ("score", pa.array([0.9, NAN, 0.7]), "rows: 1 rows have a score that is NaN or infinite"),
        ("score", pa.array([0.9, INFINITE, NAN]), "2 rows have a score that is NaN or infinite"),
        ("score", pa.array(["9", "8", "7"]), "column 'score' holds string; a score is a number"),
        ("score", pa.array([2**60 + 1, 1, 2]), "column 'score': Integer value"),
        ("grade", pa.array([0.0, NAN, 1.0]), "rows: 1 rows have a grade that is NaN or infinite"),
        (
            "grade",
            pa.array(["no", "yes", "yes"]),
            "grades must be numbers, or mapped to grades with --signals",
        ),
    ],
)
def test_what_does_not_fit_is_refused(name: str, column: pa.Array, message: str) -> None:
    with pytest.raises(BulkRefused) as refused:
        counts(with_column(name, column), plan())
    assert message in refused.value.message


def test_a_missing_column_is_named_beside_those_there_are() -> None:
    with pytest.raises(BulkRefused, match="no column 'scor'; available: query, document, score"):
        counts(ROWS, plan(score="scor"))


def test_words_are_grades_where_signals_say_so() -> None:
    rows = [("q", "a", 0.9, "skip"), ("q", "b", 0.8, "like"), ("q", "c", 0.7, None)]
    found = means(rows, plan("RR Judged@3", signals="like=2, skip=0"))
    assert found == {"RR": 0.5, "Judged@3": 2 / 3}
    with pytest.raises(BulkRefused, match="column 'grade': “share” is not mapped to a grade"):
        means([*rows, ("q", "d", 0.5, "share")], plan("RR", signals="like=2, skip=0"))


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.int32()], ids=str)
def test_numbers_are_grades_from_a_bound_on(kind: pa.DataType) -> None:
    watched = pa.array([0, 10, 60, None], kind)
    rows = table([("q", f"d{n}", -n, None) for n in range(4)]).set_column(3, "grade", watched)
    by_bounds = counts(rows, plan(signals=">=60=3, >=10=1, >=0=0"))
    plain = [("q", f"d{n}", -n, grade) for n, grade in enumerate((0, 1, 3, None))]
    assert by_bounds == counts(plain, plan())
    with pytest.raises(BulkRefused, match="0 is below the lowest bound, 5"):
        counts(rows, plan(signals=">=60=3, >=5=1"))


def test_numbers_are_grades_by_table() -> None:
    rows = [("q", "a", 0.9, 1.0), ("q", "b", 0.8, 5.0)]
    assert means(rows, plan("RR", signals="5=1, 1=0")) == {"RR": 0.5}


def test_what_signals_mean_cannot_contradict_itself() -> None:
    with pytest.raises(DomainError, match="can't have a lower grade than from"):
        plan(signals=">=60=1, >=10=3")


def test_segments_are_texts_numbers_dates_and_yes_or_no() -> None:
    moment = datetime.datetime(2026, 11, 1, 12, tzinfo=datetime.UTC)
    for value, name in (
        ("DE", "DE"),
        (7, "7"),
        (True, "true"),
        (datetime.date(2026, 11, 1), "2026-11-01"),
        (moment, "2026-11-01 12:00:00.000000Z"),
    ):
        rows = table([*((*row, value) for row in ROWS)], "kind")
        asked = plan(by="kind")
        assert list(report(asked, counts(rows, asked))["segments"]) == [name]
    with pytest.raises(BulkRefused, match="column 'kind' holds double; segments and"):
        counts([(*row, 0.5) for row in ROWS], plan(by="kind"))


def test_hashes_are_those_of_the_bytes_wherever_they_lie() -> None:
    texts = ["", "a", "b", "12345678", "123456789", "a\0", "é" * 40, "x" * 1000]
    column = pa.array(texts, pa.large_string())
    found = hashes(column)
    assert len(set(found.tolist())) == len(texts)
    assert np.array_equal(hashes(column.slice(3)), found[3:])
    assert np.array_equal(hashes(column.take(pa.array([7, 0]))), found[[7, 0]])
    numbers = hashes(pa.array(np.arange(-50_000, 50_000)))
    assert len(np.unique(numbers)) == 100_000
    shares = np.bincount((numbers % np.uint64(10)).astype(int))
    assert (np.abs(shares - 10_000) < 500).all()
