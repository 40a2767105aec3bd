"""nDCG by hand, and its laws."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.touchstone.measures.builders import value_of
from touchstone.measures.errors import MeasureError, ZeroIdealError
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure

RANKED = st.lists(st.none() | st.integers(0, 4), min_size=1, max_size=12)
ALSO = st.lists(st.integers(0, 4), max_size=8)
# Laws hold for every definition whose gains are not below 0 and whose ideal is an ideal.
LAWFUL = st.sampled_from(
    [
        f"nDCG({','.join(p for p in (gain, discount, ideal, unjudged) if p)}){cutoff}"
        for gain in ("", "gain='exp2'", "gain={0:0,1:1,2:1,3:5,4:5}")
        for discount in ("", "discount='reciprocal'", "discount='burn-in',b=2", "discount='none'")
        for ideal in ("", "ideal='recall'", "ideal='max'", "ideal='global',ideal_depth='all'")
        for unjudged in ("", "unjudged='condensed'")
        for cutoff in ("", "@1", "@5", "@20")
    ]
)


def zoolander(ideal: str) -> float:
    """Five documents A to E, of which D, A and C are returned, in this order."""
    shares = Grades.of({0: 0.1, 1: 0.7, 2: 0.9, 3: 1.0})
    name = f"nDCG(discount='reciprocal',ideal='{ideal}')@2"
    return value_of(name, [0, 3, 1], also_judged=[2, 0], grades=shares)


def test_grades_that_articles_compute_wrongly() -> None:
    assert value_of("nDCG(gain='exp2')@5", [3, 2, 3, 0, 1]) == pytest.approx(0.95748, abs=5e-6)
    assert value_of("nDCG@6", [2, 1, 4, 0, 3, 3]) == pytest.approx(0.7939, abs=5e-5)
    assert value_of("nDCG(gain='exp2')@6", [2, 1, 4, 0, 3, 3]) == pytest.approx(0.6640, abs=5e-5)
    assert value_of("nDCG(gain='exp2')@5", [3, 3, 2, 2, 1, 0]) == 1.0


def test_one_ranking_four_ideals() -> None:
    assert zoolander("local") == pytest.approx(0.571, abs=5e-4)
    assert zoolander("recall") == pytest.approx(0.444, abs=5e-4)
    assert zoolander("global") == pytest.approx(0.414, abs=5e-4)
    assert zoolander("max") == pytest.approx(0.4, abs=5e-4)


def test_a_value_by_hand_to_the_last_bit() -> None:
    dcg = 3 / math.log2(2) + 0 + 1 / math.log2(4)
    ideal = 4 / math.log2(2) + 3 / math.log2(3) + 1 / math.log2(4)
    assert value_of("nDCG@3", [3, None, 1], also_judged=[4]) == dcg / ideal


def test_the_ideal_can_go_on_behind_the_cutoff_or_end_with_the_results() -> None:
    first = 2 / math.log2(2)
    third = first + 2 / math.log2(3) + 2 / math.log2(4)
    assert value_of("nDCG(ideal_depth='all')@1", [2, 2, 2]) == first / third
    assert value_of("nDCG(ideal_depth='returned')@3", [2], also_judged=[2, 2]) == 1.0
    assert value_of("nDCG@3", [2], also_judged=[2, 2]) == first / third


def test_the_top_grade_may_be_named() -> None:
    assert value_of("nDCG(ideal='max')@1", [2]) == 0.5
    assert value_of("nDCG(ideal='max',top=8)@1", [2]) == 0.25
    assert value_of("nDCG(ideal='max')", [4, 4, 0]) == pytest.approx(0.7654, abs=5e-5)


def test_the_linear_discount_falls_evenly_to_the_cutoff() -> None:
    value = value_of("nDCG(discount='linear')@4", [0, 1, 0, 0, 4], also_judged=[])
    assert value == pytest.approx((1 * 3 / 4) / (4 + 1 * 3 / 4))


def test_unjudged_documents_gain_nothing_or_are_taken_out() -> None:
    ranked = [None, 0, None, 3]
    assert value_of("nDCG@2", ranked) == 0.0
    assert value_of("nDCG(unjudged='condensed')@2", ranked) == 3 / math.log2(3) / 3
    assert value_of("nDCG(unjudged='condensed')@2", [None, 3]) == 1.0


def test_a_query_without_gain_has_the_value_that_was_chosen() -> None:
    assert value_of("nDCG@5", [0, 0]) == 0.0
    assert value_of("nDCG(empty=0.5)@5", [0, 0]) == 0.5
    assert value_of("nDCG(empty=1)@5", [0, None]) == 1.0
    with pytest.raises(ZeroIdealError, match="not defined") as refused:
        value_of("nDCG(empty='error')@5", [0, 0])
    assert refused.value.row == 0


def test_a_query_without_results_is_worth_nothing_even_if_it_has_no_gain() -> None:
    assert value_of("nDCG(empty=1)@5", [], also_judged=[0]) == 0.0
    assert value_of("nDCG(empty=1)@5", [], also_judged=[3]) == 0.0


def test_negative_grades_gain_nothing_cost_something_or_are_as_good_as_unjudged() -> None:
    scale = Grades.integers(range(-2, 5))
    assert value_of("nDCG@2", [-2, 1], grades=scale) == value_of("nDCG@2", [0, 1], grades=scale)
    cost = -2 + 1 / math.log2(3)
    ideal = 1 - 2 / math.log2(3)
    assert value_of("nDCG(negatives='raw')@2", [-2, 1], grades=scale) == cost / ideal
    as_unjudged = "nDCG(unjudged='condensed',negatives='unjudged')@1"
    assert value_of(as_unjudged, [-2, 1], grades=scale) == 1.0


def test_a_table_of_gains_must_know_every_grade_of_the_scale() -> None:
    with pytest.raises(MeasureError, match="no grade 4"):
        value_of("nDCG(gain={0:0,1:1,2:2,3:3})@5", [3])


def test_a_gain_that_would_overflow_is_refused() -> None:
    with pytest.raises(MeasureError, match="too large"):
        value_of("nDCG(gain='exp2')@5", [0], grades=Grades.integers([0, 1_000_000]))


@given(RANKED, ALSO, LAWFUL)
def test_values_are_fractions(ranked: list[int | None], also: list[int], name: str) -> None:
    assert 0.0 <= value_of(name, ranked, also_judged=also) <= 1.0 + 1e-12


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), LAWFUL)
def test_the_ideal_order_is_worth_exactly_one(grades: list[int], name: str) -> None:
    best = sorted(grades, reverse=True)
    measure = parse_measure(name)
    if measure.ideal_depth == "all" and measure.cutoff is not None:
        best = best[: measure.cutoff]
    if measure.ideal == "max":
        best = [4] * len(best) + [4] * ((measure.cutoff or 0) - len(best))
    assert value_of(measure, best) == (1.0 if max(best) > 0 else 0.0)


@given(RANKED, ALSO, LAWFUL, st.data())
def test_moving_a_better_document_up_never_lowers_the_value(
    ranked: list[int | None], also: list[int], name: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(ranked) - 1))
    other = data.draw(st.integers(0, len(ranked) - 1))
    upper, lower = min(place, other), max(place, other)
    swapped = list(ranked)
    swapped[upper], swapped[lower] = swapped[lower], swapped[upper]
    if "condensed" in name and None in (ranked[upper], ranked[lower]):
        return
    if (ranked[lower] or 0) >= (ranked[upper] or 0):
        before = value_of(name, ranked, also_judged=also)
        assert value_of(name, swapped, also_judged=also) >= before - 1e-12


@given(RANKED, ALSO)
def test_the_local_ideal_is_the_kindest_and_the_top_grades_the_strictest(
    ranked: list[int | None], also: list[int]
) -> None:
    ideals = ("local", "recall", "global", "max")
    values = [value_of(f"nDCG(ideal='{i}')@5", ranked, also_judged=also) for i in ideals]
    assert values == sorted(values, reverse=True)


@given(RANKED, ALSO, st.integers(1, 12))
def test_swapping_documents_of_one_grade_changes_no_bit(
    ranked: list[int | None], also: list[int], cutoff: int
) -> None:
    same = [0 if grade is None else grade for grade in ranked]
    judged_instead = [*also, *[0] * ranked.count(None)]
    name = f"nDCG@{cutoff}"
    assert value_of(name, ranked, also_judged=also) == value_of(name, same, also_judged=also)
    assert value_of(name, same, also_judged=also) == value_of(
        name, same, also_judged=judged_instead
    )


def test_an_ideal_from_the_first_returned_does_not_see_the_others() -> None:
    ranked = [0, 1, 4]
    assert value_of("nDCG(ideal='recall',ideal_first=2)@2", ranked) == 1 / math.log2(3)
    first_three = value_of("nDCG(ideal='recall',ideal_first=3)@2", ranked)
    assert first_three == value_of("nDCG(ideal='recall')@2", ranked)


def test_an_ideal_below_zero_divides_or_counts_as_none() -> None:
    signed = Grades.integers(range(-2, 3))
    name = "nDCG(gain='exp2',negatives='raw')@2"
    assert value_of(name, [-1, -1], grades=signed) == 1.0
    empty = name.replace(")@", ",negative_ideal='empty')@")
    assert value_of(empty, [-1, -1], grades=signed) == 0.0
    assert value_of(empty, [1, -1], grades=signed) == value_of(name, [1, -1], grades=signed)
