"""Grades and features as TF-Ranking reads them: ExampleListWithContext messages in a TFRecord file.

A message is written field by field, as protocol buffers have them on the wire, because this much
of it is a page, and the libraries that could do it bring TensorFlow along. A query is a message:
its id is the context, and every document that has a grade is an example.
"""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

QUERY: Final = "query_id"
DOCUMENT: Final = "doc_id"
GRADE: Final = "relevance"
RESERVED: Final = frozenset({QUERY, DOCUMENT, GRADE})
_BYTES, _FLOATS, _INTEGERS = 1, 2, 3  # the kinds of a tensorflow.Feature
_CASTAGNOLI: Final = 0x82F63B78  # x³² + x²⁸ + … of RFC 3720, its bits reversed
_MASK: Final = 0xA282EAD8
_BITS32: Final = 0xFFFFFFFF
_PART: Final = 128  # bytes that are added up apart from the others
_FEW: Final = 8  # parts; with fewer it is not worth it


@dataclass(frozen=True, slots=True)
class GradedExample:
    """A document, its grade from 0 on, and the text of each feature's number; "" where none is."""

    doc_id: str
    grade: int
    values: Sequence[str]


class ListWriter:
    """Writes queries whose documents have these features."""

    def __init__(self, names: Sequence[str]) -> None:
        # all of a feature is known before its number is, which is at the end
        self._before = [_feature(name, _FLOATS, _delimited(1, bytes(4)))[:-4] for name in names]

    def record(self, query_id: str, examples: Iterable[GradedExample]) -> bytes:
        """A query with its documents, framed.

        Raises OverflowError for a feature that is too large for 32 bits.
        """
        message = [_delimited(1, self._example(one)) for one in examples]
        context = _feature(QUERY, _BYTES, _delimited(1, query_id.encode()))
        return _framed(b"".join([*message, _delimited(2, _delimited(1, context))]))

    def _example(self, one: GradedExample) -> bytes:
        features = [
            _feature(DOCUMENT, _BYTES, _delimited(1, one.doc_id.encode())),
            _feature(GRADE, _INTEGERS, _delimited(1, _varint(one.grade))),
        ]
        for before, value in zip(self._before, one.values, strict=True):
            if value:
                features.append(before + struct.pack("<f", float(value)))
        return _delimited(1, b"".join(features))


def crc32c(content: bytes) -> int:
    """The checksum of RFC 3720, appendix B.4.

    It is linear, so what follows from each part alone is found for all parts at once, and joined.
    """
    checksum = _BITS32
    parts = len(content) // _PART
    if parts >= _FEW:
        columns = np.frombuffer(content, np.uint8, parts * _PART).reshape(parts, _PART).T
        alone = np.zeros(parts, np.uint32)
        for column in np.ascontiguousarray(columns):
            alone = _TABLE[(alone ^ column) & 0xFF] ^ (alone >> 8)
        first, second, third, fourth = _behind()
        for own in alone.tolist():
            checksum = own ^ (
                first[checksum & 0xFF]
                ^ second[checksum >> 8 & 0xFF]
                ^ third[checksum >> 16 & 0xFF]
                ^ fourth[checksum >> 24]
            )
    for byte in content[parts * _PART if parts >= _FEW else 0 :]:
        checksum = _BYTES_ADD[(checksum ^ byte) & 0xFF] ^ (checksum >> 8)
    return checksum ^ _BITS32


def _framed(content: bytes) -> bytes:
    """A record of a TFRecord file: its length, its content, and a masked checksum of both."""
    length = struct.pack("<Q", len(content))
    return b"".join((length, _masked(length), content, _masked(content)))


def _masked(content: bytes) -> bytes:
    checksum = crc32c(content)
    turned = checksum >> 15 | checksum << 17
    return struct.pack("<I", (turned + _MASK) & _BITS32)


def _feature(name: str, kind: int, values: bytes) -> bytes:
    """An entry of the map in tensorflow.Features: a name, and a list of values of one kind."""
    value = _delimited(2, _delimited(kind, values))
    return _delimited(1, _delimited(1, name.encode()) + value)


def _delimited(field: int, content: bytes) -> bytes:
    """A field of a message that holds bytes, another message, or packed numbers."""
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    """A number from 0 on, seven bits a byte, the lowest first."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _checksums() -> npt.NDArray[np.uint32]:
    """What one byte adds to the checksum."""
    checksum = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        odd = checksum & 1 == 1
        checksum = np.where(odd, checksum >> 1 ^ np.uint32(_CASTAGNOLI), checksum >> 1)
    return checksum


@cache
def _behind() -> list[list[int]]:
    """What becomes of each byte of a checksum, the lowest first, once a part has gone by."""
    bytes_of = np.arange(256, dtype=np.uint32)
    checksum = np.stack([bytes_of << position for position in (0, 8, 16, 24)])
    for _ in range(_PART):
        checksum = _TABLE[checksum & 0xFF] ^ (checksum >> 8)
    result: list[list[int]] = checksum.tolist()
    return result


_TABLE: Final = _checksums()
_BYTES_ADD: Final[list[int]] = _TABLE.tolist()
