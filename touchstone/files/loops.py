"""Loops over the bytes and ids of large files, compiled by Numba, which keeps what it made.

They say what `trec_lines` and `id_columns` say, ten to twenty times as fast, and are no one's
authority: `trec_lines` looks at each line that is out of the ordinary. Each is compiled for the one
kind of arguments that it is given, when this module is imported for the first time on a machine.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
from numba import boolean, float64, int32, int64, njit, types, uint8, uint64

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.integer]
Slots = npt.NDArray[np.int64]

_BYTES_READ: Final = types.Array(uint8, 1, "C", readonly=True)
_WORDS_READ: Final = types.Array(uint64, 2, "C", readonly=True)
_PLACES_READ: Final = types.Array(int64, 1, "C", readonly=True)
_SLOTS: Final = int64[::1]

_MOST_DIGITS: Final = 15  # that a float64 holds exactly, as it does 10**15
_MOST_OF_A_GRADE: Final = 9  # digits that 32 bits hold, whatever they are
_POWERS: Final = 10.0 ** np.arange(_MOST_DIGITS + 1)
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
_HALF: Final = np.uint64(32)


@njit(
    int64(
        _BYTES_READ, int64, int64, boolean, int64,
        uint64[:, ::1], float64[::1], int64[:, ::1], _SLOTS, uint8[::1], _SLOTS,
    ),
    cache=True,
)  # fmt: skip
def scan(
    data: Bytes,
    n_fields: int,
    value: int,
    whole: bool,
    longest_id: int,
    words: Words,
    values: Floats,
    odd: Slots,
    chunks: Slots,
    names: Bytes,
    filled: Slots,
) -> int:
    """One pass over some whole lines of equally many fields, the third of which is a document.

    value: the field with a number; plain ones become `values`, as `trec_bytes.plain_numbers` does.
    words: (n_lines, width), the documents as `IdColumn.words`.
    odd: (n_lines, 3), filled with (line, start, end) of each number that is not plain.
    chunks, names: the lines whose first field differs from the line before, and those fields,
    each with a line feed.
    filled: (3,), how many there are of chunks, of odd numbers and of bytes of names.
    Returns 0 (SOUND), -1 (UNUSUAL) where someone must look at the lines, or the width that a
    document needs.
    """
    unusual = -1
    width, n_lines = words.shape[1], len(values)
    at = line = n_chunks = n_odd = n_names = 0
    before, length_before = 0, -1
    while at < len(data):
        if line >= n_lines:
            return unusual
        for field in range(n_fields):
            byte = data[at]
            if field > 0 and byte != 32 and byte != 9:
                return unusual
            while byte == 32 or byte == 9:
                at += 1
                byte = data[at]
            if byte <= 32 or (field == 0 and byte == 35):
                return unusual
            start = at
            if field == 2:
                position = 0
                word = shift = np.uint64(0)
                while byte > 32 and byte != 127:
                    if position < width:
                        word |= np.uint64(byte) << shift
                        shift += np.uint64(8)
                        if shift == 64:
                            words[line, position] = word
                            position += 1
                            word = shift = np.uint64(0)
                    at += 1
                    byte = data[at]
                if at - start > longest_id:
                    return unusual
                if at - start > 8 * width:
                    return (at - start + 7) // 8
                while position < width:
                    words[line, position] = word
                    word = np.uint64(0)
                    position += 1
            elif field == value:
                negative = byte == 45
                if negative:
                    at += 1
                    byte = data[at]
                number = digits = behind = 0
                pointed = False
                while digits <= _MOST_DIGITS:
                    if 48 <= byte <= 57:
                        number = 10 * number + (byte - 48)
                        digits += 1
                        behind += pointed
                    elif byte == 46 and digits > 0 and not pointed and not whole:
                        pointed = True
                    else:
                        break
                    at += 1
                    byte = data[at]
                most = _MOST_OF_A_GRADE if whole else _MOST_DIGITS
                if byte > 32 or digits == 0 or digits > most:
                    while byte > 32 and byte != 127:
                        at += 1
                        byte = data[at]
                    odd[n_odd, 0], odd[n_odd, 1], odd[n_odd, 2] = line, start, at
                    n_odd += 1
                else:
                    result = number / _POWERS[behind]
                    values[line] = -result if negative else result
            else:
                while byte > 32 and byte != 127:
                    at += 1
                    byte = data[at]
                length = at - start
                if field == 0:
                    same = length == length_before
                    position = 0
                    while same and position < length:
                        same = data[start + position] == data[before + position]
                        position += 1
                    if not same:
                        chunks[n_chunks] = line
                        n_chunks += 1
                        for position in range(start, at):
                            names[n_names] = data[position]
                            n_names += 1
                        names[n_names] = 10
                        n_names += 1
                    before, length_before = start, length
                if length > longest_id and (field == 0 or field == n_fields - 1):
                    return unusual
            is_id = field == 0 or field == 2
            if is_id and data[start] == 46 and data[at - 1] == 46 and at - start <= 2:
                return unusual
            if byte == 127:
                return unusual
        byte = data[at]
        while byte == 32 or byte == 9:
            at += 1
            byte = data[at]
        if byte == 13:
            at += 1
            byte = data[at]
        if byte != 10:
            return unusual
        at += 1
        line += 1
    filled[0], filled[1], filled[2] = n_chunks, n_odd, n_names
    return 0 if line == n_lines else unusual


@njit(uint64(_WORDS_READ, int64, uint64), cache=True, forceinline=True)
def _mixed(words: Words, row: int, seed: np.uint64) -> np.uint64:
    """A number for an id, spread over all its bits."""
    mixed = seed
    for position in range(words.shape[1]):
        mixed = (mixed ^ words[row, position]) * _SPREAD
        mixed ^= mixed >> _HALF
    return mixed


@njit(boolean(_WORDS_READ, int64, _WORDS_READ, int64), cache=True, forceinline=True)
def _are_same(words: Words, row: int, others: Words, other: int) -> bool:
    """Whether two ids, equally wide, are the same."""
    for position in range(words.shape[1]):
        if words[row, position] != others[other, position]:
            return False
    return True


@njit(int64(_WORDS_READ, _PLACES_READ, uint64, _SLOTS, _SLOTS), cache=True)
def repeats(words: Words, starts: Places, seed: np.uint64, table: Slots, owners: Slots) -> int:
    """Whether any group has an id twice.

    words: of all groups' ids. starts: where each group begins, and where the last ends.
    table: room for 2**b places. owners: for each, the group that has it; -1: none.
    """
    mask = np.uint64(len(table) - 1)
    for group in range(len(starts) - 1):
        for own in range(starts[group], starts[group + 1]):
            slot = _mixed(words, own, seed) & mask
            while owners[slot] == group:
                other = table[slot]
                if _are_same(words, own, words, other):
                    return 1
                slot = (slot + np.uint64(1)) & mask
            owners[slot] = group
            table[slot] = own
    return 0


@njit(
    int64(
        _WORDS_READ, _PLACES_READ, _WORDS_READ, _PLACES_READ, _PLACES_READ,
        uint64, _SLOTS, _SLOTS, int32[::1],
    ),
    cache=True,
)  # fmt: skip
def find(
    words: Words,
    starts: Places,
    others: Words,
    of_others: Places,
    others_of: Places,
    seed: np.uint64,
    table: Slots,
    owners: Slots,
    out: npt.NDArray[np.int32],
) -> int:
    """`id_columns.found_in` of words that are equally wide; `out` is filled."""
    mask = np.uint64(len(table) - 1)
    for group in range(len(starts) - 1):
        their = others_of[group]
        if their < 0 or of_others[their] == of_others[their + 1]:
            for own in range(starts[group], starts[group + 1]):
                out[own] = -1
            continue
        for other in range(of_others[their], of_others[their + 1]):
            slot = _mixed(others, other, seed) & mask
            while owners[slot] == group:
                slot = (slot + np.uint64(1)) & mask
            owners[slot] = group
            table[slot] = other
        for own in range(starts[group], starts[group + 1]):
            slot = _mixed(words, own, seed) & mask
            out[own] = -1
            while owners[slot] == group:
                other = table[slot]
                if _are_same(words, own, others, other):
                    out[own] = other
                    break
                slot = (slot + np.uint64(1)) & mask
    return 0
