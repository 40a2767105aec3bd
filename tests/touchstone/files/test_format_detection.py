"""A file of judgments is recognised by how it begins."""

import gzip
import io
import os
from pathlib import Path

import pytest

from touchstone.files.format_detection import choose_format
from touchstone.files.rating_rows import JudgedPair
from touchstone.files.ratings import FORMATS, FormatRefused, write_ratings

PAIRS = [
    JudgedPair("q1", "red shoes for men", "d1", 3),
    JudgedPair("q2", "blue", "d,2", 0),
]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_every_format_that_is_written_is_recognised(name: str, pack, tmp_path: Path) -> None:
    content = pack(write_ratings(FORMATS[name], PAIRS))
    file = io.BytesIO(content)
    found = choose_format(file, "auto")
    assert (found.form.name, file.tell()) == (name, 0)
    assert found.read_as.startswith(f"{FORMATS[name].title} (")
    (tmp_path / "file").write_bytes(content)
    assert choose_format(tmp_path / "file", "auto") == found


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\xef\xbb\xbf# a comment\n\n\nq1 0 d,1 -2\r\n", "trec"),
        (b"red shoes for,d1,3\n", "csv"),
        (b"q1 Q0 d1 1 7.5 bm25\n", "trec"),
        (b'{"judgmentRatings": []}', "opensearch"),
        (b'{"query_id": "q1"}\n', "jsonl"),
        (b"", "trec"),
        (b"\x1f\x8bbroken", "trec"),
        (b"\xff\xfe", "trec"),
    ],
)
def test_what_is_not_recognised_is_left_to_trecs_reader(content: bytes, name: str) -> None:
    assert choose_format(io.BytesIO(content), "auto").form.name == name


@pytest.mark.parametrize(
    ("thirds", "name"),
    [
        ("0 1 2", "trec"),
        ("1 2 3 4", "trec"),
        ("0 1", "beir"),  # too few to tell
        ("2 1 0", "beir"),
        ("0 1 3", "beir"),
        ("0 1 00", "beir"),
        ("1 1 1", "beir"),
        (f"1 2 3 {'9' * 5_000}", "beir"),
    ],
)
def test_a_run_without_scores_is_no_table_of_beir(thirds: str, name: str) -> None:
    lines = [f"q1\td{place}\t{third}\n" for place, third in enumerate(thirds.split())]
    content = "".join([*lines, "q2\td7\t0\n"]).encode()
    assert choose_format(io.BytesIO(content), "auto").form.name == name
    assert choose_format(io.BytesIO(content), "beir").form.name == "beir"


def test_a_named_format_is_not_looked_for() -> None:
    assert choose_format(io.BytesIO(b"a,b,c"), "trec").read_as == "TREC qrels"
    with pytest.raises(FormatRefused):
        choose_format(io.BytesIO(), "excel")


def test_what_can_not_be_read_twice_is_left_alone(tmp_path: Path) -> None:
    assert choose_format(tmp_path / "nowhere", "auto").form.name == "trec"
    os.mkfifo(tmp_path / "pipe")
    assert choose_format(tmp_path / "pipe", "auto").form.name == "trec"
