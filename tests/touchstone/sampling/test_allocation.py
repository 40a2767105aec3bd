"""How many queries of each stratum: against the formulas, and against trying every split."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.sampling.allocation import cost_optimal, neyman, proportional
from touchstone.sampling.errors import SamplingError

COUNTS = st.lists(st.integers(2, 500), min_size=1, max_size=8)


def test_proportional_is_in_proportion():
    assert proportional(10, [500, 300, 200], [500, 300, 200]).tolist() == [5, 3, 2]
    assert proportional(11, [500, 300, 200], [500, 300, 200]).tolist() == [6, 3, 2]


def test_a_stratum_gets_two_at_least_and_never_more_than_it_has():
    assert proportional(100, [9_000, 10, 990], [9_000, 10, 990]).tolist() == [88, 2, 10]
    assert proportional(100, [10, 900, 90], [900, 30, 95]).tolist() == [7, 30, 63]


@given(COUNTS, st.data())
def test_a_split_adds_up_and_keeps_its_bounds(counts, data):
    n = data.draw(st.integers(2 * len(counts), sum(counts)))
    shares = data.draw(st.lists(st.floats(0.01, 100), min_size=len(counts), max_size=len(counts)))
    found = proportional(n, shares, counts)
    assert found.sum() == n
    assert (found >= 2).all()
    assert (found <= np.array(counts)).all()


def test_neyman_is_the_formula():
    counts, spreads = np.array([1000, 4000, 5000]), np.array([0.4, 0.2, 0.1])
    product_ = counts * spreads
    assert neyman(170, counts, spreads).tolist() == (170 * product_ / product_.sum()).tolist()


def test_neyman_weights_by_searches_where_the_mean_does():
    found = neyman(90, [1000, 1000], [0.2, 0.2], weights=[2 / 3, 1 / 3])
    assert found.tolist() == [60, 30]


def test_cost_optimal_is_the_formula():
    counts, spreads = np.array([10_000, 10_000]), np.array([0.3, 0.3])
    costs, budget = np.array([1.0, 4.0]), 300.0
    shares = counts / counts.sum() * spreads
    expected = budget * (shares / np.sqrt(costs)) / (shares * np.sqrt(costs)).sum()
    assert cost_optimal(budget, counts, spreads, costs).tolist() == [100, 50]
    assert expected == pytest.approx([100, 50])


def variance(n, counts, spreads):
    weights = counts / counts.sum()
    return (weights**2 * (1 - n / counts) * spreads**2 / n).sum()


def test_no_other_split_of_a_small_budget_has_a_smaller_variance_by_more_than_rounding():
    rng = np.random.default_rng(5)
    for _ in range(30):
        counts, spreads = rng.integers(3, 12, 3), rng.uniform(0.05, 0.5, 3)
        n = int(rng.integers(6, counts.sum()))
        best = min(
            variance(np.array(split), counts, spreads)
            for split in product(*(range(2, count + 1) for count in counts.tolist()))
            if sum(split) == n
        )
        found = neyman(n, counts, spreads)
        assert found.sum() == n
        assert variance(found, counts, spreads) <= best * 1.15 + 1e-12


@given(COUNTS, st.data())
def test_a_budget_is_never_exceeded_and_not_left_over(counts, data):
    costs = data.draw(st.lists(st.integers(1, 9), min_size=len(counts), max_size=len(counts)))
    spreads = data.draw(st.lists(st.floats(0, 1), min_size=len(counts), max_size=len(counts)))
    budget = data.draw(st.integers(2 * sum(costs), 4_000))
    found = cost_optimal(budget, counts, spreads, costs)
    left = budget - (found * np.array(costs)).sum()
    assert left >= 0
    assert (found >= 2).all()
    more = [cost for n, count, cost in zip(found, counts, costs, strict=True) if n < count]
    assert left < max(more, default=np.inf)


def test_strata_without_spread_get_two_while_others_can_take_the_rest():
    assert neyman(20, [50, 50, 50], [0.0, 0.2, 0.0]).tolist() == [2, 16, 2]
    assert neyman(60, [50, 50, 50], [0.0, 0.2, 0.0]).tolist() == [5, 50, 5]


@pytest.mark.parametrize(
    ("split", "said"),
    [
        (lambda: proportional(5, [1, 1, 1], [9, 9, 9]), "too little for 3 strata"),
        (lambda: proportional(28, [1, 1, 1], [9, 9, 9]), "can't be drawn from 27"),
        (lambda: neyman(28, [9, 9, 9], [1, 1, 1]), "can't be drawn from 27"),
        (lambda: cost_optimal(11, [9, 9], [1, 1], [2, 4]), "it takes 12"),
        (lambda: cost_optimal(99, [9, 9], [1, 1], [0, 4]), "costs are above 0"),
        (lambda: neyman(9, [9, 9], [np.nan, 1]), "standard deviations"),
    ],
)
def test_what_can_not_be_split_is_refused(split, said):
    with pytest.raises(SamplingError, match=said):
        split()
