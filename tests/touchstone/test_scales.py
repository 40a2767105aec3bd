"""Grade scales: what can be one, and that nothing is lost on the way through JSON."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.scales import GREATEST_CODE, LEAST_CODE, Grade, Scale, ScaleRefused


@st.composite
def scales(draw: st.DrawFn) -> Scale:
    codes = sorted(draw(st.sets(st.integers(LEAST_CODE, GREATEST_CODE), min_size=2, max_size=12)))
    floats = st.floats(allow_nan=False, allow_infinity=False)
    values = sorted(draw(st.lists(floats, min_size=len(codes), max_size=len(codes))))
    return Scale(tuple(Grade(c, f"grade {c}", v) for c, v in zip(codes, values, strict=True)))


def test_the_default_scale_is_0_to_4_with_names() -> None:
    scale = Scale.default()
    assert scale.codes == (0, 1, 2, 3, 4)
    assert [grade.value for grade in scale.grades] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert scale.grade(0).name == "Irrelevant"
    assert scale.grade(4).name == "Perfect"


def test_0_to_4_is_parsed_as_the_default_scale() -> None:
    assert Scale.parse("0..4") == Scale.default()


def test_a_range_with_negative_grades_has_each_whole_number_between() -> None:
    scale = Scale.parse("-2..4")
    assert scale.codes == (-2, -1, 0, 1, 2, 3, 4)
    assert scale.grade(-2) == Grade(-2, "-2", -2.0)


def test_whole_numbers_in_a_list_are_codes() -> None:
    assert Scale.parse("3, 0,1").codes == (0, 1, 3)


def test_real_values_get_codes_from_the_smallest_on() -> None:
    scale = Scale.parse("0.9,0.5,0.1")
    assert [(g.code, g.name, g.value) for g in scale.grades] == [
        (0, "0.1", 0.1),
        (1, "0.5", 0.5),
        (2, "0.9", 0.9),
    ]


def test_a_scale_contains_its_codes_only() -> None:
    scale = Scale.parse("0,1,3")
    assert [code for code in range(-200, 200) if scale.contains(code)] == [0, 1, 3]
    with pytest.raises(KeyError):
        scale.grade(2)


@pytest.mark.parametrize("text", ["0..4", "-2..4", "-128..127", "0,1,3", "0.1,0.5,0.9", "-1.5,2.0"])
def test_a_scale_is_written_as_it_is_parsed(text: str) -> None:
    assert str(Scale.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "4..0",
        "4..4",
        "0..128",
        "-129..0",
        "0..4..8",
        "0...4",
        "0-4",
        "a..b",
        "0,,1",
        "0,0",
        "0,1,1.0",
        "0,nan",
        "0,inf",
        "0,1e400",
        "1_0..2_0",
        "٠..٤",
        "0..9999999999",
        "0 1 2",
    ],
)
def test_what_is_no_scale_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ScaleRefused) as refused:
        Scale.parse(text)
    assert str(refused.value).endswith(".")


@given(scales())
def test_a_scale_comes_back_from_json_as_it_was(scale: Scale) -> None:
    assert Scale.from_json(json.loads(json.dumps(scale.to_json(), allow_nan=False))) == scale


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        "0..4",
        [],
        [{"code": 0, "name": "a", "value": 0.0}],
        [0, 1],
        [{"code": 0, "name": "a"}, {"code": 1, "name": "b"}],
        [{"code": False, "name": "a", "value": 0}, {"code": 1, "name": "b", "value": 1}],
        [{"code": 0, "name": "a", "value": True}, {"code": 1, "name": "b", "value": 1}],
        [{"code": 0.0, "name": "a", "value": 0}, {"code": 1, "name": "b", "value": 1}],
        [{"code": 0, "name": "a", "value": "0"}, {"code": 1, "name": "b", "value": 1}],
        [{"code": 0, "name": "a", "value": 0}, {"code": 1, "name": "A", "value": 1}],
        [{"code": 0, "name": " ", "value": 0}, {"code": 1, "name": "b", "value": 1}],
        [{"code": 0, "name": "a\n", "value": 0}, {"code": 1, "name": "b", "value": 1}],
        [{"code": 0, "name": "a" * 61, "value": 0}, {"code": 1, "name": "b", "value": 1}],
        [{"code": 1, "name": "a", "value": 0}, {"code": 0, "name": "b", "value": 1}],
        [{"code": 0, "name": "a", "value": 1}, {"code": 1, "name": "b", "value": 0}],
        [{"code": 0, "name": "a", "value": 0}, {"code": 128, "name": "b", "value": 1}],
        [{"code": 0, "name": "a", "value": 0}, {"code": 1, "name": "b", "value": math.nan}],
        [{"code": 0, "name": "a", "value": 0}, {"code": 1, "name": "b", "value": math.inf}],
        [{"code": 0, "name": "a", "value": 0}, {"code": 1, "name": "b", "value": 10**400}],
        [{"code": 0, "name": "a", "value": 0, "x": 1}, {"code": 1, "name": "b", "value": 1}],
    ],
)
def test_json_that_is_no_scale_is_refused(data: object) -> None:
    with pytest.raises(ScaleRefused):
        Scale.from_json(data)
