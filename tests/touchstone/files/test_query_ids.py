"""A file of query ids: what is taken of it, and what is said of the lines that are wrong."""

import gzip
import io

import pytest

from touchstone.files import query_ids
from touchstone.files.errors import FileRefused
from touchstone.files.query_ids import QueryIds, check_known, read_query_ids


def read(content: bytes) -> QueryIds:
    return read_query_ids(io.BytesIO(content), name="ids.txt")


def refused(content: bytes) -> list[tuple[int, str]]:
    with pytest.raises(FileRefused) as caught:
        read(content)
    return [(one.line, one.rule) for one in caught.value.problems]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_ids_stand_one_a_line_and_what_follows_a_tab_is_not_taken(pack):
    content = "\ufeffq1\r\n\n# the tail\n  q2\thow to sort\nq,3;x\n".encode()
    assert read(pack(content)) == QueryIds("ids.txt", {"q1": 1, "q2": 4, "q,3;x": 5})


@pytest.mark.parametrize(
    ("content", "problems"),
    [
        (b"", [(1, "empty")]),
        (b"\n# nothing\n", [(1, "empty")]),
        (b"q1\nq2 q3\nq1\n\tx\n", [(2, "id"), (3, "duplicate"), (4, "id")]),
        (b"q1\n" + b"x" * 201, [(2, "id")]),
        (b"q1\n\xff\n", [(2, "encoding")]),
        (b"PK\x03\x04rest of it", [(1, "not-text")]),
    ],
)
def test_every_wrong_line_is_named(content, problems):
    assert refused(content) == problems


def test_too_many_ids_are_refused(monkeypatch):
    monkeypatch.setattr(query_ids, "MOST_IDS", 2)
    assert len(read(b"q1\nq2\n").lines) == 2
    assert refused(b"q1\nq2\nq3\n") == [(3, "too-much")]


def test_ids_that_the_collection_lacks_are_named_by_their_lines():
    ids = read(b"q1\nnope\nq2\nneither\n")
    check_known(QueryIds("ids.txt", {"q1": 1}), ["q1", "q2"])
    with pytest.raises(FileRefused) as caught:
        check_known(ids, ["q1", "q2"])
    assert [str(one) for one in caught.value.problems] == [
        "ids.txt:2: unknown-query: the collection has no query nope.",
        "ids.txt:4: unknown-query: the collection has no query neither.",
    ]
