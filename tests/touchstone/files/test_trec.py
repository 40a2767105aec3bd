"""Runs and qrels, as their readers give them."""

import io
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.files.errors import FileRefused
from touchstone.files.reading import BLOCK
from touchstone.files.trec import (
    QrelsFile,
    RunFile,
    count_ties,
    format_qrels,
    format_run,
    read_qrels,
    read_run,
)
from touchstone.scales import Scale

IDS = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters=" \ufeff"),
    min_size=1,
    max_size=8,
).filter(lambda value: value not in (".", ".."))
QUERY_IDS = IDS.filter(lambda value: not value.startswith("#"))
SCORES = st.floats(allow_nan=False, allow_infinity=False)


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


def test_a_grade_outside_the_scale_is_refused_with_its_line() -> None:
    content = io.BytesIO(b"1 0 a 4\n1 0 b 5\n1 0 c -1\n")
    with pytest.raises(FileRefused) as refused:
        read_qrels(content, name="a.qrels", scale=Scale.default())
    assert [str(problem) for problem in refused.value.problems] == [
        "a.qrels:2: scale: the grade 5 is not on the scale 0..4.",
        "a.qrels:3: scale: the grade -1 is not on the scale 0..4.",
    ]


def test_text_after_the_tag_is_ignored_only_where_asked_for_and_the_rank_is_a_number() -> None:
    line = b"1 Q0 a 1 2 tag and more\n"
    with pytest.raises(FileRefused):
        read_run(io.BytesIO(line), name="a.run")
    assert read_run(io.BytesIO(line), name="a.run", text_after_tag=True).tag == "tag"
    with pytest.raises(FileRefused) as refused:
        read_run(io.BytesIO(b"1 Q0 my doc 1 2 tag\n"), name="a.run", text_after_tag=True)
    assert refused.value.problems[0].rule == "columns"


def test_comments_and_empty_lines_are_skipped_but_counted() -> None:
    qrels = qrels_of("# a comment\n\n1 0 a 1\n \t\r\n  # more\n2 0 a 1")
    assert qrels.lines.tolist() == [3, 6]
    assert qrels.problem(1, "unknown-document", "…").line == 6


@given(st.dictionaries(st.tuples(QUERY_IDS, IDS), st.integers(-128, 127), min_size=1))
def test_qrels_that_were_written_are_read_as_they_were(grades: dict[tuple[str, str], int]) -> None:
    written = format_qrels((q, d, g) for (q, d), g in grades.items())
    read = read_qrels(io.BytesIO(written), name="a.qrels")
    assert {(q, d): g for q, d, g in read.pairs()} == grades
    assert format_qrels(read.pairs()) == written
    assert written.splitlines(keepends=True) == sorted(
        written.splitlines(keepends=True), key=lambda line: line.split(b" ")
    )


def in_file_order(rankings: Iterable[tuple[str, list[str], Any]]) -> Iterator[Any]:
    """Rankings with ranks that count the lines of each query."""
    for query_id, doc_ids, scores in rankings:
        yield query_id, doc_ids, scores, range(1, len(doc_ids) + 1)


@given(
    st.dictionaries(QUERY_IDS, st.dictionaries(IDS, SCORES, min_size=1), min_size=1),
    IDS,
)
def test_a_run_that_was_written_is_read_as_it_was(
    scores: dict[str, dict[str, float]], tag: str
) -> None:
    rankings = [(q, list(by_doc), list(by_doc.values())) for q, by_doc in scores.items()]
    written = format_run(in_file_order(rankings), tag=tag)
    read = read_run(io.BytesIO(written), name="a.run")
    assert [(q, d, s.tolist()) for q, d, s in read.rankings()] == rankings
    assert read.tag == tag
    assert format_run(in_file_order(read.rankings()), tag=read.tag) == written


def test_a_line_has_the_rank_that_it_is_given() -> None:
    written = format_run([("q", ["a", "b"], [0.1, 3.0], [2, 1])], tag="t")
    assert written == b"q Q0 a 2 0.1 t\nq Q0 b 1 3.0 t\n"


def test_canonical_qrels_do_not_depend_on_the_order_of_the_pairs() -> None:
    pairs = [("10", "b", 1), ("9", "a", 2), ("10", "B", 0), ("é", "a", -1)]
    expected = "10 0 B 0\n10 0 b 1\n9 0 a 2\né 0 a -1\n".encode()
    assert format_qrels(pairs) == format_qrels(reversed(pairs)) == expected


