"""Runs and qrels, as their readers give them."""

import io

import pytest

from judgments.formats.errors import FileRefused
from judgments.formats.trec import QrelsFile, RunFile, read_qrels, read_run


def run_of(text: str) -> RunFile:
    return read_run(io.BytesIO(text.encode()), name="a.run")


def qrels_of(text: str) -> QrelsFile:
    return read_qrels(io.BytesIO(text.encode()), name="a.qrels")


def test_a_run_keeps_queries_and_documents_in_file_order() -> None:
    run = run_of("9 Q0 b 1 0.5 first\n1 Q0 x 7 -1e3 first\n9\tQ0  a 0 .5 last\r\n")
    assert run.query_ids == ("9", "1")
    assert [(q, d, s.tolist()) for q, d, s in run.rankings()] == [
        ("9", ["b", "a"], [0.5, 0.5]),
        ("1", ["x"], [-1000.0]),
    ]
    assert run.tag == "last"
    assert len(run) == 3


def test_qrels_keep_negative_grades_and_ignore_the_second_column() -> None:
    qrels = qrels_of("1  0.5  a   -2\n1 x b 4\n2 0 a +1\n")
    assert list(qrels.pairs()) == [("1", "a", -2), ("1", "b", 4), ("2", "a", 1)]


def test_a_duplicate_document_is_refused_with_both_lines() -> None:
    with pytest.raises(FileRefused) as refused:
        run_of("1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 b 2 1 t\n1 Q0 a 3 0 t\n")
    (problem,) = refused.value.problems
    assert str(problem) == ("a.run:4: duplicate: document “a” of query “1” is already on line 1.")


@pytest.mark.parametrize("score", ["nan", "inf", "-Infinity", "1e400", "1_000.5", "٣", "0x1p3", ""])
def test_a_score_that_is_no_finite_number_is_refused_with_its_line(score: str) -> None:
    with pytest.raises(FileRefused) as refused:
        run_of(f"1 Q0 a 1 2 t\n1 Q0 b 2 {score} t\n")
    (problem,) = refused.value.problems
    assert problem.line == 2
    assert problem.rule in {"score", "not-finite", "columns"}
