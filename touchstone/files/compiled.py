"""Compiled loops over the bytes and ids of files, for processes that read many lines."""

import secrets
from functools import cache
from importlib import import_module
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.integer]
Slots = npt.NDArray[np.int64]

SOUND: Final = 0
UNUSUAL: Final = -1

WORTH: Final = 500_000  # lines that are read as fast without Numba, whose import takes 0.6 s
_SEED: Final = secrets.randbits(64)  # so that no file can be made to fill one slot
_ROOM: Final = 4  # slots for each id, so that few meet


class _Lines:
    """How many lines this process has read."""

    seen = 0


def expect(lines: int) -> None:
    """Prepares for so many lines at once, where that makes compiled loops worth it."""
    if _Lines.seen + lines >= WORTH:
        _Lines.seen = max(_Lines.seen, WORTH)


def loops_after(lines: int) -> Any:
    """The module `loops`, once a process has read so many lines that it is worth it; else None.

    lines: that are read now. None as well where Numba is missing, or can keep nothing of what it
    compiles.
    """
    _Lines.seen += lines
    return None if _Lines.seen < WORTH else _imported()


@cache
def _imported() -> Any:
    try:
        return import_module("touchstone.files.loops")
    except (ImportError, RuntimeError):  # the latter is Numba's where it may write nowhere
        return None


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
