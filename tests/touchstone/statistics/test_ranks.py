"""How alike two orders are: against SciPy, and against the endless sum that is meant."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from touchstone.statistics.ranks import (
    ap_correlation,
    kendall_tau,
    overlaps,
    rank_biased_overlaps,
)

orders = st.permutations(range(12)).flatmap(
    lambda order: st.integers(1, 12).map(lambda length: order[:length])
)


def top(order) -> np.ndarray:
    return np.array([[*order, *[-1] * (12 - len(order))]], np.int64)


def overlap(first, second, *, k: int) -> float:
    return float(overlaps(top(first), top(second), k=k)[0])


def rank_biased_overlap(first, second, *, p: float = 0.9) -> float:
    return float(rank_biased_overlaps(top(first), top(second), p=p)[0])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=20))
def test_tau_is_scipys(pairs):
    first, second = zip(*pairs, strict=True)
    theirs = stats.kendalltau(first, second).statistic
    ours = kendall_tau(first, second)
    assert ours is None if np.isnan(theirs) else ours == pytest.approx(theirs)


def plain_ap_correlation(truth, order):
    """Yilmaz, Aslam & Robertson 2008, eq. 4, of an order without ties."""
    right = [
        sum((np.sign(truth[above] - truth[one]) + 1) / 2 for above in order[:place]) / place
        for place, one in enumerate(order)
        if place
    ]
    return 2 * sum(right) / (len(order) - 1) - 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=5))
def test_ap_correlation_is_the_mean_over_all_orders_of_what_is_tied(pairs):
    truth, own = (np.array(values) for values in zip(*pairs, strict=True))
    orders = [
        plain_ap_correlation(truth, order)
        for order in permutations(range(len(own)))
        if all(own[one] >= own[after] for one, after in pairwise(order))
    ]
    ours = ap_correlation(truth, own)
    if (truth == truth[0]).all():
        assert ours is None
    else:
        assert ours == pytest.approx(np.mean(orders))


def test_a_swap_at_the_top_costs_ap_correlation_more_than_one_at_the_end():
    assert ap_correlation([4, 3, 2, 1], [4, 3, 2, 1]) == 1
    assert ap_correlation([4, 3, 2, 1], [1, 2, 3, 4]) == -1
    assert ap_correlation([4, 3, 2, 1], [3, 4, 2, 1]) == pytest.approx(1 / 3)
    assert ap_correlation([4, 3, 2, 1], [4, 3, 1, 2]) == pytest.approx(7 / 9)
    assert kendall_tau([4, 3, 2, 1], [3, 4, 2, 1]) == kendall_tau([4, 3, 2, 1], [4, 3, 1, 2])


def test_overlap_is_the_share_of_the_top_k():
    assert overlap([1, 2, 3, 4], [2, 1, 9, 8], k=2) == 1
    assert overlap([1, 2, 3, 4], [2, 1, 9, 8], k=4) == 0.5
    assert overlap([], [], k=10) == 1
    assert overlap([1], [], k=10) == 0


@given(orders, orders, st.sampled_from([0.5, 0.9, 0.98]))
def test_rbo_is_the_endless_sum_with_the_agreement_seen_last(first, second, p):
    found = rank_biased_overlap(first, second, p=p)
    assert found == pytest.approx(rank_biased_overlap(second, first, p=p))
    assert -1e-12 <= found <= 1 + 1e-12
    if len(first) == len(second):
        depth = len(first)
        agreement = [len({*first[:d]} & {*second[:d]}) / d for d in range(1, depth + 1)]
        endless = agreement + [agreement[-1]] * 2_000
        terms = [(1 - p) * p**place * value for place, value in enumerate(endless)]
        assert found == pytest.approx(sum(terms))


@given(orders)
def test_a_ranking_is_wholly_like_itself(order):
    assert rank_biased_overlap(order, order) == pytest.approx(1)


def test_rankings_that_share_nothing_are_not_alike():
    assert rank_biased_overlap([1, 2, 3], [4, 5]) == 0
    assert rank_biased_overlap([1, 2], []) == 0
    assert rank_biased_overlap([], []) == 1


def test_a_ranking_that_goes_on_agrees_as_far_as_the_shorter_one_can_tell():
    # Webber, Moffat & Zobel 2010, section 4.3: the seen agreement is carried on
    assert rank_biased_overlap([1, 2, 3], [1, 2, 3, 4, 5, 6]) == pytest.approx(1)


@given(st.lists(st.tuples(orders, orders), min_size=1, max_size=6))
def test_many_queries_at_once_are_as_each_alone(pairs):
    first, second = (np.concatenate([top(one) for one in own]) for own in zip(*pairs, strict=True))
    alone = [rank_biased_overlap(*pair) for pair in pairs]
    assert rank_biased_overlaps(first, second) == pytest.approx(alone, rel=1e-12)
    assert overlaps(first, second, k=5).tolist() == [overlap(*pair, k=5) for pair in pairs]
