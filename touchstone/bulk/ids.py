"""Ids of an Arrow column as words of eight bytes, to hash them and to order them by their bytes."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from touchstone.measures.ordering import ComparedIds

Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.integer[Any]]

_WORD: Final = 8  # bytes
_LONG: Final = 512  # bytes from which on texts are ordered one by one
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)  # 2**64 by the golden ratio
_SHIFT: Final = np.uint64(32)


def hashes(ids: pa.Array) -> Words:
    """A hash of 64 bits of every id: the same for the same id in any process, of int64 or text."""
    if pa.types.is_int64(ids.type):
        return _mixed(ids.to_numpy(zero_copy_only=False).view(np.uint64) * _MIX)
    texts = _Texts.of(ids)
    out = texts.lengths.astype(np.uint64) * _MIX
    for position in range(texts.width):
        out = _mixed(out ^ texts.word(position))
    return out


def _mixed(words: Words) -> Words:
    words = (words ^ (words >> _SHIFT)) * _MIX
    return (words ^ (words >> _SHIFT)) * _MIX


@dataclass(frozen=True, eq=False)
class ArrowIds:
    """Documents to be ordered where scores tie: by the bytes of their text, numbers as decimals."""

    ids: pa.Array

    def at(self, positions: Places) -> ComparedIds:
        """Those at these places."""
        taken = self.ids.take(pa.array(positions))
        return _Texts.of(taken.cast(pa.large_string()))


@dataclass(frozen=True, eq=False)
class _Texts:
    """bytes: uint8, eight more than there are. starts, lengths: of each text."""

    bytes: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]

    @classmethod
    def of(cls, texts: pa.Array) -> "_Texts":
        """texts: large_string without nulls."""
        _, offsets, data = texts.buffers()
        ends = np.frombuffer(offsets, np.int64, len(texts) + 1, texts.offset * 8)
        own = np.zeros(int(ends[-1] - ends[0]) + _WORD, np.uint8)
        if data is not None and len(own) > _WORD:
            own[:-_WORD] = np.frombuffer(data, np.uint8)[int(ends[0]) : int(ends[-1])]
        return cls(own, ends[:-1] - ends[0], np.diff(ends))

    @property
    def width(self) -> int:
        """Words of the longest."""
        return -(-int(self.lengths.max(initial=0)) // _WORD)

    def word(self, position: int) -> Words:
        """The bytes 8 place … 8 place + 7 of every text, little-endian; zeros behind its end."""
        anywhere = np.ndarray(
            (len(self.bytes) - _WORD + 1,), "<u8", buffer=self.bytes.data, strides=(1,)
        )
        left = np.clip(self.lengths - position * _WORD, 0, _WORD)
        starts = np.minimum(self.starts + position * _WORD, len(anywhere) - 1)
        words: Words = anywhere[starts]
        return words & _MASKS[left]

    def order_words(self) -> Words:
        """Keys, the most significant first, that order as the texts' bytes do."""
        if self.width * _WORD > _LONG:
            return self._places()
        words = [self.word(position).byteswap() for position in range(self.width)]
        if not self.bytes[:-_WORD].all():
            # of texts that differ in zeros at the end alone, the longer comes later
            words.append(self.lengths.astype(np.uint64))
        return np.array(words, np.uint64).reshape(len(words), len(self.lengths))

    def _places(self) -> Words:
        ends = self.starts + self.lengths
        spans = zip(self.starts.tolist(), ends.tolist(), strict=True)
        raw = [self.bytes[start:end].tobytes() for start, end in spans]
        position = {one: number for number, one in enumerate(sorted(set(raw)))}
        return np.array([[position[one] for one in raw]], np.uint64)


_MASKS: Final = np.array(
    [(1 << (8 * length)) - 1 for length in range(_WORD + 1)], np.uint64
)  # of the first bytes
