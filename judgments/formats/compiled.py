"""Loops over the bytes and ids of large files, compiled by Numba.

They say what `trec_bytes` and `id_columns` say, two to six times as fast, and are nobody's
authority: `trec_lines` looks at each line that is out of the ordinary. Loading them takes 0.8 s of
CPU time, and compiling them, once on a machine, six more; so they are asked for only when this
process has read as many pairs as begin to make that worth it. Where Numba is missing or has nowhere
to keep what it compiled, everything is read without them.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.integer]
Slots = npt.NDArray[np.int64]

PATIENCE: Final = 1_000_000  # pairs that a process reads without compiled loops
SOUND: Final = 0
UNUSUAL: Final = -1

_MOST_DIGITS: Final = 15  # that a float64 holds exactly, as it does 10**15
_MOST_OF_A_GRADE: Final = 9  # digits that 32 bits hold, whatever they are
_POWERS: Final = 10.0 ** np.arange(_MOST_DIGITS + 1)
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
_HALF: Final = np.uint64(32)
_SEED: Final = np.uint64(secrets.randbits(64))  # so that no file can be made to fill one slot
_ROOM: Final = 4  # slots for each id, so that few meet


@dataclass(frozen=True, slots=True)
class Loops:
    """scan, repeats, find: `_scan`, `_repeats` and `_find`, compiled."""

    scan: Callable[..., tuple[int, int, int]]
    repeats: Callable[..., bool]
    find: Callable[..., None]


class _Patience:
    """How many pairs this process has read so far without compiled loops."""

    pairs = 0


def loops_after(pairs: int) -> Loops | None:
    """The compiled loops, once so many pairs more are worth them; None until then."""
    if _Patience.pairs < PATIENCE:
        _Patience.pairs += pairs
    return compiled_loops() if _Patience.pairs >= PATIENCE else None


@cache
def compiled_loops() -> Loops | None:
    """The compiled loops; None where there is no Numba, or nowhere to keep what it compiles."""
    try:
        import numba
    except ImportError:
        return None
    compile_: Callable[..., Any] = numba.njit(cache=True, error_model="numpy", nogil=True)
    try:
        return Loops(compile_(_scan), compile_(_repeats), compile_(_find))
    except RuntimeError:  # no folder that can be written to
        return None


def slots_for(lengths: Places) -> tuple[Slots, Slots]:
    """Two tables for `repeats` and `find`, with room for the largest group."""
    room = 1 << (_ROOM * int(lengths.max(initial=1))).bit_length()
    return np.zeros(room, np.int64), np.full(room, -1, np.int64)


def seed() -> np.uint64:
    """What the hashes of this process begin with."""
    return _SEED


def _scan(
    data: Bytes,
    n_fields: int,
    value: int,
    whole: bool,
    longest_id: int,
    words: Words,
    values: Floats,
    odd: Slots,
    stretches: Slots,
) -> tuple[int, int, int]:
    """One pass over some whole lines of equally many fields, the third of which is a document.

    value: the field with a number; plain ones become `values`, as `trec_bytes.plain_numbers` does.
    words: (n_lines, width), the documents as `IdColumn.words`.
    odd: (n_lines, 3), filled with (line, start, end) of each number that is not plain.
    stretches: likewise, of the first field where it differs from the line before.
    Returns (SOUND, stretches, odd numbers), (UNUSUAL, 0, 0) where someone must look at the lines,
    or the width that a document needs, twice 0.
    """
    unusual = (-1, 0, 0)
    width, n_lines = words.shape[1], len(values)
    at = line = n_stretches = n_odd = 0
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
                place = 0
                word = shift = np.uint64(0)
                while byte > 32 and byte != 127:
                    if place < width:
                        word |= np.uint64(byte) << shift
                        shift += np.uint64(8)
                        if shift == 64:
                            words[line, place] = word
                            place += 1
                            word = shift = np.uint64(0)
                    at += 1
                    byte = data[at]
                if at - start > longest_id:
                    return unusual
                if at - start > 8 * width:
                    return (at - start + 7) // 8, 0, 0
                while place < width:
                    words[line, place] = word
                    word = np.uint64(0)
                    place += 1
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
                    found = number / _POWERS[behind]
                    values[line] = -found if negative else found
            else:
                while byte > 32 and byte != 127:
                    at += 1
                    byte = data[at]
                length = at - start
                if field == 0:
                    same = length == length_before
                    place = 0
                    while same and place < length:
                        same = data[start + place] == data[before + place]
                        place += 1
                    if not same:
                        stretches[n_stretches, 0] = line
                        stretches[n_stretches, 1], stretches[n_stretches, 2] = start, at
                        n_stretches += 1
                    before, length_before = start, length
                if length > longest_id and (field == 0 or field == n_fields - 1):
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
    return (0, n_stretches, n_odd) if line == n_lines else unusual


def _repeats(words: Words, starts: Places, seed: np.uint64, table: Slots, owners: Slots) -> bool:
    """Whether any group has an id twice.

    words: of all groups' ids. starts: where each group begins, and where the last ends.
    table, owners: from `slots_for`.
    """
    width = words.shape[1]
    mask = np.uint64(len(table) - 1)
    for group in range(len(starts) - 1):
        for own in range(starts[group], starts[group + 1]):
            mixed = seed
            for place in range(width):
                mixed = (mixed ^ words[own, place]) * _SPREAD
                mixed ^= mixed >> _HALF
            slot = mixed & mask
            while owners[slot] == group:
                other = table[slot]
                same = True
                for place in range(width):
                    same = same and words[own, place] == words[other, place]
                if same:
                    return True
                slot = (slot + np.uint64(1)) & mask
            owners[slot] = group
            table[slot] = own
    return False


def _find(
    words: Words,
    starts: Places,
    others: Words,
    of_others: Places,
    others_of: Places,
    seed: np.uint64,
    table: Slots,
    owners: Slots,
    out: npt.NDArray[np.int32],
) -> None:
    """`id_columns.found_in` of words that are equally wide; `out` is filled."""
    width = words.shape[1]
    mask = np.uint64(len(table) - 1)
    for group in range(len(starts) - 1):
        their = others_of[group]
        if their < 0 or of_others[their] == of_others[their + 1]:
            for own in range(starts[group], starts[group + 1]):
                out[own] = -1
            continue
        for other in range(of_others[their], of_others[their + 1]):
            mixed = seed
            for place in range(width):
                mixed = (mixed ^ others[other, place]) * _SPREAD
                mixed ^= mixed >> _HALF
            slot = mixed & mask
            while owners[slot] == group:
                slot = (slot + np.uint64(1)) & mask
            owners[slot] = group
            table[slot] = other
        for own in range(starts[group], starts[group + 1]):
            mixed = seed
            for place in range(width):
                mixed = (mixed ^ words[own, place]) * _SPREAD
                mixed ^= mixed >> _HALF
            slot = mixed & mask
            out[own] = -1
            while owners[slot] == group:
                other = table[slot]
                same = True
                for place in range(width):
                    same = same and words[own, place] == others[other, place]
                if same:
                    out[own] = other
                    break
                slot = (slot + np.uint64(1)) & mask
