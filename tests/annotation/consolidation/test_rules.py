"""What several grades come to, and the laws that every rule keeps."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.consolidation.rules import RULES, majority, mean, median, votes

CODES = (0, 1, 2, 3, 4)
WITH_GAPS = (-2, 0, 1, 3, 7)
grades_lists = st.lists(st.sampled_from(CODES), min_size=1, max_size=9)
every_rule = pytest.mark.parametrize("name", sorted(RULES))


@pytest.mark.parametrize(
    ("grades", "winner"),
    [([3], 3), ([3, 3, 1], 3), ([3, 1], None), ([0, 0, 4, 4, 2], None), ([0, 0, 4, 4, 4], 4)],
)
def test_a_majority_is_the_most_frequent_grade_and_a_tie_has_none(
    grades: list[int], winner: int | None
) -> None:
    assert majority(grades, CODES) == winner


@pytest.mark.parametrize(
    ("grades", "middle"), [([0, 4, 1], 1), ([0, 4], 2), ([1, 2], 2), ([2, 1, 4, 4], 3)]
)
def test_a_median_between_two_grades_is_half_way_rounded_up(grades: list[int], middle: int) -> None:
    assert median(grades, CODES) == middle


@pytest.mark.parametrize(
    ("grades", "average"), [([1, 2], 2), ([1, 1, 2], 1), ([0, 0, 1, 1], 1), ([4, 4, 3], 4)]
)
def test_a_mean_is_rounded_half_up(grades: list[int], average: int) -> None:
    assert mean(grades, CODES) == average


def test_rules_count_steps_of_the_scale_and_not_the_size_of_codes() -> None:
    assert mean([-2, 7], WITH_GAPS) == 1
    assert median([-2, 7, 7], WITH_GAPS) == 7


def test_half_a_step_below_zero_is_rounded_up_too() -> None:
    assert mean([-2, -1], (-2, -1, 0)) == -1


def test_votes_are_listed_from_the_worst_grade_on() -> None:
    assert list(votes([3, 0, 3], CODES).items()) == [(0, 1), (3, 2)]


@every_rule
def test_no_grade_and_an_unknown_grade_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no grades"):
        RULES[name]([], CODES)
    with pytest.raises(ValueError, match="not on the scale"):
        RULES[name]([2, 9], CODES)


@every_rule
@given(grades=grades_lists, random=st.randoms(use_true_random=False))
def test_who_came_first_does_not_matter(name: str, grades: list[int], random: object) -> None:
    shuffled = list(grades)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert RULES[name](shuffled, CODES) == RULES[name](grades, CODES)


@every_rule
@given(grade=st.sampled_from(CODES), count=st.integers(1, 7))
def test_people_who_agree_get_their_grade(name: str, grade: int, count: int) -> None:
    assert RULES[name]([grade] * count, CODES) == grade


@every_rule
@given(grades=grades_lists)
def test_a_conclusion_lies_between_the_worst_and_the_best_grade(
    name: str, grades: list[int]
) -> None:
    concluded = RULES[name](grades, CODES)
    assert concluded is None or min(grades) <= concluded <= max(grades)


@every_rule
@given(grades=grades_lists)
def test_only_the_order_of_the_codes_matters(name: str, grades: list[int]) -> None:
    renamed = dict(zip(CODES, WITH_GAPS, strict=True))
    concluded = RULES[name](grades, CODES)
    expected = None if concluded is None else renamed[concluded]
    assert RULES[name]([renamed[grade] for grade in grades], WITH_GAPS) == expected


@given(grades=grades_lists, at=st.integers(0, 8))
def test_a_better_grade_lowers_neither_median_nor_mean(grades: list[int], at: int) -> None:
    better = list(grades)
    place = at % len(better)
    better[place] = min(better[place] + 1, 4)
    assert median(better, CODES) >= median(grades, CODES)
    assert mean(better, CODES) >= mean(grades, CODES)


@given(grades=grades_lists)
def test_median_and_mean_are_those_of_the_textbook_rounded_half_up(grades: list[int]) -> None:
    assert median(grades, CODES) == int(statistics.median(grades) + 0.5)
    assert mean(grades, CODES) == (2 * sum(grades) + len(grades)) // (2 * len(grades))
    assert abs(mean(grades, CODES) - statistics.mean(grades)) <= 0.5
