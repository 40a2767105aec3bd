"""Reading in blocks: progress, limits, memory, and sources of every kind."""

import gzip
import io
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.files.errors import ENOUGH, SHOWN, FileRefused, Problems
from touchstone.files.reading import BLOCK, KB, MB, Limits, Source, read_batches, read_lines
from touchstone.files.trec import read_qrels


class Drip(io.BytesIO):
    """A file object that never gives more than a few bytes at once, as a socket may."""

    def __init__(self, content: bytes, piece: int) -> None:
        super().__init__(content)
        self.piece = piece

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = self.piece if size is None or size < 0 else min(size, self.piece)
        return super().read(wanted)


class Endless(io.BytesIO):
    """As many blocks as are wanted, made while they are read."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        super().__init__()
        self.blocks = blocks

    def read(self, _: int | None = -1, /) -> bytes:
        return next(self.blocks, b"")


def lines_of(source: Source, limits: Limits | None = None) -> list[tuple[int, str]]:
    problems = Problems("file")
    lines = list(read_lines(source, limits=limits or Limits(), problems=problems))
    problems.raise_if_any()
    return lines


def test_a_path_and_a_file_object_give_the_same_lines(tmp_path: Path) -> None:
    content = "a\nb é\r\n\nc".encode()
    path = tmp_path / "plain"
    path.write_bytes(content)
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(content))
    expected = [(1, "a"), (2, "b é"), (3, ""), (4, "c")]
    assert lines_of(path) == lines_of(str(packed)) == expected
    assert lines_of(io.BytesIO(content)) == expected


def test_a_file_object_is_read_from_where_it_stands_and_stays_open() -> None:
    stream = io.BytesIO(b"skipped\na\n")
    stream.seek(8)
    assert lines_of(stream) == [(1, "a")]
    assert not stream.closed


def test_progress_counts_the_bytes_of_the_source_up_to_its_size() -> None:
    content = gzip.compress(b"".join(b"%d\n" % (n * 7919) for n in range(500_000)))
    assert len(content) > 2 * BLOCK
    seen: list[int] = []
    batches = read_batches(
        io.BytesIO(content), limits=Limits(), problems=Problems("file"), progress=seen.append
    )
    assert sum(batch.count for batch in batches) == 500_000
    assert seen == sorted(seen)
    assert seen[0] == BLOCK
    assert seen[-1] == len(content)


def test_a_source_that_breaks_while_it_is_read_is_refused_where_it_broke() -> None:
    def blocks() -> Iterator[bytes]:
        yield b"1 0 a 1\n1 0 b 1\n"
        raise OSError(5, "Input/output error")

    with pytest.raises(FileRefused) as refused:
        read_qrels(Endless(blocks()), name="qrels")
    assert str(refused.value) == "qrels:3: unreadable: input/output error."


def test_what_progress_raises_is_not_taken_for_a_fault_of_the_file() -> None:
    def fail(_: int) -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        read_qrels(io.BytesIO(b"1 0 a 1\n"), name="qrels", progress=fail)


@given(
    st.lists(st.text("a é\r\ufeff\x00", max_size=6), max_size=8).map("\n".join),
    st.booleans(),
    st.integers(1, 9),
)
def test_how_the_bytes_arrive_changes_nothing(text: str, packed: bool, piece: int) -> None:
    content = gzip.compress(text.encode()) if packed else text.encode()

    def outcome(source: BinaryIO) -> object:
        try:
            return lines_of(source)
        except FileRefused as refused:
            return refused.problems

    assert outcome(Drip(content, piece)) == outcome(io.BytesIO(content))


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=5))
def test_gzip_parts_are_read_as_one_text(parts: list[bytes]) -> None:
    safe = [part.hex("\n").encode() for part in parts]
    content = b"".join(gzip.compress(part) for part in safe)
    expected = b"".join(safe).decode().split("\n")
    found = [text for _, text in lines_of(Drip(content, 7))]
    assert found == (expected[:-1] if expected[-1] == "" else expected)


@pytest.mark.parametrize("length", [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 1])
def test_lines_that_are_as_long_as_blocks_keep_their_numbers(length: int) -> None:
    content = b"a\n" + b"x" * length + b"\n\nb"
    limits = Limits(line=length)
    expected = [(1, 1), (2, length), (3, 0), (4, 1)]
    for source in (content, gzip.compress(content)):
        found = lines_of(io.BytesIO(source), limits)
        assert [(number, len(text)) for number, text in found] == expected


def test_the_first_hundred_problems_are_kept_by_line_and_all_are_counted() -> None:
    content = b"".join(b"1 0 d%d x\n" % n for n in range(500))
    with pytest.raises(FileRefused) as refused:
        read_qrels(io.BytesIO(content), name="qrels")
    error = refused.value
    assert [problem.line for problem in error.problems] == list(range(1, SHOWN + 1))
    assert (error.total, error.complete, error.code) == (500, True, "file_refused")
    assert error.message == f"{error.problems[0]} (and 499 more)"


def test_reading_ends_when_there_are_more_problems_than_help() -> None:
    seen: list[int] = []
    content = b"not qrels\n" * 1_000_000
    with pytest.raises(FileRefused) as refused:
        read_qrels(io.BytesIO(content), name="qrels", progress=seen.append)
    assert (refused.value.total, refused.value.complete) == (ENOUGH, False)
    assert refused.value.message.endswith("(and at least 9,999 more)")
    assert seen[-1] < len(content) / 10


def test_a_limit_is_named_even_after_a_hundred_other_problems() -> None:
    content = b"x\n" * 200 + b"x" * 70_000
    with pytest.raises(FileRefused) as refused:
        read_qrels(io.BytesIO(content), name="qrels")
    last = refused.value.problems[-1]
    assert (last.line, last.rule) == (201, "line-length")
    assert len(refused.value.problems) == SHOWN


def _peak(source: Source, limits: Limits) -> int:
    """The most memory that reading the lines of a source took, in bytes."""
    problems = Problems("file")
    tracemalloc.start()
    try:
        for _ in read_lines(source, limits=limits, problems=problems):
            pass
    except FileRefused:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_the_file() -> None:
    def blocks(count: int) -> Endless:
        return Endless(b"some words, forty characters or so long\n" * 6400 for _ in range(count))

    assert abs(_peak(blocks(24), Limits()) - _peak(blocks(6), Limits())) < BLOCK


@pytest.mark.parametrize("content", [b"a", b"\n", b"a\n", b"\x00"], ids=ascii)
def test_a_gzip_bomb_takes_a_few_blocks_of_memory(content: bytes) -> None:
    packed = gzip.compress(content * (40 * MB // len(content)))
    assert len(packed) < 160 * KB
    peak = _peak(io.BytesIO(packed), Limits(expanded=MB))
    assert peak < 12 * MB
