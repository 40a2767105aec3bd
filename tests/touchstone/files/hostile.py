"""Files that someone might send by mistake or on purpose, and what each reader answers."""

import bz2
import gzip
import lzma
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from touchstone.files.reading import DOCUMENT_LIMITS, TREC_LIMITS, Limits

LINES: Final = {
    "run": (b"1 Q0 a 1 3 t", b"1 Q0 b 2 2 t", b"1 Q0 c 3 1 t"),
    "qrels": (b"1 0 a 3", b"1 0 b 2", b"1 0 c 1"),
    "queries": (b"a\talpha", b"b\tbeta", b"c\tgamma"),
    "documents": (b'{"id": "a", "text": "x"}', b'{"id": "b"}', b'{"id": "c", "url": "u"}'),
}
BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Case:
    """rule: of the first problem; None where the file is taken. content: a path if it is text."""

    name: str
    kind: str
    content: bytes | str
    rule: str | None
    line: int = 1
    column: int | None = None
    limits: Limits | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


def all_cases() -> list[Case]:
    """Every case; those whose bytes are not gzip are there a second time, gzipped."""
    return [*_plain_cases(), *_gzip_cases(), *_size_cases()]


def _plain_cases() -> Iterator[Case]:
    plain = [*_broken_byte_cases(), *_line_end_cases(), *_empty_cases()]
    yield from plain
    for case in plain:
        assert isinstance(case.content, bytes)
        yield replace(case, name=f"{case.name}, gzipped", content=gzip.compress(case.content))
    yield from _other_format_cases()


def _file(kind: str, end: bytes = b"\n") -> bytes:
    return b"".join(line + end for line in LINES[kind])


def _with_in_line_2(kind: str, piece: bytes) -> bytes:
    first, second, third = LINES[kind]
    return b"\n".join((first, second.replace(b"b", b"b" + piece, 1), third)) + b"\n"


def _broken_byte_cases() -> Iterator[Case]:
    pieces = {
        "a byte that is never UTF-8": (b"\xff", "encoding"),
        "Latin-1": ("é".encode("latin-1"), "encoding"),
        "Windows-1252 quotes": (b"\x93x\x94", "encoding"),
        "Shift JIS": ("日本".encode("shift_jis"), "encoding"),
        "NUL in two bytes": (b"\xc0\x80", "encoding"),
        "a slash in two bytes": (b"\xc0\xaf", "encoding"),
        "half of a surrogate pair": (b"\xed\xa0\x80", "encoding"),
        "a surrogate pair (CESU-8)": ("😀".encode("utf-16-be"), "encoding"),
        "a code point beyond Unicode": (b"\xf4\x90\x80\x80", "encoding"),
        "a lone continuation byte": (b"\x80", "encoding"),
        "a character cut off": ("日".encode()[:2], "encoding"),
        "NUL": (b"\x00", "nul"),
        "many NULs": (b"\x00" * 1000, "nul"),
        "a carriage return": (b"\r", "line-end"),
    }
    for kind in LINES:
        column = LINES[kind][1].index(b"b") + 2
        for name, (piece, rule) in pieces.items():
            yield Case(name, kind, _with_in_line_2(kind, piece), rule, 2, column)
        cut_off = _file(kind)[:-1] + "日".encode()[:1]
        yield Case("the last character cut off", kind, cut_off, "encoding", 3)
        yield Case("NUL instead of an end", kind, _file(kind) + b"\x00", "nul", 4)
        yield Case("lines end with NUL", kind, _file(kind, b"\x00"), "nul", 1)


def _line_end_cases() -> Iterator[Case]:
    for kind in LINES:
        good = _file(kind)
        joined = good + BOM + good
        yield Case("as it should be", kind, good, None)
        yield Case("lines end as in DOS", kind, _file(kind, b"\r\n"), None)
        yield Case("no end of the last line", kind, good[:-1], None)
        yield Case("empty lines between", kind, good.replace(b"\n", b"\n \t\r\n\n"), None)
        yield Case("a byte order mark", kind, BOM + good, None)
        yield Case("a byte order mark and empty lines", kind, BOM + b"\n\n" + good, None)
        yield Case("lines end as on old Macs", kind, _file(kind, b"\r"), "line-end", 1)
        yield Case("two carriage returns", kind, _file(kind, b"\r\r\n"), "line-end", 1)
        yield Case("line feed, carriage return", kind, _file(kind, b"\n\r"), "line-end", 2)
        yield Case("two byte order marks", kind, BOM + BOM + good, "byte-order-mark", 1, 1)
        yield Case("two files joined", kind, joined, "byte-order-mark", 4, 1)


def _empty_cases() -> Iterator[Case]:
    contents = {
        "nothing": b"",
        "a byte order mark alone": BOM,
        "one empty line": b"\n",
        "many empty lines": b"\r\n" * 100_000,
        "blanks": b" \t  \t",
    }
    for kind in LINES:
        for name, content in contents.items():
            yield Case(name, kind, content, "empty")


