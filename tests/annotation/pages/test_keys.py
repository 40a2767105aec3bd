"""Which key stands for which grade."""

from typing import Any

import pytest

from annotation.pages.keys import KeysRefused, checked_keys, keyed_actions, keyed_grades


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


def test_an_own_key_is_on_the_button_of_its_grade_and_action() -> None:
    chosen = {"grade-2": "d", "undo": "z"}
    assert [grade.key for grade in keyed_grades(grades_of(1, 2, 3), chosen)] == ["1", "d", "3"]
    actions = keyed_actions(chosen)
    assert (actions["undo"].key, actions["later"].key) == ("z", "s")


def test_a_choice_for_a_grade_holds_on_a_scale_with_other_codes() -> None:
    (worst, *_) = keyed_grades(grades_of(-2, -1, 0), {"grade-1": "a"})
    assert (worst.action, worst.key) == ("grade-1", "a")


def test_only_keys_that_differ_are_kept() -> None:
    assert checked_keys({"undo": "u", "later": "ArrowRight", "newer": "F4"}) == {
        "later": "ArrowRight",
        "newer": "F4",
    }


def test_two_keys_can_be_exchanged() -> None:
    assert checked_keys({"undo": "s", "later": "u"}) == {"undo": "s", "later": "u"}


@pytest.mark.parametrize(
    "data",
    [
        {"undo": "s"},
        {"grade-1": "u"},
        {"fly": "y"},
        {"undo": ""},
        {"undo": " "},
        {"undo": "Escape"},
        {"undo": "ab"},
        {"undo": 5},
        {"undo": "\0"},
        ["undo"],
    ],
)
def test_keys_with_two_meanings_or_none_are_refused(data: Any) -> None:
    with pytest.raises(KeysRefused):
        checked_keys(data)