@pytest.mark.parametrize(
    ("query_id", "doc_id"),
    [("#1", "a"), ("", "a"), ("1", "a b"), ("1", "a\n"), ("1", "\ud800"), ("1", "a" * 201)],
)
def test_an_id_that_no_reader_would_take_is_not_written(query_id: str, doc_id: str) -> None:
    with pytest.raises(ValueError, match=r"the (query|document)"):
        format_qrels([(query_id, doc_id, 1)])
    with pytest.raises(ValueError, match=r"the (query|document)"):
        format_run([(query_id, [doc_id], [1.0], [1])], tag="t")


def test_a_pair_that_is_there_twice_is_not_written() -> None:
    with pytest.raises(ValueError, match="twice"):
        format_qrels([("1", "a", 1), ("1", "a", 2)])


def test_a_score_that_is_not_finite_is_not_written() -> None:
    with pytest.raises(ValueError, match="nan"):
        format_run([("1", ["a"], [float("nan")], [1])], tag="t")


def test_a_run_of_many_documents_takes_at_most_300_bytes_a_line(tmp_path: Path) -> None:
    path = tmp_path / "large.run"
    with path.open("w") as file:
        for query in range(2_000):
            file.writelines(
                f"{query} Q0 clueweb09-en{query:06d}-{rank:03d} {rank} {100 / rank:.6f} large\n"
                for rank in range(1, 101)
            )
    tracemalloc.start()
    run = read_run(path, name="large")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(run), len(run.documents)) == (200_000, 200_000)
    assert peak <= 300 * 200_000


def test_a_file_of_several_blocks_keeps_every_pair_however_its_ids_lengthen(
    tmp_path: Path,
) -> None:
    pairs = [
        (f"q{n // 7 % 900}", "d" * (n // 6_000 * 7 + 1) + str(n), n % 5) for n in range(40_000)
    ]
    text = "".join(f"{query} 0 {doc_id} {grade}\n" for query, doc_id, grade in pairs).encode()
    assert len(text) > 2 * BLOCK
    (path := tmp_path / "some.qrels").write_bytes(text)
    for source in (path, io.BytesIO(text)):
        qrels = read_qrels(source, name="some.qrels")
        assert sorted(qrels.pairs()) == sorted(pairs)
        assert qrels.query_ids == tuple(f"q{n}" for n in range(900))
        assert qrels.lines[qrels.span(1)].tolist()[:8] == [8, 9, 10, 11, 12, 13, 14, 6308]


@pytest.mark.parametrize("text_after_tag", [False, True])
def test_a_file_of_three_columns_is_ordered_by_its_ranks(text_after_tag: bool) -> None:
    content = b"# PyTerrier\nq1\td9\t0\nq1\td8\t1\nq2 d9 7\n"
    run = read_run(io.BytesIO(content), name="a.run", text_after_tag=text_after_tag)
    assert (run.query_ids, run.ids.texts()) == (("q1", "q2"), ["d9", "d8", "d9"])
    assert run.scores.tolist() == [0.0, -1.0, -7.0]
    assert not np.signbit(run.scores[0])
    assert (run.by_rank, run.has_scores, run.tag) == (True, False, "")


def test_rankings_come_in_file_order_or_in_the_order_of_their_ids() -> None:
    run = read_run(io.BytesIO("z 0 a 0 1 t\né 0 b 0 2 t\na 0 c 0 3 t\n".encode()), name="a.run")
    assert [query for query, _, _ in run.rankings()] == ["z", "é", "a"]
    in_order = [(q, d, s.tolist()) for q, d, s in run.rankings(by_id=True)]
    assert in_order == [("a", ["c"], [3.0]), ("z", ["a"], [1.0]), ("é", ["b"], [2.0])]


def test_the_rank_column_decides_where_it_is_trusted() -> None:
    content = b"q1 Q0 d1 2 1.5 t\nq1 Q0 d2 1 1.5 t\n"
    run = read_run(io.BytesIO(content), name="a.run", by_rank=True)
    assert run.scores.tolist() == [-2.0, -1.0]
    assert (run.by_rank, run.has_scores, run.tag) == (True, True, "t")
    with pytest.raises(FileRefused) as refused:
        read_run(io.BytesIO(b"q1 Q0 d1 first 1.5 t\n"), name="a.run", by_rank=True)
    assert [(own.line, own.column, own.rule) for own in refused.value.problems] == [(1, 10, "rank")]


def test_ties_are_counted_within_a_query_as_they_are_ordered() -> None:
    scores = {"q1": (1, 2, 1, 1), "q2": (1, 16777217, 16777216), "q3": (1, 2), "q4": (2,)}
    lines = [
        f"{query} Q0 d{place} 0 {score} t\n"
        for query, own in scores.items()
        for place, score in enumerate(own)
    ]
    run = read_run(io.BytesIO("".join(lines).encode()), name="a.run")
    assert count_ties(run) == (5, 2)
