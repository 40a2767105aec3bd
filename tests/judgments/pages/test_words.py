"""How numbers and values are written."""

import math

import pytest

from judgments.pages import words


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.5, 4, "0.5000"),
        (0.12345, 2, "0.12"),
        (-0.345, 2, "−0.34"),
        (-0.00001, 4, "0.0000"),
        (None, 4, "–"),
        (math.nan, 4, "–"),
        (math.inf, 4, "–"),
    ],
)
def test_a_fraction_has_fixed_digits_and_the_unknown_is_a_dash(value, digits, text):
    assert words.fraction(value, digits) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0123, "+0.0123"), (-0.03, "−0.0300"), (0.0, "0.0000"), (-0.00001, "0.0000"), (None, "–")],
)
def test_a_difference_has_its_sign_and_nought_has_none(value, text):
    assert words.signed(value) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.931, 0, "93 %"), (0.931, 1, "93.1 %"), (-0.2, 0, "−20 %"), (-0.001, 0, "0 %")],
)
def test_a_share_is_never_parted_from_its_sign(value, digits, text):
    assert words.percent(value, digits) == text.replace(" ", "\N{NO-BREAK SPACE}")
    assert words.percent(None) == "–"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("blue", "blue"),
        ("", "–"),
        (None, "–"),
        (True, "yes"),
        (0, "0"),
        (["red", "blue"], "red, blue"),
        ([], "–"),
        ({"size": "M", "colours": ["red", "blue"]}, "size M; colours red, blue"),
        ({}, "–"),
    ],
)
def test_a_value_is_written_as_a_person_would(value, text):
    assert words.plain(value) == text
