"""Columns of any fitting Arrow type as the few that the kernel reads.

query     int64 or large_string, never null; several columns become one text
document  int64 or large_string, never null
score     float64; null: the document is not ranked
grade     float64; null: the document is not judged
segment   large_string; null: these rows do not say it
judgment  bool, where rankings and judgments come from two data sets: is the row of the latter
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from touchstone.bulk.counts import BETWEEN, NAMELESS
from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.plan import Plan
from touchstone.files.signals import SignalRefusedError, Signals

Kind = Literal["number", "text"]


@dataclass(frozen=True)
class RowsOf:
    """Rows of a file, for messages. first: the number of the first, from 0."""

    file: str
    first: int

    def __str__(self) -> str:
        return self.file


Where = str | RowsOf

_LARGEST_INTEGER: Final = 64  # bits, with a sign; ids beyond it are compared as text


def normalised(batch: pa.RecordBatch, plan: Plan, *, where: Where, judgments: bool | None) -> Any:
    """The kernel's columns of a batch.

    judgments: the batch is of a data set of judgments, or of one of rankings; None: of one of both.
    where: the file, or whatever the batch is of, for messages.
    Raises BulkRefused for a column that is missing or of a type that does not fit, for a null in
    a query or document, a score or grade that is no finite number, a signal without a grade.
    """
    n_rows = batch.num_rows
    columns = {
        "query": _query(batch, plan, where),
        "document": _ids(_column(batch, plan.document, where), plan.document, where),
        "score": pa.nulls(n_rows, pa.float64())
        if judgments
        else _scores(_column(batch, plan.score, where), plan.score, where),
        "grade": pa.nulls(n_rows, pa.float64())
        if judgments is False
        else _grades(_column(batch, plan.grade, where), plan, where),
    }
    if plan.by:
        columns["segment"] = _segments(batch, plan, where, optional=judgments is not None)
    if judgments is not None:
        columns["judgment"] = pa.repeat(pa.scalar(judgments), n_rows)
    return pa.RecordBatch.from_pydict(columns)


def columns_of(plan: Plan, *, judgments: bool | None) -> tuple[str, ...]:
    """The columns that a data set must have; those of --by come besides (`normalised`)."""
    own = [*plan.query, plan.document]
    own += [] if judgments else [plan.score]
    own += [] if judgments is False else [plan.grade]
    return tuple(dict.fromkeys(own))


def kind_of(column: pa.DataType, name: str, where: Where) -> Kind:
    """Whether ids of this type are numbers or texts. Raises BulkRefused for any other type."""
    plain = column.value_type if pa.types.is_dictionary(column) else column
    if pa.types.is_integer(plain):
        is_wide = pa.types.is_unsigned_integer(plain) and plain.bit_width == _LARGEST_INTEGER
        return "text" if is_wide else "number"
    whole_decimal = pa.types.is_decimal(plain) and plain.scale == 0
    if _is_text(plain) or whole_decimal:
        return "text"
    raise BulkRefused(f"{where}: column {name!r} holds {column}; ids are whole numbers or text")


def _column(batch: pa.RecordBatch, name: str, where: Where) -> pa.Array:
    if name not in batch.schema.names:
        known = ", ".join(batch.schema.names)
        raise BulkRefused(f"{where}: no column {name!r}; available: {known}")
    column = batch.column(name)
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _is_text(column: pa.DataType) -> bool:
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(is_kind(column) for is_kind in kinds)


def _query(batch: pa.RecordBatch, plan: Plan, where: Where) -> pa.Array:
    parts = [_column(batch, name, where) for name in plan.query]
    if len(parts) == 1:
        return _ids(parts[0], plan.query[0], where)
    for part, name in zip(parts, plan.query, strict=True):
        _check_no_null(part, name, where)
    return _joined(parts, plan.query, where)


def _ids(column: pa.Array, name: str, where: Where) -> pa.Array:
    _check_no_null(column, name, where)
    number = kind_of(column.type, name, where) == "number"
    return column.cast(pa.int64() if number else pa.large_string())


def _check_no_null(column: pa.Array, name: str, where: Where) -> None:
    if column.null_count:
        first = _first_row(column.is_null(), where)
        raise BulkRefused(f"{where}: {column.null_count:,} rows have no {name} (null){first}")


def _first_row(chosen: pa.Array, where: Where) -> str:
    """Which row is the first of the chosen ones, where that is known."""
    if not isinstance(where, RowsOf):
        return ""
    return f"; the first is row {where.first + pc.index(chosen, True).as_py() + 1:,}"


def _scores(column: pa.Array, name: str, where: Where) -> pa.Array:
    if not _is_number(column.type):
        raise BulkRefused(f"{where}: column {name!r} holds {column.type}; a score is a number")
    scores = _exactly(column, name, where)
    _check_finite(scores, name, where)
    return scores


def _exactly(column: pa.Array, name: str, where: Where) -> pa.Array:
    """As float64. Raises BulkRefused for a whole number that float64 cannot hold."""
    try:
        return column.cast(pa.float64())
    except pa.ArrowInvalid as error:
        raise BulkRefused(f"{where}: column {name!r}: {error}") from None


def _is_number(column: pa.DataType) -> bool:
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    return any(is_kind(column) for is_kind in kinds)


def _check_finite(column: pa.Array, name: str, where: Where) -> None:
    bad = len(column) - column.null_count - (pc.sum(pc.is_finite(column)).as_py() or 0)
    if bad:
        first = _first_row(pc.invert(pc.is_finite(column)).fill_null(False), where)
        raise BulkRefused(f"{where}: {bad:,} rows have a {name} that is NaN or infinite{first}")


def _grades(column: pa.Array, plan: Plan, where: Where) -> pa.Array:
    name = plan.grade
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if plan.signals is not None:
        return _meant(column, plan.signals, name, where)
    if not _is_number(column.type):
        raise BulkRefused(
            f"{where}: column {name!r} holds {column.type}; grades must be numbers, or mapped to "
            "grades with --signals, as in 'like=2, skip=0'"
        )
    grades = _exactly(column, name, where)
    _check_finite(grades, name, where)
    return grades


def _meant(column: pa.Array, signals: Signals, name: str, where: Where) -> pa.Array:
    """The grades of signals. Raises BulkRefused for one that has none."""
    if signals.bounds and _is_number(column.type):
        numbers = _exactly(column, name, where)
        _check_finite(numbers, name, where)
        return _from_bounds(numbers, signals, name, where)
    known = column.dictionary_encode()
    try:
        grades = [
            None if signal is None else signals.grade(str(signal))
            for signal in known.dictionary.to_pylist()
        ]
    except SignalRefusedError as error:
        raise BulkRefused(f"{where}: column {name!r}: {error.message}") from None
    return pa.array(grades, pa.float64()).take(known.indices)


def _from_bounds(numbers: pa.Array, signals: Signals, name: str, where: Where) -> pa.Array:
    bounds = np.array([bound for bound, _ in signals.bounds][::-1])
    grades = np.array([grade for _, grade in signals.bounds][::-1], np.float64)
    missing = numbers.is_null().to_numpy(zero_copy_only=False)
    values = numbers.fill_null(bounds[0]).to_numpy(zero_copy_only=False)
    positions = np.searchsorted(bounds, values, "right") - 1
    if (positions < 0).any():
        least = f"{float(values.min())!r}".removesuffix(".0")
        first = _first_row(pc.less(numbers, bounds[0]).fill_null(False), where)
        raise BulkRefused(
            f"{where}: column {name!r}: {least} is below the lowest bound, {bounds[0]:g}{first}"
        )
    return pa.array(grades[positions], mask=missing)


def _segments(batch: pa.RecordBatch, plan: Plan, where: Where, *, optional: bool) -> pa.Array:
    if optional and not set(plan.by) <= set(batch.schema.names):
        return pa.nulls(batch.num_rows, pa.large_string())
    parts = [_column(batch, name, where) for name in plan.by]
    return _joined(parts, plan.by, where)


def _joined(parts: Sequence[pa.Array], names: Sequence[str], where: Where) -> pa.Array:
    """One text a row; a null is the empty text."""
    texts = [_as_text(part, name, where) for part, name in zip(parts, names, strict=True)]
    for text, name in zip(texts if len(texts) > 1 else [], names, strict=False):
        if pc.any(pc.match_substring(text, BETWEEN)).as_py():
            raise BulkRefused(f"{where}: column {name!r} holds the control character U+001F")
    between = pa.scalar(BETWEEN, pa.large_string())
    return reduce(lambda left, right: pc.binary_join_element_wise(left, right, between), texts)


def _as_text(column: pa.Array, name: str, where: Where) -> pa.Array:
    plain = column.type
    kinds = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_temporal, pa.types.is_null)
    if not _is_text(plain) and not any(is_kind(plain) for is_kind in kinds):
        raise BulkRefused(
            f"{where}: column {name!r} holds {plain}; segments and the parts of a query are text, "
            "whole numbers, dates or yes and no"
        )
    return column.cast(pa.large_string()).fill_null(NAMELESS)
