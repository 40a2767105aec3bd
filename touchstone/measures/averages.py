"""From queries' values to a run's: the mean, the mean by weight, and the mean of segments' means.

The sums of several measures lie in the rows of one array, (..., n_rows, 6):

    one row a measure, of the plain mean (`exact`): its queries, their sum, their squares
    for each measure with average='segments': one such row a segment
    for each measure with average='weighted': WIDE_ROWS rows (`weighting`)

How many segments there are follows from the number of rows. Which they are belongs to the version
that the sums are of; they stand in ascending order of their names, the nameless one first.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np

from touchstone.measures.definition import Measure
from touchstone.measures.exact import (
    COLUMNS,
    FRACTION_BITS,
    BoolArray,
    FloatArray,
    IntArray,
    add,
    as_integers,
    counts,
    exact_sums,
    means,
    root_of_quotient,
    standard_errors,
    subtract,
)
from touchstone.measures.rounding import rounded_mean
from touchstone.measures.weighting import WIDE_ROWS, weighted_error, weighted_mean, weighted_sums

NO_SEGMENT: Final = ""


@dataclass(frozen=True, slots=True)
class Average:
    """A run's value over n queries and its standard error; None where there is none."""

    value: float | None
    error: float | None
    n: int


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """What averages ask of its queries: the weight of each, and its place in `segments`."""

    weights: FloatArray
    places: IntArray
    segments: tuple[str, ...]

    @classmethod
    def of(cls, weights: Iterable[float], segments: Sequence[str]) -> "Groups":
        """The groups of queries that have these weights and segments, and of no others."""
        names = tuple(sorted(set(segments)))
        position = {name: number for number, name in enumerate(names)}
        positions = np.array([position[name] for name in segments], np.int64)
        return cls(np.fromiter(weights, np.float64), positions, names)


def reads_traits(measures: Iterable[Measure]) -> bool:
    """Whether a query's weight or segment is part of any of these."""
    return any(measure.average in ("weighted", "segments") for measure in measures)


def n_rows(measures: Sequence[Measure], n_segments: int) -> int:
    """How many rows the sums of these measures have."""
    split, weighted = _places(measures, "segments"), _places(measures, "weighted")
    return len(measures) + len(split) * n_segments + len(weighted) * WIDE_ROWS


def sums_of(
    measures: Sequence[Measure],
    values: FloatArray,
    counted: BoolArray,
    groups: Groups | None = None,
) -> IntArray:
    """The exact sums over the queries, (..., n_rows, 6).

    values, counted: (..., n_queries, n_measures). groups: where a measure reads traits.
    """
    parts = [exact_sums(values, counted)]
    if groups is not None:
        for position in _places(measures, "segments"):
            own = (..., slice(position, position + 1))
            parts += [
                exact_sums(values[own], counted[own] & (groups.places == number)[:, None])
                for number in range(len(groups.segments))
            ]
        chosen = _places(measures, "weighted")
        if chosen:
            wide = weighted_sums(values[..., chosen], counted[..., chosen], groups.weights)
            shape = (*wide.shape[:-3], len(chosen) * WIDE_ROWS, len(COLUMNS))
            parts.append(wide.reshape(shape))
    return np.concatenate(parts, axis=-2)


def together(measures: Sequence[Measure], left: IntArray, right: IntArray) -> IntArray:
    """The sums of both."""
    return add(left, right, wide=_wide(measures))


def without(measures: Sequence[Measure], left: IntArray, right: IntArray) -> IntArray:
    """The sums of `left` without those of `right`."""
    return subtract(left, right, wide=_wide(measures))


def regrouped(
    measures: Sequence[Measure], sums: IntArray, before: Sequence[str], after: Sequence[str]
) -> IntArray:
    """The same sums with rows for other segments: new ones hold nothing, old ones are left out."""
    if tuple(before) == tuple(after):
        return sums
    split = len(_places(measures, "segments"))
    start, stop = len(measures), len(measures) + split * len(before)
    shape = (*sums.shape[:-2], split, len(after), len(COLUMNS))
    rows = sums[..., start:stop, :].reshape(*shape[:-2], len(before), len(COLUMNS))
    moved = np.zeros(shape, np.int64)
    for position, name in enumerate(after):
        if name in before:
            moved[..., position, :] = rows[..., list(before).index(name), :]
    flat = moved.reshape(*sums.shape[:-2], split * len(after), len(COLUMNS))
    return np.concatenate((sums[..., :start, :], flat, sums[..., stop:, :]), axis=-2)


