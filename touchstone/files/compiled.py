"""Compiled loops over the bytes and ids of files, for processes that read much."""

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

WORTH: Final = 1 << 24  # bytes that are read as fast without Numba, whose import takes 0.6 s
_SEED: Final = secrets.randbits(64)  # so that no file can be made to fill one slot
_ROOM: Final = 4  # slots for each id, so that few meet


class _Bytes:
    """How many bytes this process has read."""

    read = 0


def expect(n_bytes: int) -> None:
    """Prepares for so many bytes, where they make compiled loops worth it."""
    if _Bytes.read + n_bytes >= WORTH:
        _Bytes.read = max(_Bytes.read, WORTH)


def loops_after(n_bytes: int) -> Any:
    """The module `loops`, once a process has read so much that it is worth it; else None.

    n_bytes: that are read now. None as well where Numba is missing, or can keep nothing of what it
    compiles.
    """
    _Bytes.read += n_bytes
    return None if _Bytes.read < WORTH else _imported()


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
