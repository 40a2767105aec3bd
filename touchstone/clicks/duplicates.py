"""Which keys of a long stream were seen before, in memory of 8 bytes a key."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]

LONGEST: Final = 1 << 23


class SeenKeys:
    """All keys so far, as sorted runs of which each is at least twice as long as the next.

    So a key is sorted again a logarithmic number of times, and merging two sorted runs is linear.
    A run of LONGEST is merged no more: for a moment, merging takes two and a half times its memory.
    """

    def __init__(self) -> None:
        self._runs: list[Keys] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, keys: Keys) -> NDArray[np.bool_]:
        """Which of these keys are new, (n,): neither seen before nor earlier in this array."""
        different, first = np.unique(keys, return_index=True)
        is_seen = np.zeros(len(different), dtype=bool)
        for run in self._runs:
            at = np.minimum(np.searchsorted(run, different), len(run) - 1)
            is_seen |= run[at] == different
        is_new = np.zeros(len(keys), dtype=bool)
        is_new[first[~is_seen]] = True
        if not is_seen.all():
            self._push(different[~is_seen])
        return is_new

    def _push(self, run: Keys) -> None:
        self._runs.append(run)
        while len(self._runs) > 1 and len(self._runs[-2]) < min(2 * len(self._runs[-1]), LONGEST):
            merged = np.concatenate([self._runs.pop(), self._runs.pop()])
            merged.sort(kind="stable")
            self._runs.append(merged)
