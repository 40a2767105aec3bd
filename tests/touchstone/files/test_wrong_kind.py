"""A file of another kind is called what it is."""

import io

import pytest

from touchstone.files.errors import FileRefused
from touchstone.files.ratings import get_format, read_ratings
from touchstone.files.trec import read_qrels, read_run

RUN = b"q1 Q0 d1 1 7.5 bm25\n"
QRELS = b"q1 0 d1 3\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (QRELS, "these are judgments, not a run"),
        (b"query_id,doc_id,score\n", "this is CSV"),
        (b'{"q1": {"d1": 7.5}}\n', "this is JSON"),
    ],
)
def test_what_is_no_run_is_named(content: bytes, said: str) -> None:
    with pytest.raises(FileRefused) as refused:
        read_run(io.BytesIO(content), name="file")
    assert f"; {said}." in refused.value.problems[0].message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (RUN, "this is a run, not judgments"),
        (b"query_id,doc_id,grade\n", "this is CSV"),
        (b"q1\td1\t0\n", "a run without scores (query document rank) looks like this"),
    ],
)
def test_what_are_no_judgments_is_named(content: bytes, said: str) -> None:
    with pytest.raises(FileRefused) as refused:
        read_qrels(io.BytesIO(content), name="file")
    assert f"; {said}." in refused.value.problems[0].message


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("csv", b"qid,docid,rank,score\nq1,d1,1,3\n"),  # the scores could be grades
        ("csv", b"qid,docno,rank,score\nq1,d1,0,3.5\n"),
        ("csv", b"query_id,doc_id,rank\nq1,d1,1\n"),
        ("beir", b"query_id\tdoc_id\trank\tscore\nq1\td1\t1\t3\n"),
    ],
)
def test_a_table_of_a_run_is_no_table_of_judgments(form: str, content: bytes) -> None:
    with pytest.raises(FileRefused) as refused:
        read_ratings(io.BytesIO(content), get_format(form), name="file")
    (problem,) = refused.value.problems
    assert "this is a run, not judgments" in problem.message


def test_grades_may_come_with_the_ranks_they_were_given_at() -> None:
    content = b"query_id,doc_id,rank,grade\nq1,d1,1,3\n"
    (found,) = read_ratings(io.BytesIO(content), get_format("csv"), name="file")
    assert found.value == "3"


def test_nothing_is_said_of_what_is_not_recognised() -> None:
    with pytest.raises(FileRefused) as refused:
        read_run(io.BytesIO(b"q1 d1 7.5\n"), name="file")
    message = (
        "3 columns, but 6 are needed (query Q0 document rank score tag), "
        "or 3 (query document rank)."
    )
    assert refused.value.problems[0].message == message
