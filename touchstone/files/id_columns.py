"""Document ids of many pairs in one array, to be compared, looked up and sorted without strings.

An id is the words of its UTF-8 bytes, eight to a word, little-endian and padded with zeros, which
no id has. One of more than `LONGEST` bytes is a word that no text has, its length and its BLAKE2b
of 128 bits; its text is kept beside.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.files.compiled import is_any_repeated, loops_after, places_in

Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.integer]
Slots = npt.NDArray[np.int32]

WORD: Final = 8  # bytes
LONGEST: Final = 200  # bytes of an id that is kept as it is
_TOGETHER: Final = 1 << 15  # pairs among which equal ones are looked for at once
_MOST_SLOTS: Final = 1 << 17  # of the table that is used for it: it stays in the cache


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
        width = max(1, -(-max(map(len, encoded), default=0) // WORD))
        rows = np.array(encoded, f"S{width * WORD}")
        return cls(rows.view("<u8").reshape(len(texts), width).astype(np.uint64, copy=False), long)

    def __len__(self) -> int:
        return len(self.words)

    def at(self, places: Places | slice) -> "IdColumn":
        """The ids at these places."""
        return IdColumn(self.words[places], self.long)

    def widened(self, width: int) -> Words:
        """The words, so many for each id; not fewer than there are."""
        if self.words.shape[1] == width:
            return self.words
        out = np.zeros((len(self), width), np.uint64)
        out[:, : self.words.shape[1]] = self.words
        return out

    def texts(self) -> list[str]:
        """The ids as strings."""
        width = self.words.shape[1] * WORD
        rows = np.ascontiguousarray(self.words.astype("<u8", copy=False)).view(f"S{width}")
        if not self.long:
            return [raw.decode() for raw in rows.ravel().tolist()]
        return [self.long.get(raw) or raw.decode() for raw in rows.ravel().tolist()]

    @cached_property
    def numbered(self) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
        """The different ids in order of first appearance, and for each pair which it is."""
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        codes = np.fromiter(map(numbers.__getitem__, self.texts()), np.int32, len(self))
        codes.flags.writeable = False
        return tuple(numbers), codes

    @cached_property
    def hashes(self) -> Words:
        """A number for each id: the same for the same id, and hardly ever for another one."""
        out: Words = _mixed(self.words[:, 0])
        for place in range(1, self.words.shape[1]):
            word = self.words[:, place]
            # a word of padding changes nothing, so that the width does not either
            np.copyto(out, _mixed(out ^ word), where=word != 0)
        return out

    def order_words(self) -> Words:
        """(width, n), most significant first: they order as the ids' UTF-8 bytes do.

        Ids too long for their words stand by the place of their text among those at hand.
        """
        if not self.long:
            return np.ascontiguousarray(self.words.T).byteswap()
        raw = [text.encode() for text in self.texts()]
        place = {one: number for number, one in enumerate(sorted(set(raw)))}
        return np.array([[place[one] for one in raw]], np.uint64)

    def same(self, places: Places, other: "IdColumn", theirs: Places) -> npt.NDArray[np.bool_]:
        """Whether the ids at these places are those of another column at theirs."""
        own, width = self.words, min(self.words.shape[1], other.words.shape[1])
        out: npt.NDArray[np.bool_] = own[places, 0] == other.words[theirs, 0]
        for place in range(1, width):
            out &= own[places, place] == other.words[theirs, place]
        for words, rows in ((own, places), (other.words, theirs)):
            for place in range(width, words.shape[1]):
                out &= words[rows, place] == 0
        return out


def found_in(
    ids: IdColumn, starts: Places, among: IdColumn, of_others: Places, others_of: Places
) -> npt.NDArray[np.int32]:
    """For each id of a group, its place among the ids of another column's group; -1: not there.

    starts: where each group begins, and where the last ends. of_others: likewise for `among`,
    in which no group has an id twice. others_of: the group to look in; -1: none.
    """
    if loops := loops_after(len(ids)):
        width = max(ids.words.shape[1], among.words.shape[1])
        others = among.widened(width)
        return places_in(
            loops,
            ids.widened(width),
            starts,
            others=others,
            of_others=of_others,
            others_of=others_of,
        )
    out = np.full(len(ids), -1, np.int32)
    lengths = np.where(others_of < 0, 0, np.diff(of_others)[others_of])
    table = np.empty(_MOST_SLOTS, np.int32)
    for first, last in _stretches(starts, lengths):
        theirs = _ranges(of_others[others_of[first:last]], lengths[first:last])
        if not len(theirs):
            continue
        place = slice(int(starts[first]), int(starts[last]))
        groups = np.arange(last - first)
        own = ids.at(place), np.repeat(groups, np.diff(starts[first : last + 1]))
        other = among.at(theirs), np.repeat(groups, lengths[first:last])
        found = _looked_up(*own, *other, table)
        out[place] = np.where(found < 0, -1, theirs.take(found))
    return out


def repeated(ids: IdColumn, starts: Places) -> list[tuple[int, int]]:
    """(place, earlier place) of every id that its group has before; in order of the places."""
    loops = loops_after(len(ids))
    if loops and not is_any_repeated(loops, ids.words, starts):
        return []
    out: list[tuple[int, int]] = []
    table = np.empty(_MOST_SLOTS, np.int32)
    for first, last in _stretches(starts, np.zeros(len(starts) - 1, np.intp)):
        place = slice(int(starts[first]), int(starts[last]))
        groups = np.repeat(np.arange(last - first), np.diff(starts[first : last + 1]))
        own = ids.at(place)
        if not _all_differ(own, groups, table):
            out += _named(own, groups.tolist(), place.start)
    return out


def _named(ids: IdColumn, groups: list[int], start: int) -> list[tuple[int, int]]:
    seen: dict[tuple[int, str], int] = {}
    out = []
    for number, key in enumerate(zip(groups, ids.texts(), strict=True)):
        earlier = seen.setdefault(key, number)
        if earlier != number:
            out.append((start + number, start + earlier))
    return out


def _stretches(starts: Places, beside: Places) -> list[tuple[int, int]]:
    """Groups first..last, some at a time. beside: what else comes with each."""
    ends = np.cumsum(np.diff(starts) + beside)
    out, first, n_groups = [], 0, len(ends)
    while first < n_groups:
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _TOGETHER, "right")))
        out.append((first, last))
        first = last
    return out


def _all_differ(ids: IdColumn, groups: Places, table: Slots) -> bool:
    """Whether no group has an id twice: every id is put in a slot, and must be found there."""
    slots = _slots(ids, groups, len(table))
    left = np.arange(len(ids))
    while len(left):
        table[slots] = left
        winner = table[slots]
        lost = winner != left
        left, winner, slots = left[lost], winner[lost], slots[lost]
        if (ids.same(left, ids, winner) & (groups[left] == groups[winner])).any():
            return False
    return True


def _looked_up(
    ids: IdColumn, groups: Places, others: IdColumn, their_groups: Places, table: Slots
) -> Places:
    """For each id the place among the others, which differ within a group; -1: not there."""
    slots = _slots(ids, groups, len(table))
    their_slots = _slots(others, their_groups, len(table))
    out = np.full(len(ids), -1, np.intp)
    left = np.arange(len(others))
    while len(left):
        table.fill(-1)
        table[their_slots] = left
        lost = table[their_slots] != left
        left, their_slots = left[lost], their_slots[lost]
        candidate = table[slots]
        asked = np.flatnonzero(candidate >= 0)
        theirs = candidate[asked]
        same = ids.same(asked, others, theirs) & (groups[asked] == their_groups[theirs])
        out[asked[same]] = theirs[same]
    return out


def _slots(ids: IdColumn, groups: Places, n_slots: int) -> Places:
    """A slot for each id of a group."""
    bits = np.uint64(65 - n_slots.bit_length())
    return (_mixed(ids.hashes + groups.astype(np.uint64)) >> bits).astype(np.intp)


def _mixed(words: Words) -> Words:
    """The words, each spread over all its bits. Source: MurmurHash3's and SplitMix's finalisers."""
    out = words ^ (words >> np.uint64(31))
    out *= np.uint64(0x9E3779B97F4A7C15)
    out ^= out >> np.uint64(29)
    out *= np.uint64(0xBF58476D1CE4E5B9)
    return out


def _ranges(starts: Places, lengths: Places) -> Places:
    """The places start, start + 1, … of each range, behind each other."""
    ends = np.cumsum(lengths)
    places: Places = np.arange(int(ends[-1]) if len(ends) else 0)
    places += np.repeat(starts - (ends - lengths), lengths)
    return places


def _abridged(raw: bytes) -> bytes:
    digest = hashlib.blake2b(raw, digest_size=16).digest()
    # a last byte that is not 0, so that nothing of it is taken for padding
    return b"\xff" * WORD + digest + len(raw).to_bytes(2, "little") + b"\x01"
