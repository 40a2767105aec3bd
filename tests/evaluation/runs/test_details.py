"""What an uploader says of how a run was made."""

import pytest

from evaluation.runs.details import DetailsRefused, RunDetails, parse_details
from touchstone.errors import DomainError


def test_nothing_has_to_be_said():
    assert parse_details() == RunDetails({}, "", [])


def test_parameters_are_scalars_and_tags_are_as_people_write_versions():
    text = '{"k1": 0.9, "model": "bm25", "stemmed": true, "seed": 7, "prf": null}'
    found = parse_details(parameters=text, commit=" 3f2a9c1 ", tags="v2.1, RM3_on nightly v2.1")
    assert found.parameters == {
        "k1": 0.9,
        "model": "bm25",
        "stemmed": True,
        "seed": 7,
        "prf": None,
    }
    assert (found.commit, found.tags) == ("3f2a9c1", ["v2.1", "RM3_on", "nightly"])


@pytest.mark.parametrize(
    "text",
    [
        "k1=0.9",
        "[1]",
        "3",
        '{"k1": [0.9]}',
        '{"k1": {}}',
        '{"k1": NaN}',
        '{"k1": 1e999}',
        '{"k1": 1, "k1": 2}',
        '{"": 1}',
        '{"a\\u0000": 1}',
        '{"a": "\\u0000"}',
        '{"a": "\\ud800"}',
        '{"a": "' + "x" * 501 + '"}',
        '{"a": 1' + "0" * 5_000 + "}",
        "{" + ", ".join(f'"p{n}": 1' for n in range(101)) + "}",
        "[" * 9_000,
        " " * 9_999 + "{}",
    ],
)
def test_what_are_no_parameters_is_refused(text):
    with pytest.raises(DetailsRefused) as error:
        parse_details(parameters=text)
    assert error.value.code == "parameters_invalid"


@pytest.mark.parametrize(
    ("field", "text", "code"),
    [
        ("commit", "x" * 101, "commit_invalid"),
        ("commit", "a\nb", "commit_invalid"),
        ("tags", "<b>", "tag_invalid"),
        ("tags", "x" * 41, "tag_invalid"),
        ("tags", " ".join("abcdefghijk"), "too_many_tags"),
    ],
)
def test_so_are_other_commits_and_tags(field, text, code):
    with pytest.raises(DomainError) as error:
        parse_details(**{field: text})
    assert error.value.code == code
