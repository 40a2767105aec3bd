"""What to judge next: only what tells runs apart, and most what may turn their order round."""

import numpy as np
import pytest

from touchstone.pooling.judge_next import JudgedPool, draw_next, outlook

DISCOUNTS = 1 / np.log2(np.arange(2, 5))


def make_pool(ranks, levels, *, queries=None, doubts=None, is_normalised=True) -> JudgedPool:
    """A scale of 0 to 2 and a depth of 3; every pair of one query, unless told."""
    n = len(ranks)
    queries = np.zeros(n, np.int64) if queries is None else np.array(queries)
    n_queries = int(queries.max()) + 1
    return JudgedPool(
        ranks=np.array(ranks),
        queries=queries,
        n_queries=n_queries,
        levels=np.array(levels),
        doubts=np.zeros(n) if doubts is None else np.array(doubts),
        others=np.zeros((n_queries, 3), np.int64),
        rank_weights=DISCOUNTS,
        gains=np.array([0.0, 1.0, 2.0]),
        is_normalised=is_normalised,
    )


def test_where_all_is_judged_the_values_are_those_of_ndcg():
    # the first run shows grades 2, 0, 1; the second 0, 2 and nothing more
    found = outlook(make_pool([[1, 2], [2, 1], [3, 0]], [3, 1, 2]))
    ideal = 2 * DISCOUNTS[0] + DISCOUNTS[1]
    first = (2 * DISCOUNTS[0] + DISCOUNTS[2]) / ideal
    assert found.values == pytest.approx([first, 2 * DISCOUNTS[1] / ideal])
    assert found.covariance == pytest.approx(0)
    assert (found.changes == 0).all()
    assert found.above[0, 1] == pytest.approx(1)


def test_judged_documents_that_no_run_shows_are_part_of_the_ideal():
    pool = make_pool([[1, 2], [2, 1]], [3, 1])
    pool.others[0] = [0, 0, 3]
    best = 2 * DISCOUNTS.sum()
    assert outlook(pool).values == pytest.approx([2 * DISCOUNTS[0] / best, 2 * DISCOUNTS[1] / best])


def test_a_pair_that_both_show_at_the_same_rank_tells_them_not_apart():
    found = outlook(make_pool([[1, 1], [2, 0], [0, 2], [3, 3]], [0, 0, 0, 0]))
    assert found.changes[[0, 3]] == pytest.approx(0)
    assert (found.changes[[1, 2]] > 0).all()
    assert found.swings[[0, 3]] == pytest.approx(0)


def test_the_difference_moves_by_the_swing_when_the_grade_does():
    ranks, swing = [[1, 0], [0, 1], [2, 2]], None
    differences = []
    for level in (1, 3):
        found = outlook(make_pool(ranks, [level, 2, 3], is_normalised=False))
        differences.append(found.values[0] - found.values[1])
        swing = found.swings[0]
    assert differences[1] - differences[0] == pytest.approx(swing)


def test_the_runs_that_are_close_are_looked_at_rather_than_the_one_that_is_far_off():
    # runs one and two show equally much; the third shows nothing but judged rubbish
    n = 40
    queries = np.repeat(np.arange(n), 4)
    ranks = np.tile([[1, 2, 0], [2, 1, 0], [3, 0, 0], [0, 3, 1]], (n, 1))
    levels = np.tile([3, 3, 0, 0], n)
    found = outlook(make_pool(ranks, levels, queries=queries))
    assert found.above[0, 2] > 0.99
    assert 0.2 < found.above[0, 1] < 0.8
    assert (found.changes > 0).sum() == 2 * n


def test_labels_that_disagree_are_worth_another():
    pool = make_pool([[1, 0], [0, 1], [2, 2]], [3, 2, 1], doubts=[0.5, 0.0, 0.5])
    found = outlook(pool)
    assert found.changes[0] > 0
    assert found.changes[1] == found.changes[2] == pytest.approx(0)
    assert found.covariance[0, 0] > 0


def test_drawing_is_the_same_for_a_seed_and_leaves_out_what_changes_nothing():
    changes = np.array([0.0, 5.0, 1.0, 0.0, 3.0])
    first = draw_next(changes, n=10, seed=4)
    assert sorted(first.tolist()) == [1, 2, 4]
    assert first.tolist() == draw_next(changes, n=10, seed=4).tolist()
    assert len(draw_next(changes, n=2, seed=4)) == 2


def test_what_changes_more_is_drawn_more_often():
    changes = np.array([8.0, 1.0, 1.0])
    drawn = [int(draw_next(changes, n=1, seed=seed)[0]) for seed in range(400)]
    # 8 of 10, with a margin of four standard deviations
    assert drawn.count(0) / 400 == pytest.approx(0.8, abs=0.08)
