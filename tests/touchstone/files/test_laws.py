"""What holds for every file, whatever is in it."""

import gzip
import io
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from touchstone.files.collections import read_documents, read_queries
from touchstone.files.errors import FileRefused
from touchstone.files.ids import id_problem
from touchstone.files.reading import Source
from touchstone.files.trec import QrelsFile, RunFile, TrecFile, read_qrels, read_run

READERS: dict[str, Callable[[Source], object]] = {
    "run": lambda source: read_run(source, name="file"),
    "run with a rest": lambda source: read_run(source, name="file", text_after_tag=True),
    "qrels": lambda source: read_qrels(source, name="file"),
    "queries": lambda source: list(read_queries(source, name="file")),
    "documents": lambda source: list(read_documents(source, name="file")),
}
PIECES = [
    *("1", "0", "-2", "2.5", "1e3", "1e999", "nan", "9" * 12, "a", "b", "#", "#a", "é", "Q0"),
    *(" ", " ", " ", "\t", "\t", "\n", "\n", "\r\n", "\r", "\x0b", "\x85", "\u00a0", "\u2028"),
    *("\ufeff", "\x00", "d" * 201, '{"id": "a"', '"', "}", ", ", ": ", '"text": "x"', "[", "]"),
    *("\\u0000", "\\ud800", "\\", "id\ttext\n", "1 Q0 a 1 2 t\n", "1 0 a 1\n", "a\tx\n"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
LINES = st.lists(
    st.lists(st.sampled_from(PIECES), min_size=4, max_size=7).map(" ".join), max_size=6
).map("\n".join)


def outcome(read: Callable[[Source], object], content: bytes) -> object:
    """What a reader makes of it, as values that can be compared; a refusal as a list."""
    try:
        found = read(io.BytesIO(content))
    except FileRefused as error:
        refused = error
    else:
        return _values(found)
    assert refused.problems
    assert refused.total >= len(refused.problems)
    assert all(problem.line >= 1 for problem in refused.problems)
    return [(problem.line, problem.column, problem.rule) for problem in refused.problems]


def _values(found: object) -> object:
    match found:
        case RunFile():
            return (found.query_ids, found.ids.texts(), found.scores.tolist())
        case QrelsFile():
            return (found.query_ids, found.ids.texts(), found.grades.tolist())
        case list():
            return tuple(found)
    raise AssertionError(found)


@pytest.mark.parametrize("kind", READERS)
@given(content=st.binary(max_size=60) | TEXTS.map(str.encode) | LINES.map(str.encode))
@example(content=b"\x1f\x8b")
@example(content=b"\x1f\x8b\x08" + bytes(20))
def test_a_reader_takes_a_file_or_refuses_it_and_never_fails(kind: str, content: bytes) -> None:
    assert outcome(READERS[kind], content)
    assert outcome(READERS[kind], gzip.compress(content))


@pytest.mark.parametrize("kind", ["run", "run with a rest", "qrels"])
@given(text=TEXTS | LINES)
def test_looking_at_each_line_finds_what_looking_at_all_at_once_finds(kind: str, text: str) -> None:
    """A comment before it makes the reader look at each line of the same content."""
    content = text.lstrip("\ufeff").encode()
    at_once = outcome(READERS[kind], content)
    one_by_one = outcome(READERS[kind], b"#\n" + content)
    if isinstance(at_once, list):
        moved = [(line + 1, column, rule) for line, column, rule in at_once]
        at_once = [(1, None, "empty")] if at_once == [(1, None, "empty")] else moved
    assert one_by_one == at_once


@given(content=LINES.map(str.encode))
def test_whatever_is_taken_has_ids_that_can_be_written(content: bytes) -> None:
    for read in (read_run, read_qrels):
        try:
            found = read(io.BytesIO(content), name="file")
        except FileRefused:
            continue
        assert not any(id_problem(value) for value in (*found.query_ids, *found.ids.texts()))
        assert found.starts[-1] == len(found) == len(set(_pairs(found)))


def _pairs(found: TrecFile) -> list[tuple[str, str]]:
    return [
        (query_id, doc_id)
        for position, query_id in enumerate(found.query_ids)
        for doc_id in found.doc_ids(position)
    ]
