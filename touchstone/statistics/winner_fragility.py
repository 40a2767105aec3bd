"""What a first place hangs on: single judgments, or a few, whose change would give it to another.

Changes of different queries add up exactly, because a mean is a sum over queries. So the judgments
of one query are tried one at a time, and at most one of each query is put together.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from touchstone.statistics.resampling import FloatArray


@dataclass(frozen=True)
class WinnerFragility:
    """What the lead of one run over another hangs on.

    margin: the lead, ahead of it by so much. singles: the places of changes that turn it round
    alone, the largest first. fewest: how many changes, of one query each, are enough together;
    None where all of them are not. steps: the places of those.
    """

    margin: float
    singles: tuple[int, ...]
    fewest: int | None
    steps: tuple[int, ...]


def winner_fragility(
    *, margin: float, losses: FloatArray, queries: npt.NDArray[np.int64]
) -> WinnerFragility:
    """How few changes turn a lead round.

    margin: the leader's mean less the other's, 0 or more. losses: (n,), by how much each change
    lowers that. queries: each change's query. A lead is turned round by more than itself: an
    equal mean is still none behind.
    """
    order = np.argsort(-losses, kind="stable")
    singles = tuple(int(position) for position in order if losses[position] > margin)
    _, firsts = np.unique(queries[order], return_index=True)
    largest = order[np.sort(firsts)]
    largest = largest[losses[largest] > 0]
    enough = np.flatnonzero(np.cumsum(losses[largest]) > margin)
    if not len(enough):
        return WinnerFragility(margin, singles, None, ())
    count = int(enough[0]) + 1
    return WinnerFragility(
        margin, singles, count, tuple(int(position) for position in largest[:count])
    )
