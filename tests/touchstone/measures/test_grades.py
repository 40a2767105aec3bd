"""Grades and their levels."""

import numpy as np
import pytest

from touchstone.measures.grades import Grades


def test_levels_ascend_with_the_value_and_start_at_one() -> None:
    grades = Grades.integers([4, -2, 0, 1])
    assert grades.codes == (-2, 0, 1, 4)
    assert grades.levels(np.array([4, 0, -2])).tolist() == [4, 2, 1]


def test_values_need_not_ascend_with_the_codes() -> None:
    grades = Grades.of({0: 0.9, 1: 0.1, 2: 0.5})
    assert grades.codes == (1, 2, 0)
    assert grades.levels(np.array([0, 1, 2])).tolist() == [3, 1, 2]


def test_at_least_finds_the_lowest_level_worth_so_much() -> None:
    grades = Grades.of({0: 0.0, 1: 0.5, 2: 1.0})
    assert [grades.at_least(x) for x in (-1.0, 0.0, 0.4, 0.5, 0.7, 1.0, 2.0)] == [
        1, 1, 2, 2, 3, 3, 4,
    ]  # fmt: skip


def test_a_grade_outside_the_scale_is_named() -> None:
    with pytest.raises(ValueError, match="grade 7 is not on the scale"):
        Grades.integers(range(5)).levels(np.array([0, 7]))


def test_no_grades_have_no_levels() -> None:
    assert Grades.integers(range(5)).levels(np.array([], np.int64)).tolist() == []


@pytest.mark.parametrize(
    ("codes", "values"),
    [
        ((), ()),
        ((1, 1), (1.0, 2.0)),
        ((1,), (float("nan"),)),
        ((1, 2), (2.0, 1.0)),
        ((1, 2), (1.0,)),
    ],
)
def test_a_broken_scale_is_refused(codes: tuple[int, ...], values: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="grade"):
        Grades(codes, values)


def test_a_value_can_be_put_among_the_grades() -> None:
    scale = Grades.integers(range(3))
    wider, moved = scale.with_value(0.5)
    assert list(wider.values) == [0, 0.5, 1, 2]
    assert moved.tolist() == [0, 1, 3, 4]
    assert len(set(wider.codes)) == 4
    same, unmoved = scale.with_value(1)
    assert same is scale
    assert unmoved.tolist() == [0, 1, 2, 3]