def chosen_sums(measures: Sequence[Measure], sums: IntArray, positions: Sequence[int]) -> IntArray:
    """The sums of the measures at some places, in that order."""
    parts = [sums[list(positions)]]
    parts += [_segment_rows(measures, sums, p) for p in positions if _is(measures[p], "segments")]
    parts += [_wide_rows(measures, sums, p) for p in positions if _is(measures[p], "weighted")]
    return np.concatenate(parts)


def averages(measures: Sequence[Measure], sums: IntArray) -> tuple[Average, ...]:
    """Each measure's value of one run; sums: (n_rows, 6)."""
    plain = plain_averages(sums[: len(measures)])
    exact = [
        _average(measures, sums, position, plain[position]) for position in range(len(measures))
    ]
    return tuple(map(_rounded, measures, exact))


def segment_averages(
    measures: Sequence[Measure], sums: IntArray, position: int
) -> tuple[Average, ...]:
    """The mean in each segment, of the measure at a place; it has average='segments'."""
    rows = plain_averages(_segment_rows(measures, sums, position))
    return tuple(_rounded(measures[position], own) for own in rows)


def plain_averages(rows: IntArray) -> tuple[Average, ...]:
    """The plain means that these rows hold."""
    return tuple(map(Average, means(rows), standard_errors(rows), counts(rows)))


def most_queries(measures: Sequence[Measure], sums: IntArray) -> int:
    """The queries in the largest of the means of any run; sums: (n_runs, n_rows, 6)."""
    return int(sums[:, : len(measures), 0].max(initial=0))


def row_names(measures: Sequence[Measure], segments: Sequence[str]) -> list[str]:
    """What each row of the sums is of."""
    names = [measure.name for measure in measures]
    for position in _places(measures, "segments"):
        names += [f"{names[position]} in segment {segment!r}" for segment in segments]
    for position in _places(measures, "weighted"):
        names += [f"{names[position]} by weight"] * WIDE_ROWS
    return names


def _average(measures: Sequence[Measure], sums: IntArray, position: int, plain: Average) -> Average:
    if _is(measures[position], "weighted"):
        rows = _wide_rows(measures, sums, position)
        return Average(weighted_mean(rows), weighted_error(rows, plain.n), plain.n)
    if _is(measures[position], "segments"):
        return _mean_of_means(_segment_rows(measures, sums, position), plain.n)
    return plain


def _rounded(measure: Measure, exact: Average) -> Average:
    return replace(exact, value=rounded_mean(measure, exact.value))


def _mean_of_means(rows: IntArray, n: int) -> Average:
    """The mean of the segments' means, and sqrt(Σ error²) / segments: strata drawn apart.

    Segments without a query in their mean play no part. Source: Cochran 1977, stratified sampling.
    """
    known = [own for own in map(as_integers, rows.tolist()) if own[0]]
    if not known:
        return Average(None, None, n)
    mean = sum(Fraction(total, count) for count, total, _ in known) / len(known)
    value = float(mean / 2**FRACTION_BITS)
    if any(count < 2 for count, _, _ in known):
        return Average(value, None, n)
    squares = sum(
        Fraction(count * square - total * total, count * count * (count - 1))
        for count, total, square in known
    ) / Fraction(len(known) ** 2)
    return Average(
        value, math.ldexp(root_of_quotient(*squares.as_integer_ratio()), -FRACTION_BITS), n
    )


def _is(measure: Measure, average: str) -> bool:
    return measure.average == average


def _places(measures: Sequence[Measure], average: str) -> list[int]:
    return [position for position, measure in enumerate(measures) if _is(measure, average)]


def _wide(measures: Sequence[Measure]) -> int:
    return len(_places(measures, "weighted")) * WIDE_ROWS


def _segment_rows(measures: Sequence[Measure], sums: IntArray, position: int) -> IntArray:
    split = _places(measures, "segments")
    n_segments = (len(sums) - len(measures) - _wide(measures)) // len(split)
    start = len(measures) + split.index(position) * n_segments
    return sums[start : start + n_segments]


def _wide_rows(measures: Sequence[Measure], sums: IntArray, position: int) -> IntArray:
    start = len(sums) - _wide(measures) + _places(measures, "weighted").index(position) * WIDE_ROWS
    return sums[start : start + WIDE_ROWS]
