"""Worked numbers that articles repeat, and what comes out when one computes them."""

import math
from collections.abc import Sequence

import numpy as np

from touchstone.measures.engine import evaluate_batch
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure
from touchstone.measures.rankings import GradedRankings


def worked(name: str, ranked: Sequence[float], also: Sequence[float] = ()) -> float:
    """One measure of one ranking: the grades at rank 1, 2, …, and of judged ones not returned."""
    values = sorted({*ranked, *also, 0.0})
    grades = Grades(tuple(range(len(values))), tuple(values))
    levels = np.array([[values.index(value) + 1 for value in ranked]], np.uint8)
    every = [*ranked, *also]
    judged = np.array([[every.count(value) for value in values]])
    rankings = GradedRankings(levels, np.array([len(ranked)]), judged)
    return float(evaluate_batch([parse_measure(name)], rankings, grades).values[0, 0])


def claims() -> list[tuple[str, str]]:
    """(what articles say, what comes out)."""
    return [_exponential(), _scikit_learn(), _in_order(), _zoolander(), _letters(), _about()]


def _exponential() -> tuple[str, str]:
    claim = "grades 3, 2, 3, 0, 1, exponential gain, k = 5: DCG 12.79, ideal DCG 13.36, NDCG 0.957"
    ranked = [3, 2, 3, 0, 1]
    dcg, ideal = _dcg(ranked), _dcg(sorted(ranked, reverse=True))
    value = worked("nDCG(gain='exp2')@5", ranked)
    return claim, f"DCG {dcg:.4f}, ideal DCG {ideal:.4f}, NDCG {value:.5f}"


def _scikit_learn() -> tuple[str, str]:
    claim = (
        "scikit-learn on y_true [[3,2,3,0,1],[4,3,2,1,0]], y_score [[.9,.5,.8,.1,.3],"
        "[.95,.85,.65,.45,.15]], k = 5: 0.9623"
    )
    rows = ([3, 3, 2, 1, 0], [4, 3, 2, 1, 0])
    value = sum(worked("nDCG@5", row) for row in rows) / len(rows)
    return claim, f"{value:.1f}: both rows are perfectly ranked"


def _in_order() -> tuple[str, str]:
    claim = (
        "true grades 3, 2, 3, 0, 1, 2, predicted .9, .5, .8, .1, .3, .6, exponential gain: 0.9570"
    )
    value = worked("nDCG(gain='exp2')", [3, 3, 2, 2, 1, 0])
    return claim, f"{value:.1f}: perfectly ranked"


def _zoolander() -> tuple[str, str]:
    claim = (
        "“Zoolander”: grades A 1.0, B 0.9, C 0.7, D and E 0.1; D, A, C returned; discount 1/i, "
        "k = 2: DCG 0.6, NDCG 0.571 local, 0.444 recall, 0.414 global, 0.4 max"
    )
    names = {i: f"nDCG(discount='reciprocal',ideal='{i}')@2" for i in _IDEALS}
    values = (f"{worked(n, [0.1, 1.0, 0.7], [0.9, 0.1]):.3f} {i}" for i, n in names.items())
    return claim, f"{', '.join(values)}: right, all of them"


def _letters() -> tuple[str, str]:
    claim = (
        "B A D C E F returned, A, C and F relevant: Hit@1 0, Hit@2 1, P@5 0.4, R@5 0.667, RR 0.5, "
        "NDCG@5 0.65"
    )
    ranked = [0, 1, 0, 1, 0, 1]
    values = (f"{name} {worked(name, ranked):.3g}" for name in ("Hit@1", "Hit@2", "P@5", "R@5"))
    local, wide = worked("nDCG(ideal='local')@5", ranked), worked("nDCG@5", ranked)
    return claim, (
        f"{', '.join(values)}, RR {worked('RR', ranked):g}: right; but NDCG@5 is {local:.4f} only "
        f"with the local ideal, and {wide:.4f} with the global one"
    )


def _about() -> tuple[str, str]:
    ranked = [2, 1, 4, 0, 3, 3]
    linear, exponential = worked("nDCG", ranked), worked("nDCG(gain='exp2')", ranked)
    return (
        "grades in the order 2, 1, 4, 0, 3, 3: about 0.75",
        f"{linear:.4f} with linear gain, {exponential:.4f} with exponential",
    )


_IDEALS = ("local", "recall", "global", "max")


def _dcg(ranked: Sequence[int]) -> float:
    """By hand, so that the page does not quote the engine alone."""
    return sum((2.0**grade - 1.0) / math.log2(rank + 2) for rank, grade in enumerate(ranked))
