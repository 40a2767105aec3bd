"""Exact sums: the laws that make an incremental mean equal to the from-scratch one."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.measures.exact import (
    BYTES_PER_MEASURE,
    COLUMNS,
    IntArray,
    add,
    counts,
    exact_sums,
    from_bytes,
    means,
    standard_errors,
    subtract,
    to_bytes,
)

FRACTIONS = st.floats(0.0, 1.0)
ANY_VALUE = st.floats(-4095.0, 4095.0)


def sums_of(values: list[float]) -> IntArray:
    column = np.array(values, np.float64).reshape(-1, 1)
    return exact_sums(column, np.ones(column.shape, bool))


def by_big_integers(values: list[float]) -> tuple[int, int, int]:
    fixed = [round(Fraction(v) * 2**60) for v in values]
    return len(fixed), sum(fixed), sum(q * q for q in fixed)


def as_integers(sums: IntArray) -> tuple[int, int, int]:
    n, high, low, square_high, square_middle, square_low = (int(x) for x in sums[0])
    return n, high * 2**32 + low, square_high * 2**96 + square_middle * 2**48 + square_low


@given(st.lists(ANY_VALUE, max_size=30))
def test_sums_equal_those_of_unbounded_integers(values: list[float]) -> None:
    assert as_integers(sums_of(values)) == by_big_integers(values)


@given(
    st.floats(-1, 1).map(lambda x: math.ldexp(x, -55))
    | st.integers(-64, 64).map(lambda x: math.ldexp(x, -62))
)
def test_values_around_the_last_place_round_half_to_even_on_both_sides_of_zero(
    value: float,
) -> None:
    assert as_integers(sums_of([value])) == by_big_integers([value])


@given(st.lists(ANY_VALUE, max_size=30), st.randoms(use_true_random=False))
def test_order_does_not_matter(values: list[float], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert to_bytes(sums_of(values)) == to_bytes(sums_of(shuffled))


@given(
    st.lists(FRACTIONS, max_size=20),
    st.lists(FRACTIONS, max_size=9),
    st.lists(FRACTIONS, max_size=9),
)
def test_taking_out_the_old_and_putting_in_the_new_equals_starting_from_scratch(
    kept: list[float], old: list[float], new: list[float]
) -> None:
    moved = add(subtract(sums_of(kept + old), sums_of(old)), sums_of(new))
    assert to_bytes(moved) == to_bytes(sums_of(kept + new))
    back = add(subtract(moved, sums_of(new)), sums_of(old))
    assert to_bytes(back) == to_bytes(sums_of(kept + old))


@given(st.lists(ANY_VALUE, max_size=12))
def test_bytes_round_trip(values: list[float]) -> None:
    sums = sums_of(values)
    assert np.array_equal(from_bytes(to_bytes(sums)), sums)
    assert len(to_bytes(sums)) == BYTES_PER_MEASURE


def test_bytes_are_little_endian_and_pinned() -> None:
    packed = to_bytes(sums_of([0.5, -0.25, 1.0]))
    assert [int.from_bytes(packed[i : i + 8], "little", signed=True) for i in range(0, 48, 8)] == [
        3,
        5 << 26,
        0,
        21 << 20,
        0,
        0,
    ]
    assert len(COLUMNS) == 6


@given(st.lists(FRACTIONS, min_size=1, max_size=30))
def test_the_mean_is_the_exact_quotient_rounded_once(values: list[float]) -> None:
    n, total, _ = by_big_integers(values)
    assert means(sums_of(values)) == [float(Fraction(total, n * 2**60))]


@given(st.lists(FRACTIONS, min_size=2, max_size=30))
def test_the_standard_error_is_within_half_a_unit_of_the_exact_root(values: list[float]) -> None:
    n, total, squares = by_big_integers(values)
    exact_square = Fraction(n * squares - total * total, n * n * (n - 1) * 2**120)
    (found,) = standard_errors(sums_of(values))
    assert found is not None
    below = (Fraction(found) + Fraction(math.nextafter(found, -1))) / 2
    above = (Fraction(found) + Fraction(math.nextafter(found, 2))) / 2
    assert max(below, Fraction(0)) ** 2 <= exact_square <= above**2


def test_equal_values_have_a_standard_error_of_exactly_zero() -> None:
    assert standard_errors(sums_of([1 / 3] * 7)) == [0.0]


def test_a_known_standard_error() -> None:
    assert standard_errors(sums_of([0.0, 1.0])) == [0.5]
    assert standard_errors(sums_of([0.25, 0.5, 0.75])) == [math.sqrt(0.0625 / 3)]


def test_no_query_has_no_mean_and_one_query_no_standard_error() -> None:
    nothing = exact_sums(np.empty((0, 2)), np.empty((0, 2), bool))
    assert means(nothing) == [None, None]
    assert counts(nothing) == [0, 0]
    assert standard_errors(sums_of([0.5])) == [None]
    assert means(sums_of([0.5])) == [0.5]


def test_only_counted_values_enter_and_each_measure_has_its_own_count() -> None:
    values = np.array([[0.5, np.nan], [0.25, 1.0]])
    counted = np.array([[True, False], [True, True]])
    sums = exact_sums(values, counted)
    assert counts(sums) == [2, 1]
    assert means(sums) == [0.375, 1.0]


def test_many_runs_at_once_equal_one_run_at_a_time() -> None:
    rng = np.random.default_rng(5)
    values = rng.random((7, 4, 3))
    counted = rng.random((7, 4, 3)) < 0.8
    together = exact_sums(values, counted)
    for run in range(7):
        assert np.array_equal(together[run], exact_sums(values[run], counted[run]))


def test_a_hundred_thousand_queries_still_equal_unbounded_integers() -> None:
    values = np.random.default_rng(6).random(100_000)
    assert as_integers(sums_of(list(values))) == by_big_integers([float(v) for v in values])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 4096.0])
def test_a_value_that_cannot_be_summed_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        sums_of([0.5, bad])


def test_wrong_shapes_and_torn_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="one shape"):
        exact_sums(np.zeros((2, 2)), np.zeros((2, 1), bool))
    with pytest.raises(ValueError, match="48 bytes"):
        from_bytes(b"1234567")
    with pytest.raises(ValueError, match="shape"):
        to_bytes(np.zeros((2, 2), np.int64))
