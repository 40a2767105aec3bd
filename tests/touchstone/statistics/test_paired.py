"""Paired comparisons against SciPy's and statsmodels' numbers, and at their edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from touchstone.statistics.named_tests import TESTS, Test
from touchstone.statistics.paired import (
    compare,
    compare_all,
    detectable_difference,
    holm,
    power_of,
    t_p_value,
)


def differences(n: int = 50, mean: float = 0.03) -> np.ndarray:
    return np.random.default_rng(n).normal(mean, 0.15, n)


def test_the_t_test_is_scipys():
    values = differences()
    assert t_p_value(values) == pytest.approx(stats.ttest_1samp(values, 0).pvalue, rel=1e-12)


# statsmodels 0.15.0, TTestPower().solve_power(effect_size=difference / 0.15, power=0.8,
# alpha=0.05), rounded up: 72.58, 443.42, 1767.92
@pytest.mark.parametrize(("difference", "queries"), [(0.05, 73), (0.02, 444), (0.01, 1768)])
def test_the_queries_that_a_difference_needs_are_those_of_statsmodels(difference, queries):
    assert power_of(difference=difference, spread=0.15, n=queries) >= 0.8
    assert power_of(difference=difference, spread=0.15, n=queries - 1) < 0.8


def test_what_is_detectable_has_a_power_of_80_percent():
    found = detectable_difference(spread=0.15, n=73)
    assert found == pytest.approx(0.05, abs=0.0005)
    assert power_of(difference=found, spread=0.15, n=73) == pytest.approx(0.8, abs=1e-9)


def test_holm_is_statsmodels():
    # multipletests([.01, .04, .03, .005, .2], method="holm")
    assert holm([0.01, 0.04, 0.03, 0.005, 0.2]) == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.2])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_keeps_the_order_and_never_makes_a_p_value_smaller(p_values):
    adjusted = holm(p_values)
    assert (adjusted >= np.array(p_values)).all()
    assert (adjusted <= 1).all()
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


@pytest.mark.parametrize("test", TESTS)
def test_below_six_queries_nothing_has_a_p_value(test):
    assert compare(np.full(5, 0.9), test=test).p_value is None
    assert compare(np.linspace(0.8, 0.9, 6), test=test).p_value < 0.05


def test_a_comparison_says_how_large_how_sure_and_how_often():
    values = np.concatenate((differences(40, mean=0.1), np.zeros(10)))
    found = compare(values)
    assert found.n == 50
    assert found.low < found.mean < found.high
    assert found.mean == pytest.approx(values.mean())
    assert found.effect == pytest.approx(values.mean() / values.std(ddof=1))
    assert (found.wins, found.ties, found.losses) == ((values > 0).sum(), 10, (values < 0).sum())


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_can_be_said_of_no_query_and_little_of_one(n):
    found = compare(np.full(n, 0.2))
    assert (found.low, found.p_value, found.effect, found.detectable) == (None,) * 4
    assert found.mean == (0.2 if n else None)


@pytest.mark.parametrize("test", TESTS)
def test_two_runs_that_are_the_same_differ_by_nothing_at_all(test):
    found = compare(np.zeros(30), test=test)
    assert (found.mean, found.low, found.high, found.p_value) == (0, 0, 0, 1)
    assert (found.effect, found.detectable) == (None, None)


def test_a_test_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="no test"):
        compare(np.zeros(9), test="wilcoxon")  # type: ignore[arg-type]


@pytest.mark.parametrize("test", TESTS)
def test_runs_compared_together_are_compared_as_each_alone_is_to_the_last_bit(test: Test) -> None:
    rng = np.random.default_rng(5)
    some = [rng.normal(0.1, 1, size=n) for n in (30, 12, 30, 1, 0, 30)] + [np.full(30, 0.5)]
    together = compare_all(some, test=test, resamples=500, seed=3)
    assert together == [compare(one, test=test, resamples=500, seed=3) for one in some]
