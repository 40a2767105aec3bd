"""How much it matters which grade a disputed pair gets."""

from collections.abc import Mapping, Sequence
from math import log2
from typing import Final

# what is at stake for the list itself, where every run has the document at the same rank
FLOOR: Final = 0.1


def leverage(ranks: Mapping[str, int], runs: int) -> float:
    """How differently the runs depend on the document: from 0 to 1.

    The discount 1 / log2(rank + 1) of the run that has it highest, minus that of the one that has
    it lowest; one that does not have it gains nothing by it. Where all have it at the same rank,
    its grade moves all their values alike and changes no order.
    ranks: by run, from 1. runs: how many there are.
    """
    gains = [1 / log2(rank + 1) for rank in ranks.values()]
    if len(gains) < runs:
        gains.append(0.0)
    return max(gains) - min(gains) if gains else 0.0


def stake(grades: Sequence[int], codes: Sequence[int], *, weight: float, leverage: float) -> float:
    """The spread of the labels in steps, times the query's weight, times what hangs on it."""
    steps = [codes.index(grade) for grade in grades]
    spread = max(steps) - min(steps) if steps else 0
    return spread * weight * (FLOOR + leverage)
