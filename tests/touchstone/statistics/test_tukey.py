"""Tukey's test on two ways, against the mean squares of statsmodels."""

import numpy as np
import pytest
from scipy.stats import studentized_range
from scipy.stats import tukey_hsd as one_way

from touchstone.statistics.tukey import tukey_hsd

QUERIES, RANKERS = 12, 4
# statsmodels 0.15.0: anova_lm(ols("v ~ C(s) + C(q)")), the residual's mean square
MEAN_SQUARE = 0.09682004353554448


def values() -> np.ndarray:
    query, ranker = np.mgrid[:QUERIES, :RANKERS]
    return ((query * 37 + ranker * 11 + query * ranker * 5) % 23) / 23 + ranker * 0.05


def test_the_p_values_are_those_of_statsmodels_mean_square():
    table = values()
    freedom = (QUERIES - 1) * (RANKERS - 1)
    error = np.sqrt(MEAN_SQUARE / QUERIES)
    pairs = tukey_hsd(table)
    assert len(pairs) == RANKERS * (RANKERS - 1) // 2
    for pair in pairs:
        difference = table[:, pair.second].mean() - table[:, pair.first].mean()
        assert pair.difference == pytest.approx(difference)
        expected = studentized_range.sf(abs(difference) / error, RANKERS, freedom)
        assert pair.p_value == pytest.approx(expected, rel=1e-9)
        reach = error * studentized_range.ppf(0.95, RANKERS, freedom)
        assert (pair.low, pair.high) == pytest.approx((difference - reach, difference + reach))


def test_a_real_difference_behind_hard_and_easy_queries_is_found():
    hardness = np.linspace(0.05, 0.85, 40)[:, None]
    noise = np.random.default_rng(2).normal(0, 0.02, (40, 3))
    table = hardness + noise + np.array([0.0, 0.03, 0.03])
    blocked = tukey_hsd(table)[0].p_value
    assert blocked < 1e-4
    assert one_way(*table.T).pvalue[0, 1] > 0.5


def test_rankers_that_are_the_same_do_not_differ():
    table = np.repeat(np.linspace(0, 1, 9)[:, None], 3, axis=1)
    assert [pair.p_value for pair in tukey_hsd(table)] == [1.0, 1.0, 1.0]


def test_a_difference_that_is_the_same_on_every_query_is_certain():
    table = np.linspace(0, 0.5, 9)[:, None] + np.array([0.0, 0.25])
    assert tukey_hsd(table)[0].p_value < 1e-6


@pytest.mark.parametrize("shape", [(1, 3), (5, 1)])
def test_one_query_or_one_ranker_is_refused(shape):
    with pytest.raises(ValueError, match="two queries and two rankers"):
        tukey_hsd(np.zeros(shape))
