"""Counting levels and summing along ranks, many rankings at once.

Short rankings by the thousand are worked on rank by rank: a matrix whose columns lie together in
memory ("by rank") then needs a few long operations instead of many short ones.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone.measures.grades import LevelArray

CountArray = npt.NDArray[np.int32]

NARROW: Final = 128  # ranks up to which a matrix is better laid out by rank
_MANY: Final = 256  # rankings from which on rank by rank is faster
_BYTE: Final = 255  # ones that a byte can add up


@dataclass(frozen=True)
class Proportion:
    """found of every: documents, counted over all queries together."""

    found: float
    every: int

    @property
    def share(self) -> float | None:
        """found / every; None where there is nothing."""
        return self.found / self.every if self.every else None


def lies_by_rank(rows: npt.NDArray[Any]) -> bool:
    """Whether each column of the matrix is contiguous in memory, and there are many rows."""
    return len(rows) >= _MANY and rows.strides[0] == rows.itemsize


def by_rank(n_rows: int, width: int) -> LevelArray:
    """An empty matrix of levels (n_rows, width): by rank where it is narrow, else row by row."""
    if width <= NARROW and n_rows >= _MANY:
        return np.empty((width, n_rows), np.uint8).T
    return np.empty((n_rows, width), np.uint8)


def running_sums(rows: npt.NDArray[Any], dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
    """The sum from the first rank to each, (n, width): `np.cumsum(rows, axis=1)`, bit for bit."""
    if not lies_by_rank(rows) or rows.shape[1] == 0:
        return np.cumsum(rows, axis=1, dtype=dtype)
    out = np.empty((rows.shape[1], len(rows)), dtype)
    out[0] = rows[:, 0]
    for rank in range(1, len(out)):
        np.add(out[rank - 1], rows[:, rank], out=out[rank])
    return out.T


def count_levels(levels: LevelArray, n_grades: int) -> CountArray:
    """How many documents of each row have level 1, 2, … n_grades; (n, n_grades), by level."""
    if lies_by_rank(levels):
        return counts_at(levels, (levels.shape[1],), n_grades)[0]
    rows, width = levels.shape
    words = -(-width // 8)
    padded = levels
    if width != words * 8 or not levels.flags.c_contiguous:
        padded = np.zeros((rows, words * 8), np.uint8)
        padded[:, :width] = levels
    out = np.zeros((n_grades, rows), np.int32)
    result = np.empty(padded.shape, bool)
    eights = result.view(np.uint64)  # each of its bytes is 0 or 1: words add up without a carry
    for grade in range(n_grades):
        np.equal(padded, grade + 1, out=result)
        for start in range(0, words, _BYTE):
            sums = np.add.reduce(eights[:, start : start + _BYTE], axis=1)
            out[grade] += np.add.reduce(
                sums.view(np.uint8).reshape(rows, 8), axis=1, dtype=np.int32
            )
    return out.T


def counts_at(
    levels: LevelArray, cutoffs: tuple[int, ...], n_grades: int
) -> tuple[CountArray, ...]:
    """`count_levels` of the first ranks alone, at several cutoffs, which ascend."""
    if not lies_by_rank(levels):
        return tuple(count_levels(levels[:, :cutoff], n_grades) for cutoff in cutoffs)
    ranks = levels.T
    sums = np.zeros((n_grades, len(levels)), np.int32)
    out, before = [], 0
    for cutoff in cutoffs:
        for start in range(before, min(cutoff, len(ranks)), _BYTE):
            part = ranks[start : min(start + _BYTE, cutoff)]
            for grade in range(n_grades):
                result = (part == grade + 1).view(np.uint8)
                sums[grade] += np.add.reduce(result, axis=0, dtype=np.uint8)
        before = cutoff
        out.append(sums.copy().T)
    return tuple(out)
