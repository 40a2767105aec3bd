"""Weighted sums: what unbounded integers say, in any order, and there and back."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.measures.exact import IntArray, exact_sums, standard_errors
from touchstone.measures.weighting import (
    DIGIT_BITS,
    DIGITS,
    LARGEST_WEIGHT,
    weighted_error,
    weighted_mean,
    weighted_sums,
)

VALUES = st.floats(0.0, 1.0) | st.floats(-4095.0, 4095.0)
WEIGHTS = st.floats(1e-12, 1e12) | st.sampled_from([1.0, 0.1, 5e-324, math.nextafter(2.0**40, 0)])
PAIRS = st.lists(st.tuples(VALUES, WEIGHTS), max_size=20)


def sums_of(pairs: list[tuple[float, float]]) -> IntArray:
    values = np.array([value for value, _ in pairs], np.float64).reshape(-1, 1)
    weights = np.array([weight for _, weight in pairs], np.float64)
    return weighted_sums(values, np.ones(values.shape, bool), weights)[0]


def by_big_integers(pairs: list[tuple[float, float]]) -> list[int]:
    fixed = [(round(Fraction(v) * 2**60), round(Fraction(w) * 2**72)) for v, w in pairs]
    terms = [(u, u * q, u * u, u * u * q, (u * q) ** 2) for q, u in fixed]
    return [sum(column) for column in zip(*terms, strict=True)] or [0] * 5


def as_big_integers(sums: IntArray) -> list[int]:
    digits, out, start = sums.ravel().tolist(), [], 0
    for length in DIGITS:
        own = digits[start : start + length]
        out.append(sum(digit * 2 ** (DIGIT_BITS * place) for place, digit in enumerate(own)))
        start += length
    return out


@given(PAIRS)
def test_weighted_sums_are_those_of_unbounded_integers(pairs: list[tuple[float, float]]) -> None:
    assert as_big_integers(sums_of(pairs)) == by_big_integers(pairs)


@given(PAIRS, PAIRS)
def test_what_is_added_can_be_taken_away_to_the_last_bit(
    some: list[tuple[float, float]], others: list[tuple[float, float]]
) -> None:
    both = sums_of([*some, *others])
    assert np.array_equal(both, sums_of(some) + sums_of(others))
    assert np.array_equal(both - sums_of(others), sums_of(some))
    assert np.array_equal(both, sums_of([*others, *some][::-1]))


@given(PAIRS)
def test_the_mean_is_the_rounded_quotient(pairs: list[tuple[float, float]]) -> None:
    weight, total, *_ = by_big_integers(pairs)
    right = float(Fraction(total, weight) / 2**60) if weight else None
    assert weighted_mean(sums_of(pairs)) == right


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.floats(1e-6, 1e9))
def test_equal_weights_give_the_plain_error(values: list[float], weight: float) -> None:
    column = np.array(values).reshape(-1, 1)
    (plain,) = standard_errors(exact_sums(column, np.ones(column.shape, bool)))
    found = weighted_error(sums_of([(value, weight) for value in values]), len(values))
    assert found == pytest.approx(plain, rel=1e-14)


def test_equal_values_have_no_error_at_all() -> None:
    assert weighted_error(sums_of([(0.3, 1.0), (0.3, 7.5), (0.3, 1e9)]), 3) == 0.0


def test_the_error_is_that_of_a_ratio_of_means() -> None:
    values, weights = [0.2, 0.9, 0.4, 0.7], [10.0, 1.0, 0.5, 3.0]
    mean = sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)
    spread = sum((w * (v - mean)) ** 2 for v, w in zip(values, weights, strict=True))
    right = math.sqrt(4 / 3 * spread) / sum(weights)
    pairs = list(zip(values, weights, strict=True))
    assert weighted_error(sums_of(pairs), 4) == pytest.approx(right, rel=1e-12)


def test_what_does_not_count_weighs_nothing() -> None:
    values = np.array([[0.5], [1.0]])
    counted = np.array([[True], [False]])
    found = weighted_sums(values, counted, np.array([2.0, 3.0]))[0]
    assert np.array_equal(found, sums_of([(0.5, 2.0)]))


def test_many_values_in_chunks_are_the_same_as_one_by_one() -> None:
    rng = np.random.default_rng(7)
    values, weights = rng.random((40_000, 1)), rng.lognormal(size=40_000)
    whole = weighted_sums(values, np.ones(values.shape, bool), weights)[0]
    halves = [
        weighted_sums(values[part], np.ones(values[part].shape, bool), weights[part])[0]
        for part in (slice(0, 7), slice(7, None))
    ]
    assert np.array_equal(whole, halves[0] + halves[1])


@pytest.mark.parametrize("weight", [0.0, -1.0, math.nan, math.inf, LARGEST_WEIGHT])
def test_a_weight_that_is_none_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        sums_of([(0.5, weight)])


def test_nothing_has_no_mean_and_one_query_no_error() -> None:
    assert weighted_mean(sums_of([])) is None
    assert weighted_error(sums_of([(0.5, 2.0)]), 1) is None
    # too light to count, though the database would keep it
    assert weighted_mean(sums_of([(0.5, 1e-30)])) is None
