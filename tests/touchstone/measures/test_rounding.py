"""Rounding as printf, Java's Math.round and BigDecimal do it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.touchstone.measures.builders import value_of
from touchstone.measures.errors import MeasureError
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure
from touchstone.measures.rounding import floored_terms, rounded_values


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        ("nearest", [0.12, 0.38, 0.0, 1.0, -0.11]),
        ("half_up", [0.13, 0.38, 0.0, 1.0, -0.11]),
        ("floor", [0.12, 0.37, 0.0, 1.0, -0.11]),
    ],
)
def test_three_ways_to_two_decimals(rounding: str, expected: list[float]) -> None:
    measure = parse_measure(f"nDCG(decimals=2,rounding='{rounding}')@5")
    values = np.array([0.125, 0.3781, 0.0049, 1.0, -0.1071])
    assert rounded_values(measure, values).tolist() == expected


def test_without_decimals_nothing_is_rounded() -> None:
    values = np.array([1 / 3])
    assert rounded_values(parse_measure("nDCG@5"), values) is values


@given(st.floats(0, 1))
def test_half_up_is_never_further_than_half_a_step_and_floor_never_above(value: float) -> None:
    for rounding in ("nearest", "half_up"):
        measure = parse_measure(f"nDCG(decimals=2,rounding='{rounding}')")
        assert abs(rounded_values(measure, np.array([value]))[0] - value) <= 0.005 + 1e-15
    floor = rounded_values(parse_measure("nDCG(decimals=2,rounding='floor')"), np.array([value]))
    assert floor[0] <= value + 1e-15


def test_terms_are_rounded_down_from_exact_quotients() -> None:
    measure = parse_measure(
        "nDCG(discount='reciprocal',decimals=2,rounding='floor',rounded='rank')"
    )
    terms = floored_terms(measure, np.array([[15.0, 15.0, 1.0, -1.0]]))
    assert terms.tolist() == [[1500.0, 750.0, 33.0, -25.0]]


def test_a_ranking_is_rounded_at_every_rank_and_at_the_end() -> None:
    # 1 + floor(3 / log2 3) = 1 + 1.89 over 3 + floor(1 / log2 3) = 3 + 0.63
    name = "nDCG(gain='exp2',decimals=2,rounding='floor',rounded='rank')@5"
    assert value_of(name, [1, 2]) == 0.79  # 2.89 / 3.63 = 0.796
    assert value_of(name, [2, 1]) == 1.0
    assert value_of(name, [0, None]) == 0.0


def test_gains_too_large_to_be_rounded_exactly_are_refused() -> None:
    name = "nDCG(gain={0:0,1:1000000000},decimals=6,rounding='floor',rounded='rank')@5"
    with pytest.raises(MeasureError, match="too large to be rounded"):
        value_of(name, [0, 1], grades=Grades.integers(range(2)))
