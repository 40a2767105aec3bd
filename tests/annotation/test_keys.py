"""Which key stands for which grade."""

from typing import Any

from annotation.keys import keyed_grades


def grades_of(*codes: int) -> list[dict[str, Any]]:
    return [
        {
            "code": code,
            "name": f"grade {code}",
            "definition": "",
            "examples": [],
            "counter_examples": [],
        }
        for code in codes
    ]


def keys_of(*codes: int) -> list[str]:
    return [grade.key for grade in keyed_grades(grades_of(*codes))]


def test_grades_that_are_digits_are_their_own_keys() -> None:
    assert keys_of(0, 1, 2, 3, 4) == ["0", "1", "2", "3", "4"]


def test_a_scale_with_negative_grades_counts_its_keys_from_the_worst() -> None:
    assert keys_of(-2, -1, 0, 1) == ["1", "2", "3", "4"]


def test_grades_beyond_the_tenth_have_no_key() -> None:
    keys = keys_of(*range(12))
    assert keys[:10] == list("1234567890")
    assert keys[10:] == ["", ""]


def test_every_grade_knows_its_place() -> None:
    assert [grade.position for grade in keyed_grades(grades_of(-1, 3, 7))] == [0, 1, 2]
