"""The lowest and highest nDCG that unjudged documents leave open, against trying them all out."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from touchstone.measures.bounds import ndcg_bounds
from touchstone.measures.definition import Measure
from touchstone.measures.engine import evaluate_batch
from touchstone.measures.grades import Grades
from touchstone.measures.ndcg import gains as gains_of
from touchstone.measures.rankings import GradedRankings

GRADES = Grades.integers(range(3))
K = 4


def value(measure: Measure, levels: list[int], counts: list[int]) -> float:
    graded = GradedRankings(
        np.array([levels], np.uint8), np.array([len(levels)]), np.array([counts])
    )
    return float(evaluate_batch([measure], graded, GRADES).values[0, 0])


def tried(measure: Measure, levels: list[int], counts: list[int]) -> tuple[float, float]:
    """Every grade, and none, for every unjudged document within the cutoff."""
    open_ranks = [rank for rank, level in enumerate(levels[:K]) if level == 0]
    found = []
    for grades in product(range(4), repeat=len(open_ranks)):
        now, more = list(levels), list(counts)
        for rank, level in zip(open_ranks, grades, strict=True):
            now[rank] = level
            if level:
                more[level - 1] += 1
        found.append(value(measure, now, more))
    return min(found), max(found)


def bounds(measure: Measure, levels: list[int], counts: list[int]) -> tuple[float, float]:
    low, high = ndcg_bounds(
        gains=gains_of(measure, GRADES)[1:],
        weights=1 / np.log2(np.arange(2, K + 2)),
        levels=np.array([levels], np.uint8),
        lengths=np.array([len(levels)]),
        judged=np.array([counts]),
    )
    return float(low[0]), float(high[0])


@example([0, 3, 0], [0, 0, 0], "linear")
@example([0, 0, 0, 2], [3, 0, 1], "exp2")
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=6),
    st.lists(st.integers(0, 3), min_size=3, max_size=3),
    st.sampled_from(["linear", "exp2"]),
)
def test_the_bounds_are_those_of_trying_every_grade(levels, more, gain):
    measure = Measure(family="nDCG", cutoff=K, gain=gain)
    counts = [levels.count(level) + extra for level, extra in zip((1, 2, 3), more, strict=True)]
    assert bounds(measure, levels, counts) == pytest.approx(tried(measure, levels, counts))


def test_all_at_the_best_grade_is_not_the_best_case():
    measure = Measure(family="nDCG", cutoff=K)
    levels, counts = [2, 2, 2, 0], [0, 4, 0]  # an unjudged document after three of grade 1
    _, high = bounds(measure, levels, counts)
    all_best = value(measure, [2, 2, 2, 3], [0, 4, 1])
    assert high == pytest.approx(1.0)
    assert all_best < 0.95


def test_unjudged_as_nothing_is_not_the_worst_case():
    measure = Measure(family="nDCG", cutoff=K)
    low, _ = bounds(measure, [2, 1, 1, 0], [2, 1, 0])
    assert low < value(measure, [2, 1, 1, 0], [2, 1, 0])


def test_what_is_judged_has_no_room():
    measure = Measure(family="nDCG", cutoff=K)
    low, high = bounds(measure, [3, 1, 2], [1, 1, 2])
    assert low == high == pytest.approx(value(measure, [3, 1, 2], [1, 1, 2]))


def test_many_queries_at_once_are_each_as_alone():
    dice = np.random.default_rng(2)
    levels = dice.integers(0, 4, (50, 6)).astype(np.uint8)
    lengths = dice.integers(0, 7, 50)
    levels[np.arange(6) >= lengths[:, None]] = 0
    judged = np.stack([(levels == level).sum(axis=1) for level in (1, 2, 3)], axis=1)
    asked = {"gains": np.array([0.0, 1.0, 2.0]), "weights": 1 / np.log2(np.arange(2, 8))}
    low, high = ndcg_bounds(levels=levels, lengths=lengths, judged=judged, **asked)
    for row in range(0, 50, 7):
        part = slice(row, row + 1)
        one = ndcg_bounds(levels=levels[part], lengths=lengths[part], judged=judged[part], **asked)
        assert (one[0][0], one[1][0]) == pytest.approx((low[row], high[row]))
    assert (low <= high).all()


def test_gains_that_fall_are_refused():
    with pytest.raises(ValueError, match="no bounds"):
        ndcg_bounds(
            gains=np.array([2.0, 1.0]),
            weights=np.ones(1),
            levels=np.zeros((1, 1), np.uint8),
            lengths=np.ones(1, int),
            judged=np.zeros((1, 2), int),
        )
