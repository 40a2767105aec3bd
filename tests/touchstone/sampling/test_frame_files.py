"""Frames from CSV files: what is read, and what is refused by file, line and rule."""

import gzip
from io import BytesIO

import pytest

from touchstone.files.errors import FileRefused
from touchstone.sampling.frame_files import read_frame
from touchstone.sampling.frames import Frame


def read(text: str | bytes, **columns):
    data = text.encode() if isinstance(text, str) else text
    return read_frame(BytesIO(data), name="frame.csv", **columns)


def test_a_frame_is_read_with_its_strata_and_sizes():
    found = read(
        'Query,band,searches\nusb c,tail,1\n"a, b",head ,7.5\n\nπ,tail,2\n',
        strata="band",
        size="searches",
    )
    expected = Frame.of(["usb c", "a, b", "π"], strata=["tail", "head", "tail"], sizes=[1, 7.5, 2])
    assert [found.queries[row] for row in range(3)] == ["usb c", "a, b", "π"]
    assert found.strata == ("head", "tail")
    assert found.stratum.tolist() == [1, 0, 1]
    assert found.size.tolist() == [1, 7.5, 2]
    assert found.digest == expected.digest


def test_without_columns_there_is_one_stratum_and_every_size_is_1():
    found = read("searches,query\n5,a\n6,b\n")
    assert (found.strata, found.stratum.tolist(), found.size.tolist()) == (("",), [0, 0], [1, 1])


def test_a_gzipped_file_is_the_same_frame():
    text = b"query,n\na,1\nb,2\n"
    assert read(gzip.compress(text), size="n").digest == read(text, size="n").digest


def test_more_lines_than_a_block_are_the_same_frame_in_any_order():
    lines = [f"query {i},s{i % 7},{i % 1000 + 1}\n" for i in range(60_000)]
    columns = {"strata": "s", "size": "n"}
    forward = read("query,s,n\n" + "".join(lines), **columns)
    backward = read("query,s,n\n" + "".join(reversed(lines)), **columns)
    assert len(forward) == 60_000
    assert forward.digest == backward.digest


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        ("", 1, "empty"),
        ("query,s,n\n", 1, "empty"),
        ("text,s,n\na,x,1\n", 1, "header"),
        ("query,s\na,x\n", 1, "header"),
        ("query,s,n,query\na,x,1,b\n", 1, "header"),
        ("query,s,n\na,x,1\n\na,y,2\n", 4, "duplicate"),
        ("query,s,n\na,x,1\nb,x,many\n", 3, "number"),
        ("query,s,n\na,x,1\nb,x,nan\n", 3, "number"),
        ("query,s,n\na,x,1\nb,x,1_0\n", 3, "number"),
        ("query,s,n\na,x,1\nb,x,1e999\n", 3, "not-finite"),
        ("query,s,n\na,x,0\n", 2, "number"),
        ("query,s,n\na,x,1\n,x,1\n", 3, "id"),
        ("query,s,n\na,x,1\nb,x\n", 3, "columns"),
        ('query,s,n\na,x,1\n"b,x,1\nc,x,1\n', 3, "columns"),
        (b"query,s,n\na,x,1\n\xff,x,1\n", 3, "encoding"),
        (b"query,s,n\na,x,1\nb\x00,x,1\n", 3, "nul"),
    ],
)
def test_a_wrong_line_is_named(text, line, rule):
    with pytest.raises(FileRefused) as refused:
        read(text, strata="s", size="n")
    problem = refused.value.problems[0]
    assert (problem.file, problem.line, problem.rule) == ("frame.csv", line, rule)


def test_every_wrong_line_is_named_at_once():
    with pytest.raises(FileRefused) as refused:
        read("query,n\na,x\nb,1\nc,0\nd\n", size="n")
    assert [problem.line for problem in refused.value.problems] == [2, 4, 5]
