"""Runs of other tools become lines of a TREC file that hold the same."""

import gzip
import io
from collections import UserDict
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from touchstone.client.errors import ClientUsageError
from touchstone.client.run_texts import name_in, run_form, run_lines
from touchstone.files.trec import read_run

SCORES = {"q1": {"d1": 7.5, "d2": 0.1 + 0.2}, "q2": {"d1": -1e-300}}
LINES = ["q1 Q0 d1 1 7.5 bm25\n", "q1 Q0 d2 2 0.30000000000000004 bm25\n"]
LINES += ["q2 Q0 d1 1 -1e-300 bm25\n"]
COLUMNS: dict[str, list[Any]] = {
    "qid": ["q1", "q1", "q2"],
    "docno": ["d1", "d2", "d1"],
    "score": [7.5, 0.1 + 0.2, -1e-300],
}
# PyTerrier's frames have a number of their own beside the id
PYTERRIER = COLUMNS | {"docid": [8, 9, 8], "rank": [0, 1, 0], "query": ["a", "a", "b"]}


class RanxRun:
    """As ranx.Run: a name, and scores that `to_dict` gives."""

    name = "monday"

    def to_dict(self) -> dict[str, dict[str, float]]:
        return SCORES


def lines_of(run: Any) -> list[str]:
    return list(run_lines(run, tag="bm25"))


@pytest.mark.parametrize(
    "run",
    [
        SCORES,
        UserDict(SCORES),
        RanxRun(),
        pandas.DataFrame(PYTERRIER),
        polars.DataFrame(COLUMNS),
        pyarrow.table(COLUMNS),
        pandas.DataFrame(COLUMNS).rename(columns={"qid": "query_id", "docno": "doc_id"}),
    ],
    ids=["dict", "mapping", "ranx", "PyTerrier", "polars", "pyarrow", "ir_measures"],
)
def test_every_form_of_a_run_is_the_same_lines(run: Any) -> None:
    assert lines_of(run) == LINES


def test_a_frame_without_scores_is_ordered_by_its_ranks() -> None:
    frame = pandas.DataFrame({"qid": [1, 1], "docno": [10, 11], "rank": [1, 0]})
    assert lines_of(frame) == ["1 Q0 10 1 -1.0 bm25\n", "1 Q0 11 2 -0.0 bm25\n"]


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (3, "int is no run"),
        ([("q1", "d1", 1.0)], "list is no run"),
        ({"q1": [1.0]}, "no mapping"),
        ({"q1": {"d 1": 1.0}}, "has blanks"),
        ({"": {"d1": 1.0}}, "is empty"),
        ({1.0: {"d1": 1.0}}, "no query id"),
        ({"q1": {None: 1.0}}, "no document id"),
        ({"q1": {"d1": "high"}}, "no score"),
        ({"q1": {"d1": None}}, "no score"),
        (pandas.DataFrame({"qid": ["q1"], "score": [1.0]}), "docno or doc_id"),
        (pandas.DataFrame({"docno": ["q1"], "score": [1.0]}), "qid or query_id"),
        (pandas.DataFrame({"qid": ["q1"], "docno": ["d1"]}), "score nor rank"),
        # pandas makes floats of whole numbers where one is missing
        (pandas.DataFrame({"qid": [1, None], "docno": ["a", "b"], "score": [1, 2]}), "no query id"),
    ],
)
def test_what_is_no_run_is_refused(run: Any, why: str) -> None:
    with pytest.raises(ClientUsageError, match=why):
        lines_of(run)


# a line that begins with # is a comment
CHARACTERS = st.characters(codec="utf-8", exclude_categories=["C"], exclude_characters="# ")
IDS = st.text(CHARACTERS, min_size=1, max_size=9).filter(lambda text: text not in {".", ".."})
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=30)
@given(st.dictionaries(IDS, st.dictionaries(IDS, FLOATS, min_size=1), min_size=1, max_size=4))
def test_the_server_reads_what_was_there(scores: dict[str, dict[str, float]]) -> None:
    text = "".join(run_lines(scores, tag="bm25")).encode()
    found = read_run(io.BytesIO(text), name="x")
    assert found.tag == "bm25"
    scores_of = {
        query: dict(zip(found.doc_ids(at), found.scores[found.span(at)].tolist(), strict=True))
        for at, query in enumerate(found.query_ids)
    }
    assert scores_of == scores


def test_a_run_says_how_it_is_called() -> None:
    assert name_in(RanxRun()) == "monday"
    assert name_in(SCORES) is None
    assert name_in(Path("folder/monday.run")) is None
    assert name_in(pandas.DataFrame({"name": [1]})) is None


@pytest.mark.parametrize("lines", [1, 100_000])
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_sent_as_it_is_and_packed_where_it_is_large(
    tmp_path: Path, lines: int, packed: bool
) -> None:
    content = b"q1 Q0 d1 1 7.5 bm25\n" * lines
    path = tmp_path / 'a "b".run'
    path.write_bytes(gzip.compress(content) if packed else content)
    with run_form(path, tag="bm25", fields={"tags": "größe"}) as body:
        assert not isinstance(body.content, bytes)
        sent = body.content.read()
    assert len(sent) == body.length < 100_000
    boundary = body.media_type.partition("boundary=")[2].encode()
    field, sent = sent.split(b"\r\n--" + boundary, 1)
    assert field.startswith(b"--" + boundary + b"\r\n")
    assert field.endswith('form-data; name="tags"\r\n\r\ngröße'.encode())
    head, _, rest = sent.partition(b"\r\n\r\n")
    assert b'filename="a %22b%22.run"' in head
    assert rest.endswith(b"\r\n--" + boundary + b"--\r\n")
    own = rest.removesuffix(b"\r\n--" + boundary + b"--\r\n")
    assert own.startswith(b"\x1f\x8b") == (packed or lines > 1)
    assert (gzip.decompress(own) if own.startswith(b"\x1f\x8b") else own) == content


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(ClientUsageError, match=r"no\.run: No such file"),
        run_form(tmp_path / "no.run", tag="bm25", fields={}),
    ):
        pass
