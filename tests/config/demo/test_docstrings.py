"""Cleaning docstrings."""

from config.demo.docstrings import is_worth_reading, tidy_text


def test_indentation_and_trailing_blanks_go() -> None:
    assert tidy_text("One.  \n\n        two\n          three\r\n    ") == "One.\n\ntwo\n  three"


def test_control_characters_go() -> None:
    assert tidy_text("a\x00b\x1bc\x0cd") == "abcd"


def test_two_words_are_not_worth_reading() -> None:
    assert not is_worth_reading("Do it.")
    assert is_worth_reading("Greatest Common Divisor.")
