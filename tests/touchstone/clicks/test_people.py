"""Clicks against people."""

import numpy as np
import pytest
from scipy import stats
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from touchstone.clicks.people import (
    binned_agreement,
    monotone_binning,
    preference_auc,
    rank_correlation,
)

SCALE = (0.0, 1.0, 2.0, 3.0)


def judged(queries: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Query, score and grade of ten documents each; scores follow grades up to noise."""
    rng = np.random.default_rng(seed)
    grades = rng.integers(0, 4, size=queries * 10)
    scores = np.exp(grades + rng.normal(0, noise, size=len(grades))).round(1)
    return np.repeat(np.arange(queries), 10), scores, grades


def test_with_two_grades_it_is_the_roc_curves_area() -> None:
    _, scores, grades = judged(1, 1.0, 1)
    found = preference_auc(np.zeros(10, int), scores, (grades > 1).astype(float))
    assert found is not None
    assert found.auc.value == pytest.approx(roc_auc_score(grades > 1, scores))
    assert (found.queries, found.auc.low) == (1, None)


def test_only_documents_of_one_query_are_compared() -> None:
    query = np.array([0, 0, 1, 1, 2, 2])
    scores = np.array([9.0, 8.0, 1.0, 2.0, 5.0, 5.0])
    grades = np.array([1.0, 0.0, 2.0, 1.0, 1.0, 0.0])
    found = preference_auc(query, scores, grades)
    assert found is not None
    assert found.auc.value == pytest.approx((1 + 0 + 0.5) / 3)
    assert (found.pairs, found.queries) == (3, 3)
    assert preference_auc(query, scores, np.ones(6)) is None


def test_tau_is_the_mean_over_queries_that_have_one() -> None:
    query, scores, grades = judged(30, 1.0, 2)
    scores[query == 3] = 1.0
    grades[query == 4] = 2
    shuffled = np.random.default_rng(3).permutation(len(query))
    found = rank_correlation(query[shuffled], scores[shuffled], grades[shuffled].astype(float))
    assert found is not None
    expected = [
        stats.kendalltau(scores[query == one], grades[query == one]).statistic
        for one in range(30)
        if one not in (3, 4)
    ]
    assert found[0].value == pytest.approx(np.mean(expected))
    assert found[0].standard_error == pytest.approx(stats.sem(expected))
    assert found[1] == 28
    assert rank_correlation(query, np.ones(300), grades.astype(float)) is None


def test_a_binning_is_isotonic_regression_rounded() -> None:
    _, scores, grades = judged(40, 0.8, 4)
    binning = monotone_binning(scores, grades, SCALE)
    fitted = IsotonicRegression().fit(scores, grades).predict(np.unique(scores))
    # halfway between two grades it is the lower one
    assert binning.of(np.unique(scores)).tolist() == np.ceil(fitted - 0.5).tolist()
    assert (np.diff(binning.steps) > 0).all()
    assert binning.of(np.array([-5.0, 1e9])).tolist() == [binning.steps[0], binning.steps[-1]]


def test_grades_may_be_any_ascending_values() -> None:
    binning = monotone_binning(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 1]), (-1.0, 0.9))
    assert binning.of(np.array([1.0, 2.5])).tolist() == [0, 1]
    with pytest.raises(ValueError, match="needs a score"):
        monotone_binning(np.array([]), np.array([], dtype=np.int64), SCALE)


def test_kappa_is_of_queries_that_the_binning_has_not_seen() -> None:
    query, scores, grades = judged(60, 0.6, 5)
    found = binned_agreement(query, scores, grades, SCALE, resamples=50, seed=6)
    assert found is not None
    assert (found.learned, found.judged) == (300, 300)
    learned = (np.random.default_rng(6).permutation(60) % 2 == 0)[query]
    own = monotone_binning(scores[learned], grades[learned], SCALE).of(scores[~learned])
    expected = cohen_kappa_score(own, grades[~learned], weights="quadratic")
    assert found.kappa.value == pytest.approx(expected)
    assert binned_agreement(query[:10], scores[:10], grades[:10], SCALE) is None


def test_clicks_that_say_nothing_agree_by_chance() -> None:
    query, _, grades = judged(400, 1.0, 7)
    noise = np.random.default_rng(8).random(len(query))
    found = binned_agreement(query, noise, grades, SCALE, resamples=0)
    assert found is not None
    assert abs(found.kappa.value or 0.0) < 0.1
    auc = preference_auc(query, noise, grades.astype(float))
    assert auc is not None
    assert auc.auc.low is not None
    assert auc.auc.high is not None
    assert auc.auc.low < 0.5 < auc.auc.high
