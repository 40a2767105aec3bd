"""The lines of a TREC file all at once, as arrays of bytes; for lines that break no rule.

What is found here is what looking at each line finds (`trec_lines`, which is the authority): where
anything is out of the ordinary, these functions say None, and each line is looked at.
"""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.files.id_columns import LONGEST, WORD, IdColumn
from touchstone.files.ids import MAX_ID_CHARACTERS, NOT_IN_IDS

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

_FOREIGN: Final = re.compile(rf"(?![\x00-\x7e])[{NOT_IN_IDS}]")
_SPARE: Final = 2 * WORD  # zeros before and behind the text, so that whole words can be read
_KEPT: Final = np.array([2 ** (8 * n) - 1 for n in range(WORD + 1)], np.uint64)
_MOST_DIGITS: Final = 15  # that a float64 holds exactly, as it does 10**15
_POWERS: Final = np.array([10.0**n for n in range(_MOST_DIGITS + 1)])
_WHOLE_POWERS: Final = np.array([10**n for n in range(_MOST_DIGITS + 1)], np.uint64)
_U: Final = np.uint64


@dataclass(frozen=True, eq=False)
class Lines:
    """The words of some lines, equally many in each.

    text: the lines' bytes, with zeros before and behind. starts, ends: (n_lines, n_fields).
    """

    text: Bytes
    starts: Places
    ends: Places

    def texts(self, lines: Places, column: int) -> list[str]:
        """What stands in a field of these lines."""
        raw = self.text.tobytes()
        spans = zip(self.starts[lines, column], self.ends[lines, column], strict=True)
        return [raw[start:end].decode() for start, end in spans]

    def longest(self, column: int) -> int:
        """How many bytes the longest word of a field has."""
        return int((self.ends[:, column] - self.starts[:, column]).max())

    def ids(self, column: int) -> IdColumn | None:
        """A field of every line; None where one is too long to be kept as it is."""
        starts = np.ascontiguousarray(self.starts[:, column])
        lengths = self.ends[:, column] - starts
        longest = int(lengths.max())
        if longest > min(LONGEST, MAX_ID_CHARACTERS):
            return None
        out = np.empty((-(-longest // WORD), len(lengths)), np.uint64)
        for place in range(len(out)):
            if place:
                starts = np.minimum(starts + WORD, len(self.text) - WORD)
            np.take(_KEPT, lengths - WORD * place, mode="clip", out=out[place])
            out[place] &= self.words[starts]
        return IdColumn(out.T)

    @property
    def words(self) -> Words:
        """The eight bytes from each byte on, as a number."""
        return np.ndarray((len(self.text) - WORD + 1,), "<u8", self.text, strides=(1,))


def lines_of(data: bytes, count: int, n_fields: int) -> Lines | None:
    """The fields of so many whole lines; None where not every line has just so many.

    None as well where a line is a comment, where the last field is too long for an id, and for
    characters that no field may have.
    """
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    if not (_has_blanks_alone(data, count) and is_plain(data)):
        return None
    text = np.zeros(len(data) + 2 * _SPARE, np.uint8)
    text[_SPARE:-_SPARE] = np.frombuffer(data, np.uint8)
    text[_SPARE - 1] = text[-_SPARE] = 10
    blank = (text[_SPARE - 1 : 1 - _SPARE] <= 32).view(np.int8)
    edges = np.flatnonzero(blank[1:] != blank[:-1])
    edges += _SPARE
    if len(edges) != 2 * n_fields * count:
        return None
    starts, ends = edges[0::2].reshape(count, -1), edges[1::2].reshape(count, -1)
    if not _end_with_lines(text, starts, ends):
        return None
    found = Lines(text, starts, ends)
    begin_comments = (text[starts[:, 0]] == ord("#")).any()
    return None if begin_comments or found.longest(n_fields - 1) > MAX_ID_CHARACTERS else found


def groups_of(column: IdColumn) -> Places:
    """The lines at which an id differs from that of the line before."""
    words = column.words
    differs = np.ones(len(words), bool)
    differs[1:] = words[1:, 0] != words[:-1, 0]
    for place in range(1, words.shape[1]):
        differs[1:] |= words[1:, place] != words[:-1, place]
    return np.flatnonzero(differs)


def plain_numbers(lines: Lines, column: int, *, whole: bool) -> tuple[Floats, Places]:
    """The numbers in a field, and the lines whose number is not written plainly.

    Plain: perhaps a minus; up to 8 digits, or up to 7 and (unless `whole`) a point and more
    of them, 15 in all. Such a number is a whole number by a power of ten, both exact in
    float64, so that their quotient is the number rounded once, as it should be.
    """
    words = lines.words
    starts, ends = lines.starts[:, column].copy(), lines.ends[:, column].copy()
    first = words[starts]
    negative = (first & _U(0xFF)) == ord("-")
    if some_negative := bool(negative.any()):
        starts += negative  # behind the sign
        first = words[starts]
    lengths = ends - starts
    point = np.minimum(_place_of_point(first), lengths)
    after = np.maximum(lengths - point - 1, 0)  # digits behind the point
    digits = _digits(first) << (_U(64) - _U(8) * point.astype(np.uint64))
    lower = _last(_digits(words[ends - WORD]), after)
    odd = _no_digits(digits) | _no_digits(lower)
    decimals = _number(lower)
    if int(after.max()) > WORD:
        upper = _last(_digits(words[ends - 2 * WORD]), after - WORD)
        odd |= _no_digits(upper)
        decimals += _number(upper) * _U(10**WORD)
    sound = (odd == 0) & (point > 0) & (lengths <= _MOST_DIGITS + 1)
    sound &= (point < WORD) | (lengths <= WORD)  # no point among the first eight: it has none
    if whole:
        sound &= point == lengths
    shift = np.minimum(after, len(_POWERS) - 1)
    values = (_number(digits) * _WHOLE_POWERS.take(shift) + decimals).astype(np.float64)
    values /= _POWERS.take(shift)
    if some_negative:
        np.negative(values, out=values, where=negative)
    return values, np.flatnonzero(~sound)


def _has_blanks_alone(data: bytes, count: int) -> bool:
    """Whether there is no control character but tabs and so many ends of lines."""
    bytes_ = np.frombuffer(data, np.uint8)
    tabs = np.count_nonzero(bytes_ == 9) if b"\t" in data else 0
    return np.count_nonzero(bytes_ < 32) == tabs + count and b"\x7f" not in data


def is_plain(data: bytes) -> bool:
    """Whether it is UTF-8, and none of its characters beyond ASCII is one that no id may have."""
    if data.isascii():
        return True
    try:
        return _FOREIGN.search(data.decode("utf-8")) is None
    except UnicodeDecodeError:
        return False


def _end_with_lines(text: Bytes, starts: Places, ends: Places) -> bool:
    """Whether each line ends between the last of its fields and the first of the next line's."""
    if (text[ends[:, -1]] == 10).all():
        return True
    breaks = np.flatnonzero(text == 10)[1 : len(ends) + 1]
    return bool((ends[:, -1] <= breaks).all() and (breaks[:-1] < starts[1:, 0]).all())


def _digits(words: Words) -> Words:
    """Eight characters as eight numbers from 0 to 9; anything else becomes larger."""
    out: Words = words ^ _U(0x3030303030303030)
    return out


def _last(digits: Words, kept: Places) -> Words:
    """Only the last so many of eight digits; zeros before."""
    none = _U(8) * (WORD - np.clip(kept, 0, WORD)).astype(np.uint64)
    out: Words = (digits >> none) << none
    return out


def _no_digits(digits: Words) -> Words:
    """0 where all eight are from 0 to 9."""
    out: Words = digits + _U(0x7676767676767676)
    out |= digits
    out &= _U(0x8080808080808080)
    return out


def _number(digits: Words) -> Words:
    """The number that eight digits make, the first of them the lowest byte.

    Source: the well-known way to parse eight digits in a register, by Lemire and others.
    """
    out = digits * _U(10)
    out += digits >> _U(8)
    out &= _U(0x00FF00FF00FF00FF)
    upper = out >> _U(16)
    out *= _U(100)
    out += upper
    out &= _U(0x0000FFFF0000FFFF)
    upper = out >> _U(32)
    out *= _U(10_000)
    out += upper
    out &= _U(0xFFFFFFFF)
    return out


def _place_of_point(words: Words) -> npt.NDArray[np.integer]:
    """How many of eight characters stand before the first point; 8 where there is none."""
    other = words ^ _U(0x2E2E2E2E2E2E2E2E)
    zero = (other - _U(0x0101010101010101)) & ~other & _U(0x8080808080808080)
    return np.bitwise_count((zero & (~zero + _U(1))) - _U(1)) >> 3