def _other_format_cases() -> Iterator[Case]:
    for kind in LINES:
        good = _file(kind)
        text = good.decode()
        contents = {
            "UTF-16 from Windows": (text.encode("utf-16"), "not-text"),
            "UTF-16 with the greater byte first": (
                b"\xfe\xff" + text.encode("utf-16-be"),
                "not-text",
            ),
            "UTF-16 without a mark": (text.encode("utf-16-le"), "nul"),
            "UTF-32": (text.encode("utf-32"), "not-text"),
            "bzip2": (bz2.compress(good), "not-text"),
            "xz": (lzma.compress(good), "not-text"),
            "zstd": (b"\x28\xb5\x2f\xfd\x04\x00", "not-text"),
            "zip": (b"PK\x03\x04\x14\x00\x00\x00\x08\x00", "not-text"),
            "raw deflate": (zlib.compress(good), "encoding"),
            "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "encoding"),
            "an old Word document": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "encoding"),
            "a program": (b"\x7fELF\x02\x01\x01" + bytes(9), "nul"),
            "gzip in gzip": (gzip.compress(gzip.compress(good)), "encoding"),
        }
        for name, (content, rule) in contents.items():
            yield Case(name, kind, content, rule, 1)
        yield Case("a file that is not there", kind, "/no/such/file", "unreadable")
        yield Case("a folder", kind, "/", "unreadable")


def _gzip_cases() -> Iterator[Case]:
    for kind in LINES:
        good = _file(kind)
        packed = gzip.compress(good, mtime=0)
        named = packed[:3] + b"\x08" + packed[4:10] + b"a name.txt\x00" + packed[10:]
        endless = packed[:3] + b"\x08" + packed[4:10] + b"n" * 1_000_000
        first, rest = good[: len(good) // 2], good[len(good) // 2 :]
        yield Case("two gzip parts", kind, gzip.compress(first) + gzip.compress(rest), None)
        yield Case("zeros after gzip", kind, packed + bytes(600_000), None)
        yield Case("an empty gzip part", kind, gzip.compress(b"") + packed, None)
        yield Case("gzip with a file name", kind, named, None)
        yield Case("gzip stored, not packed", kind, gzip.compress(good, 0), None)
        yield Case("a file name without an end", kind, endless, "gzip")
        yield Case("gzip cut off", kind, packed[:-9], "gzip", 4)
        yield Case("gzip without its check sum", kind, packed[:-8], "gzip", 4)
        yield Case("gzip cut off in its check sum", kind, packed[:-1], "gzip", 4)
        yield Case("gzip cut off in its head", kind, packed[:7], "gzip")
        yield Case("two bytes of gzip", kind, packed[:2], "gzip")
        yield Case("a second part cut off", kind, packed + packed[:12], "gzip", 4)
        yield Case("text after gzip", kind, packed + good, "gzip", 4)
        yield Case("another method than deflate", kind, b"\x1f\x8b\x07" + packed[3:], "gzip")
        wrong_sum = packed[:-8] + struct.pack("<I", 12345) + packed[-4:]
        yield Case("a wrong check sum", kind, wrong_sum, "gzip")
        wrong_size = packed[:-4] + struct.pack("<I", len(good) + 1)
        yield Case("a wrong length", kind, wrong_size, "gzip")
        flipped = bytearray(packed)
        flipped[15] ^= 0xFF
        yield Case("a flipped byte", kind, bytes(flipped), "gzip")


def _size_cases() -> Iterator[Case]:
    small = Limits(compressed=1000, expanded=100_000, line=200, members=10)
    bomb = gzip.compress(b"a" * 50_000_000)
    for kind in LINES:
        limit = DOCUMENT_LIMITS.line if kind == "documents" else TREC_LIMITS.line
        good = _file(kind)
        packed = gzip.compress(good)
        full = LINES[kind][0] + b" " * (limit - len(LINES[kind][0]))
        blanks = gzip.compress(good + b"\n" * 500_000)
        random_like = gzip.compress(b"".join(b"%x" % (n**9) for n in range(200)))
        yield Case("a line of just the length", kind, full + b"\n", None)
        yield Case("a line one byte too long", kind, full + b" \n", "line-length", 1)
        yield Case("a line too long after good ones", kind, good + full + b" \n", "line-length", 4)
        yield Case("a last line too long", kind, good + full + b" ", "line-length", 4)
        yield Case("a bomb of one line", kind, bomb, "line-length", 1)
        yield Case("too long, gzipped", kind, gzip.compress(good + full + b" "), "line-length", 4)
        yield Case(
            "more empty lines than bytes are allowed",
            kind,
            blanks,
            "expanded-size",
            1,
            limits=small,
        )
        few = Limits(lines=1000)
        many = gzip.compress(b"\n" * 300_000)
        yield Case("a bomb of empty lines", kind, many, "lines", 262_145, limits=few)
        yield Case("larger than allowed", kind, good * 9999, "expanded-size", 1, limits=small)
        yield Case("packed too large", kind, random_like, "compressed-size", 1, limits=small)
        yield Case(
            "eleven gzip parts", kind, packed + gzip.compress(b"\n") * 10, "gzip", 13, limits=small
        )
        empties = gzip.compress(b"") * 200_000
        yield Case("countless empty gzip parts", kind, empties, "gzip", 1)
