"""Blocks of a frame as bytes, and back."""

import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.sampling.traffic import Concentration, Int64s

Codes = npt.NDArray[np.uint16]

BLOCK: Final = 65_536  # queries
LEVEL: Final = 1  # of zlib: a third of the time of the usual one, for a tenth more bytes


def pack_texts(texts: Sequence[bytes]) -> bytes:
    """Texts without line feeds, compressed."""
    return zlib.compress(b"\n".join(texts), LEVEL)


def unpack_texts(data: bytes) -> list[bytes]:
    """What `pack_texts` was given; it was not empty."""
    return zlib.decompress(data).split(b"\n")


def pack_numbers(numbers: npt.NDArray[np.integer], dtype: str) -> bytes:
    """Whole numbers, compressed. dtype: little-endian, such as "<i8"."""
    return zlib.compress(numbers.astype(dtype).tobytes(), LEVEL)


def unpack_searches(data: bytes) -> Int64s:
    """int64, as `pack_numbers` packed them."""
    return np.frombuffer(zlib.decompress(data), "<i8")


def unpack_segments(data: bytes, count: int) -> Codes:
    """uint16; zeros for a frame with one segment, whose blocks hold none."""
    if not data:
        return np.zeros(count, np.uint16)
    return np.frombuffer(zlib.decompress(data), "<u2")


def pack_histogram(concentration: Concentration) -> bytes:
    """Both arrays, one after the other."""
    return pack_numbers(np.concatenate([concentration.searches, concentration.queries]), "<i8")


def unpack_histogram(data: bytes) -> Concentration:
    """What `pack_histogram` was given."""
    searches, queries = np.split(unpack_searches(data), 2)
    return Concentration(searches, queries)
