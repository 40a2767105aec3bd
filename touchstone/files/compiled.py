"""Compiled loops over the bytes and ids of files, for processes that read large ones."""

import secrets
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone import compiled

Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.integer]
Slots = npt.NDArray[np.int64]

SOUND: Final = 0
UNUSUAL: Final = -1

LOOPS: Final = "touchstone.files.loops"
_SAVED: Final = 1.5e-7  # seconds a pair
_SEED: Final = secrets.randbits(64)  # so that no file can be made to fill one slot
_ROOM: Final = 4  # slots for each id, so that few meet
_PIECE: Final = 1 << 24  # bytes, of which twice as many freed ones are kept


def loops_after(pairs: int) -> Any:
    """The module `loops`, compiled, once it is worth it for so many pairs more; else None."""
    return compiled.loops_after(LOOPS, pairs * _SAVED)


def expect(pairs: int) -> None:
    """Prepares for so many pairs more: loads the loops at once where they will be worth it."""
    if pairs:
        _keep_freed_memory()
    if pairs * _SAVED > compiled.LOADING:
        compiled.load_soon()


@cache
def _keep_freed_memory() -> None:
    """Has what is freed kept for what is needed next, once in a process.

    C's library gives it back to the system, to be had anew page by page, until it has seen a large
    piece come and go (mallopt(3), M_MMAP_THRESHOLD). Nobody touches the first such piece; a second
    one would be kept itself, and filled with zeros.
    """
    bytes(_PIECE)


def is_any_repeated(loops: Any, words: Words, starts: Places) -> bool:
    """Whether any group has an id twice. starts: where each begins, and where the last ends."""
    table = _slots_for(np.diff(starts))
    own = np.ascontiguousarray(words), np.ascontiguousarray(starts, np.int64)
    return bool(loops.repeats(*own, _SEED, *table))


def places_in(
    loops: Any,
    words: Words,
    starts: Places,
    *,
    others: Words,
    of_others: Places,
    others_of: Places,
) -> npt.NDArray[np.int32]:
    """`id_columns.found_in` of words that are equally wide."""
    out = np.empty(len(words), np.int32)
    loops.find(
        np.ascontiguousarray(words),
        np.ascontiguousarray(starts, np.int64),
        np.ascontiguousarray(others),
        np.ascontiguousarray(of_others, np.int64),
        np.ascontiguousarray(others_of, np.int64),
        _SEED,
        *_slots_for(np.diff(of_others)),
        out,
    )
    return out


def _slots_for(lengths: Places) -> tuple[Slots, Slots]:
    """Two tables, with room for the largest group."""
    room = 1 << (_ROOM * int(lengths.max(initial=1))).bit_length()
    return np.zeros(room, np.int64), np.full(room, -1, np.int64)
