"""Document ids of many pairs in one array, to be compared, looked up and sorted without strings.

An id is the words of its UTF-8 bytes, eight to a word, little-endian and padded with zeros, which
no id has. One of more than `LONGEST` bytes is a word that no text has, its length and its BLAKE2b
of 128 bits; its text is kept beside.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from touchstone.files.compiled import is_any_repeated, loops_after, places_in

Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.integer]

WORD: Final = 8  # bytes
LONGEST: Final = 200  # bytes of an id that is kept as it is
STRINGS_AT_ONCE: Final = 1 << 16


@dataclass(frozen=True, eq=False)
class IdColumn:
    """words: uint64 (n, width), a row per id. long: the texts of those that are too long for it."""

    words: Words
    long: dict[bytes, str] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Sequence[str]) -> "IdColumn":
        """The column of these ids."""
        long: dict[bytes, str] = {}
        encoded = []
        for text in texts:
            raw = text.encode()
            if len(raw) > LONGEST:
                raw = _abridged(raw)
                long[raw] = text
            encoded.append(raw)
        return cls(cls.of_raw(encoded).words, long)

    @classmethod
    def of_raw(cls, ids: Sequence[bytes]) -> "IdColumn":
        """The column of these ids' UTF-8 bytes, none of which has more than `LONGEST`."""
        width = max(1, -(-max(map(len, ids), default=0) // WORD))
        rows = np.array(ids, f"S{width * WORD}")
        return cls(rows.view("<u8").reshape(len(ids), width).astype(np.uint64, copy=False))

    def __len__(self) -> int:
        return len(self.words)

    def at(self, positions: Places | slice) -> "IdColumn":
        """The ids at these places."""
        return IdColumn(self.words[positions], self.long)

    def widened(self, width: int) -> Words:
        """The words, so many for each id; not fewer than there are."""
        if self.words.shape[1] == width:
            return self.words
        out = np.zeros((len(self), width), np.uint64)
        out[:, : self.words.shape[1]] = self.words
        return out

    def raw(self) -> list[bytes]:
        """The ids' bytes, or what stands for those that are too long: different for each id."""
        width = self.words.shape[1] * WORD
        rows = np.ascontiguousarray(self.words.astype("<u8", copy=False)).view(f"S{width}")
        return cast(list[bytes], rows.ravel().tolist())

    def texts(self) -> list[str]:
        """The ids as strings."""
        if not self.long:
            return [raw.decode() for raw in self.raw()]
        return [self.long.get(raw) or raw.decode() for raw in self.raw()]

    def parts(self) -> Iterator[tuple[slice, list[str]]]:
        """The ids as strings, some at a time, and where these are."""
        for start in range(0, len(self), STRINGS_AT_ONCE):
            own = slice(start, start + STRINGS_AT_ONCE)
            yield own, self.at(own).texts()

    @cached_property
    def numbered(self) -> tuple["IdColumn", npt.NDArray[np.int32]]:
        """The different ids, and for each pair which it is.

        They are in the order of their bytes, but for those too long for their words.
        """
        order = np.lexsort(self.words.astype("<u8", copy=False).view(">u8").T[::-1])
        is_new = np.zeros(len(self), bool)
        is_new[:1] = True
        for column in self.words.T:
            own = column[order]
            is_new[1:] |= own[1:] != own[:-1]
        codes = np.empty(len(self), np.int32)
        codes[order] = np.cumsum(is_new, dtype=np.int32) - 1
        codes.flags.writeable = False
        return self.at(order[is_new]), codes

    def order_words(self) -> Words:
        """(width, n), most significant first: they order as the ids' UTF-8 bytes do.

        Ids too long for their words stand by the position of their text in the batch.
        """
        if not self.long:
            return np.ascontiguousarray(self.words.T).byteswap()
        raw = [text.encode() for text in self.texts()]
        position = {one: number for number, one in enumerate(sorted(set(raw)))}
        return np.array([[position[one] for one in raw]], np.uint64)


def found_in(
    ids: IdColumn, starts: Places, among: IdColumn, of_others: Places, others_of: Places
) -> npt.NDArray[np.int32]:
    """For each id of a group, its place among the ids of another column's group; -1: not there.

    starts: where each group begins, and where the last ends. of_others: likewise for `among`,
    in which no group has an id twice. others_of: the group to look in; -1: none.
    """
    if (compiled := loops_after(0)) is not None:
        width = max(ids.words.shape[1], among.words.shape[1])
        return places_in(
            compiled,
            ids.widened(width),
            starts,
            others=among.widened(width),
            of_others=of_others,
            others_of=others_of,
        )
    out = np.full(len(ids), -1, np.int32)
    for (start, stop), other in zip(pairwise(starts.tolist()), others_of.tolist(), strict=True):
        if other < 0:
            continue
        theirs = slice(int(of_others[other]), int(of_others[other + 1]))
        positions = dict(zip(among.at(theirs).raw(), range(theirs.start, theirs.stop), strict=True))
        out[start:stop] = [positions.get(one, -1) for one in ids.at(slice(start, stop)).raw()]
    return out


def repeated(ids: IdColumn, starts: Places) -> list[tuple[int, int]]:
    """(place, earlier place) of every id that its group has before; in order of the places."""
    compiled = loops_after(0)
    if compiled is not None and not is_any_repeated(compiled, ids.words, starts):
        return []
    out = []
    for start, stop in pairwise(starts.tolist()):
        own = ids.at(slice(start, stop)).raw()
        if len(set(own)) < len(own):
            first: dict[bytes, int] = {}
            earlier = [first.setdefault(one, position) for position, one in enumerate(own)]
            out += [(start + at, start + one) for at, one in enumerate(earlier) if one != at]
    return out


def _abridged(raw: bytes) -> bytes:
    digest = hashlib.blake2b(raw, digest_size=16).digest()
    # a last byte that is not 0, so that nothing of it is taken for padding
    return b"\xff" * WORD + digest + len(raw).to_bytes(2, "little") + b"\x01"
