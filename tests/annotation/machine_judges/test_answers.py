"""A label comes of an answer that keeps to the schema, and of no other."""

import json

import pytest

from annotation.machine_judges.answers import Outcome, read_completion
from tests.annotation.machine_judges.endpoint import completion, grades


def read(answer, *, gives_reason=True):
    return read_completion(answer[2], codes=(0, 1, 2, 3), gives_reason=gives_reason)


def test_a_valid_answer_has_its_grade_reason_and_tokens():
    found = read(grades(2, "It answers half of it."))
    assert (found.outcome, found.grade, found.detail) == ("labelled", 2, "It answers half of it.")
    assert (found.prompt_tokens, found.completion_tokens) == (100, 10)
    assert read(completion({"grade": 0}), gives_reason=False).grade == 0


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (completion('{"reason": "x", "grade": 2'), "bad_json"),
        (completion('{"reason": "x", "grade": NaN}'), "bad_json"),
        (completion('{"reason": "x", "grade": 1, "grade": 3}'), "bad_json"),
        (completion("I would say 3."), "bad_json"),
        (completion("3"), "bad_json"),
        (completion('```json\n{"reason": "x", "grade": 2}\n```'), "bad_json"),
        (completion({"grade": 2}), "bad_schema"),
        (completion({"reason": "x", "grade": "2"}), "bad_schema"),
        (completion({"reason": "x", "grade": 2.0}), "bad_schema"),
        (completion({"reason": "x", "grade": True}), "bad_schema"),
        (completion({"reason": "x", "grade": None}), "bad_schema"),
        (completion({"reason": "x", "grade": 2, "more": 1}), "bad_schema"),
        (completion({"reason": "x", "grade": 4}), "off_scale"),
        (completion({"reason": "x", "grade": -1}), "off_scale"),
        (completion(None, refusal="I can't help with that."), "declined"),
        (completion('{"reason": "x", "grade": 0}', finish="content_filter"), "declined"),
        (completion('{"reason": "x", "grade": 0}', finish="length"), "truncated"),
        (completion(None), "bad_answer"),
        ((200, {}, b'{"choices": []}'), "bad_answer"),
        ((200, {}, b'{"error": {"message": "overloaded"}}'), "bad_answer"),
        ((200, {}, b"<html>"), "bad_answer"),
        ((200, {}, b"\xff\xfe"), "bad_answer"),
        ((200, {}, b""), "bad_answer"),
    ],
)  # fmt: skip
def test_everything_else_is_a_failure_without_a_grade(answer, outcome):
    found = read(answer)
    assert (found.outcome, found.grade) == (outcome, None)


def test_tokens_that_are_no_counts_are_unknown():
    for usage in ({"prompt_tokens": -1, "completion_tokens": "9"}, {"other": 1}):
        found = read(completion({"reason": "x", "grade": 1}, usage=usage))
        assert (found.prompt_tokens, found.completion_tokens) == (None, None)


def test_every_outcome_has_words_and_only_one_is_a_label():
    from annotation.machine_judges.answers import WORDS
    from annotation.models.machine_judges import OUTCOMES

    assert set(WORDS) == set(Outcome) == set(OUTCOMES)
    assert json.loads(json.dumps([*Outcome]))[0] == "labelled"
