"""Files of labels from elsewhere: what they may hold, and every line that is refused."""

import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from annotation.imports.files import NamesRefused, read_given_labels, read_names
from touchstone.files.errors import FileRefused
from touchstone.scales import Scale

NOW = datetime(2026, 3, 14, tzinfo=UTC)
HEADER = "annotator,query_id,doc_id,grade,final_grade,made_at,seconds,note\n"


def read(text):
    source = io.BytesIO(text.encode())
    return read_given_labels(source, name="labels.csv", scale=Scale.default(), at=NOW)


def refused(text):
    with pytest.raises(FileRefused) as found:
        read(text)
    return [(problem.line, problem.rule) for problem in found.value.problems]


def test_labels_are_read_with_all_that_a_line_may_say():
    given = read(HEADER + "ben,q1,d1,3,2,2026-01-02T03:04:05+01:00,4.5,so\ncem,q1,d1,1,,,,\n")
    first, second = given.labels
    assert (first.annotator, first.grade, first.seconds, first.note) == ("ben", 3, 4.5, "so")
    assert first.made_at == datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC)
    assert (second.made_at, second.seconds) == (None, None)
    assert given.finals == {("q1", "d1"): (2, 2)}
    assert (given.annotators, given.fewest_of_pair) == (["ben", "cem"], 2)


def test_json_lines_say_the_same_as_a_table():
    rows = [
        {"annotator": "ben", "query_id": "q1", "doc_id": 7, "grade": 3, "final_grade": 2},
        {"annotator": "cem", "query_id": "q1", "doc_id": "7", "grade": "1", "note": None},
    ]
    table = "annotator,query_id,doc_id,grade,final_grade\nben,q1,7,3,2\ncem,q1,7,1,\n"
    written, listed = read("".join(json.dumps(row) + "\n" for row in rows)), read(table)
    lines = [replace(label, line=label.line + 1) for label in written.labels]  # it has no header
    assert lines == listed.labels
    assert (written.finals, listed.finals) == ({("q1", "7"): (2, 1)}, {("q1", "7"): (2, 2)})


@pytest.mark.parametrize(
    ("lines", "problems"),
    [
        ("ben,q1,d1,9,,,,\n", [(2, "scale")]),
        ("ben,q1,d1,2.5,,,,\n", [(2, "grade")]),
        ("ben,q1,d1,2,x,,,\n", [(2, "grade")]),
        ("ben,q1,d1,2,,yesterday,,\n", [(2, "text")]),
        ("ben,q1,d1,2,,2030-01-01,,\n", [(2, "text")]),
        ("ben,q1,d1,2,,,-1,\n", [(2, "number")]),
        ("ben,q1,d1,2,,,1e999,\n", [(2, "number")]),
        ("ben,q 1,d1,2,,,,\n,q1,d1,2,,,,\n", [(2, "id"), (3, "id")]),
        ("ben,q1,d1,2,,,,\nben,q1,d1,2,,,,\n", [(3, "duplicate")]),
        ("ben,q1,d1,2,2,,,\ncem,q1,d1,2,3,,,\n", [(3, "grade")]),
        ("ben,q1,d1\n", [(2, "columns")]),
        ("", [(1, "empty")]),
    ],
)
def test_every_bad_line_is_named_with_the_rule_that_it_breaks(lines, problems):
    assert refused(HEADER + lines) == problems


def test_a_json_line_without_a_column_or_with_a_list_in_it_is_named():
    good = '{"annotator": "ben", "query_id": "q1", "doc_id": "d1", "grade": 1}\n'
    bad = '{"annotator": "ben", "query_id": [], "doc_id": "d", "grade": 1}\n{\n'
    assert refused(good + bad) == [(2, "columns"), (3, "json")]


def test_who_is_who_is_read_from_lines():
    assert read_names("agent = 1 = ben\n\n a=b \n") == {"agent = 1": "ben", "a": "b"}
    with pytest.raises(NamesRefused):
        read_names("ben")
