"""Reads untrusted files: bounded, streamed, and strict about the format of a line.

A source is a path or a binary file object, plain or gzipped (told by its first bytes). Sizes
are counted while reading, so neither a gzip bomb nor an endless line needs more memory than
a block and a line. Lines end at a line feed; one carriage return before it is dropped.
"""

import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np

from touchstone.files.errors import Problems, Rule

Source = str | os.PathLike[str] | BinaryIO
Progress = Callable[[int], None]

KB: Final = 1024
MB: Final = 1024 * KB
GB: Final = 1024 * MB
BLOCK: Final = 256 * KB
BOM: Final = b"\xef\xbb\xbf"
GZIP_MAGIC: Final = b"\x1f\x8b"
OTHER_MAGICS: Final = (
    (re.compile(rb"PK\x03\x04"), "a zip archive or an office document"),
    (re.compile(rb"BZh[1-9]1AY"), "compressed with bzip2"),
    (re.compile(rb"\xfd7zXZ\x00"), "compressed with xz"),
    (re.compile(rb"\x28\xb5\x2f\xfd"), "compressed with zstd"),
    (re.compile(rb"\xff\xfe\x00\x00|\x00\x00\xfe\xff"), "text in UTF-32, not UTF-8"),
    (re.compile(rb"\xff\xfe|\xfe\xff"), "text in UTF-16, not UTF-8"),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a file may be, in bytes unless said otherwise.

    compressed: of a gzip file as it lies on disk. expanded: of the text, gzipped or not.
    line: without its line feed. lines: their number, so that a bomb of empty ones ends soon.
    members: the number of parts that a gzip file is joined of.
    memory: what the parsed content may need, roughly.
    """

    compressed: int = 200 * MB
    expanded: int = 4 * GB
    line: int = 64 * KB
    lines: int = 100_000_000
    members: int = 100_000
    memory: int = 1 * GB


TREC_LIMITS: Final = Limits()
# Of files that a person evaluates on their own machine; line numbers have 32 bits.
OWN_LIMITS: Final = Limits(compressed=64 * GB, expanded=1024 * GB, lines=2**31 - 1, memory=64 * GB)
QUERY_LIMITS: Final = Limits()
DOCUMENT_LIMITS: Final = Limits(line=4 * MB)


@dataclass(frozen=True, slots=True)
class Batch:
    """Whole lines, each with its line feed. line: the number of the first; count: how many."""

    line: int
    count: int
    data: bytes


class _BrokenFileError(Exception):
    """The bytes can't be read further; the caller, which counts the lines, adds the position."""

    def __init__(self, rule: Rule, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message


def size_of(source: Source) -> int:
    """The bytes that it has on disk; 0 where it is no path to a file."""
    if not isinstance(source, str | os.PathLike) or not Path(source).is_file():
        return 0
    return Path(source).stat().st_size


def read_batches(
    source: Source, *, limits: Limits, problems: Problems, progress: Progress | None = None
) -> Iterator[Batch]:
    """The lines of a source, in batches of whole lines of about a block each.

    progress: called after each block with the bytes read from the source so far, as they lie
    on disk (compressed, if they are). A file object is read from where it stands, not closed.
    Raises FileRefused for what makes reading on pointless: an unreadable or damaged file, or
    a limit. What is in a line is not looked at; `line_text` does that.
    """
    line = 1
    rest = bytearray()
    try:
        with _opened(source) as stream:
            for block in _without_mark(_expanded(_raw(stream, progress), limits)):
                cut = block.rfind(b"\n") + 1
                if cut:
                    data = b"".join((rest, memoryview(block)[:cut]))
                    for batch in _checked(data, line, limits, problems):
                        yield batch
                        line = batch.line + batch.count
                    rest.clear()
                rest += block[cut:]
                if len(rest) > limits.line:
                    raise _too_long(limits)
            if rest:
                yield Batch(line, 1, bytes(rest) + b"\n")
    except _BrokenFileError as broken:
        raise problems.stop(line, broken.rule, broken.message) from broken


def read_lines(
    source: Source, *, limits: Limits, problems: Problems, progress: Progress | None = None
) -> Iterator[tuple[int, str]]:
    """(line number, text) of every line that is sound text; the others become problems.

    Raises FileRefused as `read_batches` does. Callers look at `problems` at the end.
    """
    for batch in read_batches(source, limits=limits, problems=problems, progress=progress):
        for number, raw in enumerate(batch.data.split(b"\n")[:-1], start=batch.line):
            text = line_text(raw, number, problems)
            if text is not None:
                yield number, text


def line_text(raw: bytes, number: int, problems: Problems) -> str | None:
    """The text of one line without its end, or None where it is none and a problem was noted."""
    raw = raw.removesuffix(b"\r")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        column = len(raw[: error.start].decode("utf-8")) + 1
        byte = raw[error.start]
        problems.add(
            number, Rule.ENCODING, f"the byte 0x{byte:02X} is not UTF-8 text.", column=column
        )
        return None
    if "\x00" in text:
        problems.add(number, Rule.NUL, "a NUL character.", column=text.index("\x00") + 1)
        return None
    if "\r" in text:
        column = text.index("\r") + 1
        message = "a carriage return inside a line; lines end with a line feed."
        problems.add(number, Rule.LINE_END, message, column=column)
        return None
    if text.startswith("\ufeff"):
        message = "a byte order mark after the file's beginning; were two files concatenated?"
        problems.add(number, Rule.BYTE_ORDER_MARK, message, column=1)
        return None
    return text


def _opened(source: Source) -> AbstractContextManager[BinaryIO]:
    if not isinstance(source, str | os.PathLike):
        return nullcontext(source)
    try:
        return Path(source).open("rb")
    except OSError as error:
        raise _unreadable(error) from error


def _raw(stream: BinaryIO, progress: Progress | None) -> Iterator[bytes]:
    seen = 0
    while block := _read(stream):
        seen += len(block)
        if progress is not None:
            progress(seen)
        yield block


def _read(stream: BinaryIO) -> bytes:
    try:
        return stream.read(BLOCK)
    except OSError as error:
        raise _unreadable(error) from error


def _unreadable(error: OSError) -> _BrokenFileError:
    reason = (error.strerror or "it can't be read").lower()
    return _BrokenFileError(Rule.UNREADABLE, f"{reason}.")


def _expanded(blocks: Iterator[bytes], limits: Limits) -> Iterator[bytes]:
    """The blocks as text bytes, inflated where they are gzip, counted against the limit."""
    head = b""
    for block in blocks:
        head += block
        if len(head) >= 8:
            break
    for magic, what in OTHER_MAGICS:
        if magic.match(head):
            raise _BrokenFileError(Rule.NOT_TEXT, f"it is {what}.")
    inner = (
        _inflated(head, blocks, limits) if head.startswith(GZIP_MAGIC) else _joined(head, blocks)
    )
    seen = 0
    for block in inner:
        seen += len(block)
        if seen > limits.expanded:
            raise _BrokenFileError(Rule.EXPANDED_SIZE, f"larger than {limits.expanded:,} bytes.")
        yield block


def _joined(head: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from blocks


def _inflated(head: bytes, blocks: Iterator[bytes], limits: Limits) -> Iterator[bytes]:
    """gzip's content, at most a block at a time; members that follow each other are joined."""
    compressed = 0
    members = 1
    inflater = zlib.decompressobj(wbits=31)
    for block in _joined(head, blocks):
        compressed += len(block)
        if compressed > limits.compressed:
            raise _BrokenFileError(
                Rule.COMPRESSED_SIZE, f"larger than {limits.compressed:,} bytes."
            )
        data = block
        while data:
            if inflater.eof:
                data = data.lstrip(b"\x00")  # gzip tolerates padding with zeros
                if not data:
                    break
                members += 1
                if members > limits.members:
                    raise _BrokenFileError(Rule.GZIP, f"more than {limits.members:,} gzip parts.")
                inflater = zlib.decompressobj(wbits=31)
            yield from _inflated_member(inflater, data)
            data = inflater.unused_data
    if not inflater.eof:
        raise _BrokenFileError(Rule.GZIP, "the gzip data is truncated; was the upload cut off?")


def _inflated_member(inflater: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    """All that this data adds. A full block may leave output behind even without input."""
    full = True
    while (data or full) and not inflater.eof:
        try:
            out = inflater.decompress(data, BLOCK)
        except zlib.error as error:
            raise _BrokenFileError(Rule.GZIP, "the gzip data is damaged.") from error
        data = inflater.unconsumed_tail
        full = len(out) == BLOCK
        if out:
            yield out


def _without_mark(blocks: Iterator[bytes]) -> Iterator[bytes]:
    head = b""
    for block in blocks:
        head += block
        if len(head) >= len(BOM):
            break
    yield head.removeprefix(BOM)
    yield from blocks


def _checked(data: bytes, line: int, limits: Limits, problems: Problems) -> Iterator[Batch]:
    """The data as one batch; where a line is too long, the lines before it and a refusal."""
    if line > limits.lines:
        raise problems.stop(line, Rule.LINES, f"more than {limits.lines:,} lines.")
    breaks = np.frombuffer(data, dtype=np.uint8) == 10
    width = limits.line // 2
    starts = range(0, len(data) - width + 1, width)
    if all(data.find(b"\n", start, start + width) >= 0 for start in starts):
        # so no line is as long as two of them
        yield Batch(line, int(np.count_nonzero(breaks)), data)
        return
    ends = np.flatnonzero(breaks)
    lengths = np.diff(ends, prepend=-1) - 1
    too_long = np.flatnonzero(lengths > limits.line)
    if not len(too_long):
        yield Batch(line, len(ends), data)
        return
    first = int(too_long[0])
    if first:
        yield Batch(line, first, data[: int(ends[first - 1]) + 1])
    broken = _too_long(limits)
    raise problems.stop(line + first, broken.rule, broken.message)


def _too_long(limits: Limits) -> _BrokenFileError:
    return _BrokenFileError(Rule.LINE_LENGTH, f"a line of more than {limits.line:,} bytes.")
