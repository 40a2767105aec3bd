"""nDCG and its exact sums in plain Python, a row at a time: nothing of the library."""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np


def rounded_sum(values: Iterable[float]) -> int:
    """Σ round(value · 2⁶⁰), half to even."""
    return sum(round(Fraction(value) * 2**60) for value in values)


def ranking(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By float32 score, best first; ties by the item's text, descending."""
    ranked = [row for row in rows if row["score"] is not None]
    by_id = sorted(ranked, key=lambda row: str(row["item"]).encode(), reverse=True)
    return sorted(by_id, key=lambda row: -np.float32(row["score"]))


def plain_ndcg(rows: list[dict[str, Any]], k: int, *, exponential: bool) -> float:
    """nDCG@k as Järvelin and Kekäläinen have it, added from the first rank on."""

    def gain(grade: int | None) -> float:
        return float((2**grade - 1 if exponential else grade) if grade else 0)

    def dcg(gains: list[float]) -> float:
        total = 0.0
        for rank, one in enumerate(gains[:k], 1):
            total += one / math.log2(rank + 1)
        return total

    ideal = dcg(sorted((gain(row["grade"]) for row in rows), reverse=True))
    return dcg([gain(row["grade"]) for row in ranking(rows)]) / ideal if ideal else 0.0
