"""Means per query and per search, Kish's figures, post-stratification."""

import numpy as np
import pytest

from tests.touchstone.sampling.test_estimation import stratified_schools, survey  # noqa: F401
from touchstone.sampling.errors import SamplingError
from touchstone.sampling.estimation import (
    mean_influence,
    standard_error,
    stratified_variance,
    with_replacement_variance,
)
from touchstone.sampling.weighting import (
    design_effect,
    mean_per_query,
    mean_per_search,
    post_stratified_mean,
)


def test_the_mean_per_search_and_its_error_are_surveys(survey):  # noqa: F811
    """A school's pupils stand for a query's searches."""
    values, stratum, counts, chances = stratified_schools(survey)
    own = survey["api_stratified"]
    found = mean_per_search(values, chances[stratum], own["size"])
    assert found.value == pytest.approx(own["per_size"][0], rel=1e-12)
    error = standard_error(stratified_variance(found.influence, stratum, counts))
    assert error == pytest.approx(own["per_size"][1], rel=1e-10)


def test_the_post_stratified_mean_and_its_error_are_surveys(survey):  # noqa: F811
    own = survey["api_simple"]
    values = np.array(own["value"], float)
    _, groups = np.unique(own["group"], return_inverse=True)
    pi = np.full(len(values), len(values) / own["count"])
    found = post_stratified_mean(values, pi, groups, own["group_totals"])
    assert found.value == pytest.approx(own["post_stratified"][2], rel=1e-12)
    whole = np.zeros(len(values), int)
    error = standard_error(
        stratified_variance(found.influence, whole, np.array([float(own["count"])]))
    )
    assert error == pytest.approx(own["post_stratified"][3], rel=1e-10)


def test_the_mean_per_query_is_hajeks():
    values, pi = np.array([0.2, 0.8, 0.5]), np.array([0.1, 0.4, 0.2])
    found = mean_per_query(values, pi)
    assert found.value == pytest.approx((2 + 2 + 2.5) / (10 + 2.5 + 5), rel=1e-15)
    assert found.influence == pytest.approx(mean_influence(values, pi), rel=1e-15)


def test_in_proportion_to_searches_the_mean_per_search_is_the_plain_mean():
    searches = np.array([5.0, 40.0, 120.0, 8.0])
    values = np.array([0.1, 0.9, 0.4, 0.3])
    found = mean_per_search(values, searches / 500, searches)
    assert found.value == pytest.approx(values.mean(), rel=1e-15)
    assert (found.design_effect, found.effective_n) == pytest.approx((1, 4))
    plain = values.std(ddof=1) / 2
    error = standard_error(with_replacement_variance(found.influence, searches / 500))
    assert error == pytest.approx(plain, rel=1e-12)


def test_kishs_design_effect_is_its_formula():
    weights = np.array([1.0, 1.0, 4.0])
    assert design_effect(weights) == pytest.approx(3 * 18 / 36)
    assert design_effect(np.full(7, 2.5)) == pytest.approx(1)


def test_after_a_shift_of_traffic_the_post_stratified_mean_follows():
    values, groups = np.array([0.2, 0.4, 0.9, 0.7]), np.array([0, 0, 1, 1])
    pi = np.full(4, 0.01)
    found = post_stratified_mean(values, pi, groups, [300, 100])
    assert found.value == pytest.approx(0.75 * 0.3 + 0.25 * 0.8)
    assert found.effective_n < 4


@pytest.mark.parametrize(("groups", "totals"), [([0, 0], [5, 5]), ([0, 2], [5, 5])])
def test_a_group_without_a_query_or_a_total_is_refused(groups, totals):
    with pytest.raises(SamplingError, match="group"):
        post_stratified_mean(np.array([0.1, 0.2]), np.array([0.5, 0.5]), np.array(groups), totals)
