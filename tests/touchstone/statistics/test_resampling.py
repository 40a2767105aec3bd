"""Resampling against SciPy's, against enumeration, and against what it promises."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from touchstone.statistics.resampling import (
    bca_interval,
    bca_intervals,
    bootstrap_p_value,
    sign_flip_p_value,
)


def skewed(n: int, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).exponential(0.1, n) - 0.07


def test_the_interval_is_scipys_up_to_the_noise_of_resampling():
    values = skewed(60)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=40_000, rng=5).confidence_interval
    ours = bca_interval(values, resamples=40_000, seed=1)
    width = theirs.high - theirs.low
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.03 * width)


def test_equal_means_count_as_equal_whatever_their_unit():
    steps = np.random.default_rng(15).choice([-1, 0, 0, 1, 3, -2], 15)  # many means are alike
    low, high = bca_interval(steps.astype(np.float64), resamples=10_000, seed=0)
    tenths = bca_interval(steps / 10, resamples=10_000, seed=0)
    assert tenths == pytest.approx((low / 10, high / 10), abs=1e-12)


def test_an_interval_does_not_depend_on_what_is_computed_beside_it():
    rows = np.random.default_rng(2).normal(0, 0.2, (7, 300))
    together = bca_intervals(rows, resamples=2_000, seed=0)
    assert together == [bca_interval(row, resamples=2_000, seed=0) for row in rows]


def test_the_interval_of_equal_differences_is_their_one_point():
    assert bca_interval(np.full(20, 0.25), resamples=100, seed=0) == (0.25, 0.25)


def test_one_value_has_no_interval():
    with pytest.raises(ValueError, match="two values"):
        bca_interval(np.array([0.5]), resamples=100, seed=0)


@pytest.mark.parametrize("n", [50, pytest.param(500, marks=pytest.mark.long)])
def test_intervals_at_95_percent_hold_the_truth_in_93_to_97_of_a_hundred_cases(n):
    dice = np.random.default_rng(n)
    shape = 2.0
    covered = 0
    for case in range(1_000):
        # differences of bounded values, somewhat skewed: like those of nDCG
        values = dice.beta(shape, 3.0, n) - dice.beta(shape, 4.0, n)
        low, high = bca_interval(values, resamples=1_000, seed=case)
        covered += low <= shape / 5 - shape / 6 <= high
    assert 930 <= covered <= 970


def test_few_queries_are_enumerated():
    values = np.array([0.3, -0.1, 0.2, 0.05, 0.0, 0.4, -0.02])
    means = [abs(np.mean(values * signs)) for signs in product((1, -1), repeat=len(values))]
    expected = np.mean(np.array(means) >= abs(values.mean()) - 1e-12)
    assert sign_flip_p_value(values, resamples=10, seed=0) == expected


def test_the_randomization_test_is_scipys_up_to_the_noise_of_resampling():
    values = skewed(80)
    theirs = stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=20_000, rng=5
    ).pvalue
    assert sign_flip_p_value(values, resamples=20_000, seed=1) == pytest.approx(theirs, abs=0.012)


def test_the_sign_of_the_difference_does_not_matter_to_a_two_sided_test():
    values = skewed(10)
    assert sign_flip_p_value(values, resamples=1, seed=0) == sign_flip_p_value(
        -values, resamples=1, seed=0
    )


@pytest.mark.parametrize("p_value", [sign_flip_p_value, bootstrap_p_value])
def test_a_p_value_is_never_zero_and_is_repeatable(p_value):
    values = np.full(40, 0.1) + np.linspace(0, 0.01, 40)
    first = p_value(values, resamples=999, seed=4)
    assert first == p_value(values, resamples=999, seed=4) == 1 / 1000


def test_the_bootstrap_test_agrees_with_the_t_test_where_the_t_test_is_right():
    values = np.random.default_rng(8).normal(0.03, 0.1, 200)
    theirs = stats.ttest_1samp(values, 0).pvalue
    assert bootstrap_p_value(values, resamples=20_000, seed=2) == pytest.approx(theirs, abs=0.01)
