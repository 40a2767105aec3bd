"""A run's value from its queries' values: plain, by weight, and by segment."""

import math
from fractions import Fraction

import numpy as np
import pytest

from touchstone.measures.averages import (
    Average,
    Groups,
    averages,
    chosen_sums,
    regrouped,
    row_names,
    segment_averages,
    sums_of,
    together,
    without,
)
from touchstone.measures.exact import IntArray
from touchstone.measures.grammar import parse_measure

NAMES = ("RR", "RR(average='segments')", "P(average='weighted')@5", "R(average='segments')@5")
MEASURES = tuple(parse_measure(name) for name in NAMES)
SEGMENTS = ["head", "", "tail", "head", "tail", "head"]
WEIGHTS = [4.0, 1.0, 0.5, 0.25, 2.0, 1.0]
VALUES = np.array([[i / 7, i / 7, 1 / (i + 1), (i % 3) / 3] for i in range(6)])


def sums(rows: list[int], segments: list[str] = SEGMENTS) -> IntArray:
    values = VALUES[rows]
    groups = Groups.of([WEIGHTS[row] for row in rows], [segments[row] for row in rows])
    return sums_of(MEASURES, values, np.ones(values.shape, bool), groups)


def test_each_average_is_what_its_name_says() -> None:
    plain, split, weighted, other = averages(MEASURES, sums(list(range(6))))
    assert plain.value == pytest.approx(VALUES[:, 0].mean(), rel=1e-15)
    assert plain.n == split.n == weighted.n == other.n == 6
    by_hand = [Fraction(0 + 3 + 5, 3), Fraction(1), Fraction(2 + 4, 2)]
    assert split.value == pytest.approx(float(sum(by_hand) / 3 / 7), rel=1e-15)
    assert weighted.value == pytest.approx(np.average(VALUES[:, 2], weights=WEIGHTS), rel=1e-15)
    # one query alone is in the nameless segment: of its spread nothing is known
    assert split.error is None
    assert weighted.error is not None


def test_the_error_of_a_mean_of_means_adds_up_the_segments_errors() -> None:
    rows = [0, 2, 3, 4, 5]
    _, split, *_ = averages(MEASURES, sums(rows))
    head, tail = segment_averages(MEASURES, sums(rows), 1)
    assert (head.n, tail.n) == (3, 2)
    assert head.error is not None
    assert tail.error is not None
    assert split.error == pytest.approx(math.hypot(head.error, tail.error) / 2, rel=1e-14)


def test_without_segments_the_mean_of_means_is_the_mean() -> None:
    plain, split, *_ = averages(MEASURES, sums([0, 1, 2, 3], [""] * 6))
    assert (split.value, split.n) == (plain.value, plain.n)
    assert split.error == pytest.approx(plain.error, rel=1e-15)


def test_a_segment_whose_queries_do_not_count_plays_no_part() -> None:
    measures = (parse_measure("nDCG(empty='skip',average='segments')@5"),)
    values, counted = np.array([[0.5], [0.0]]), np.array([[True], [False]])
    groups = Groups.of([1.0, 1.0], ["head", "tail"])
    (found,) = averages(measures, sums_of(measures, values, counted, groups))
    assert found == Average(0.5, None, 1)


def test_nothing_at_all_has_no_average() -> None:
    assert {own.value for own in averages(MEASURES, sums([]))} == {None}


def test_sums_that_move_between_segments_come_back_the_same() -> None:
    every = ("", "head", "tail", "zoo")
    old = sums([0, 2, 3])
    wide = regrouped(MEASURES, old[None], ("head", "tail"), every)
    assert wide.shape[1] == old.shape[0] + 2 * 2
    assert np.array_equal(regrouped(MEASURES, wide, every, ("head", "tail"))[0], old)
    # the rows of one segment go to its new place
    names = row_names(MEASURES, every)
    assert np.array_equal(wide[0, names.index("RR(average='segments') in segment 'tail'")], old[5])


def test_differences_undo_sums_also_in_rows_that_carry_nothing() -> None:
    same = ("", "head", "tail")
    both, some = sums(list(range(6))), sums([0, 1, 2])
    rest = regrouped(MEASURES, sums([3, 4, 5])[None], ("head", "tail"), same)[0]
    assert np.array_equal(together(MEASURES, some, rest), both)
    assert np.array_equal(without(MEASURES, both, rest), some)


def test_some_of_the_measures_can_be_chosen_in_any_order() -> None:
    whole = sums(list(range(6)))
    for places in ([3, 1], [2], [0, 2, 1]):
        own = [MEASURES[place] for place in places]
        right = averages(MEASURES, whole)
        found = averages(own, chosen_sums(MEASURES, whole, places))
        assert found == tuple(right[place] for place in places)
