"""Both readings of a sample: R's survey, and how often their intervals hold the truth."""

import numpy as np
import pytest

from tests.touchstone.sampling.coverage import CELLS, coverage
from tests.touchstone.sampling.test_estimation import stratified_schools, survey  # noqa: F401
from touchstone.sampling.readings import SampledValues, post_stratified_readings, two_readings
from touchstone.sampling.weighting import design_effect

# Intervals that are too short: pages warn of fewer than 40 effective queries that were not certain,
# and of means per search from a simple random sample (docs/estimates.md).
SHORT = {
    (f"{design}{end}", reading)
    for end in ("", ", 0/1-heavy")
    for design, reading in (
        ("simple, n = 50", "per search"),
        ("simple, n = 150", "per search"),
        ("simple, n = 400", "per search"),
        ("stratified, n = 50", "per query"),
        ("stratified, n = 50", "per search"),
        ("by size, n = 50", "per query"),
        ("by size in strata, n = 50", "per query"),
    )
}

SHORT_POST_STRATIFIED = SHORT | {("stratified, n = 150, 0/1-heavy", "per search")}


def test_the_reading_per_query_is_surveys_published_stratified_example(survey):  # noqa: F811
    values, stratum, counts, own = stratified_schools(survey)
    chances = own[stratum]
    sample = SampledValues(chances, stratum, counts, np.ones(len(values)), by_size=False)
    per_query, per_search = two_readings(values, np.ones(len(values), bool), sample)
    assert per_query.value == pytest.approx(662.29, abs=0.005)
    assert per_query.standard_error == pytest.approx(9.4089, abs=5e-5)
    assert per_search == per_query
    assert per_query.effective_n == pytest.approx(200 / design_effect(1 / chances))
    assert per_query.df == 197


def test_what_does_not_count_is_outside_the_mean_and_inside_the_design():
    pi, strata = np.full(6, 0.1), np.zeros(6, int)
    sample = SampledValues(pi, strata, np.array([60.0]), np.arange(1.0, 7.0), by_size=False)
    counted = np.array([True, True, True, True, False, False])
    values = np.array([0.1, 0.4, 0.3, 0.8, 99.0, np.nan])
    per_query, per_search = two_readings(values, counted, sample)
    assert per_query.value == pytest.approx(0.4)
    assert per_search.value == pytest.approx((0.1 + 0.8 + 0.9 + 3.2) / 10)
    # a ratio of two totals over the whole sample, of which two add nothing
    influence = np.array([-0.3, 0.0, -0.1, 0.4, 0.0, 0.0]) / 40
    assert per_query.standard_error == pytest.approx(
        np.sqrt(60**2 * 0.9 / 6 * influence.var(ddof=1))
    )
    assert (per_query.n, per_query.df) == (4, 3)


def test_a_single_uncertain_query_has_a_mean_but_no_error():
    sample = SampledValues(
        np.array([1.0, 0.5]), np.zeros(2, int), np.array([9.0]), np.array([5.0, 1.0]), by_size=True
    )
    reading, _ = two_readings(np.array([0.2, 0.8]), np.ones(2, bool), sample)
    assert reading.value == pytest.approx((0.2 + 1.6) / 3)
    assert reading.standard_error is None
    assert reading.uncertain_n == 1


def test_nothing_counted_says_nothing():
    sample = SampledValues(np.ones(2), np.zeros(2, int), np.array([2.0]), np.ones(2), by_size=False)
    reading, _ = two_readings(np.zeros(2), np.zeros(2, bool), sample)
    assert (reading.value, reading.n) == (None, 0)


def test_post_stratified_to_the_queries_of_the_frame_the_mean_per_query_stays(survey):  # noqa: F811
    values, stratum, counts, own = stratified_schools(survey)
    sample = SampledValues(own[stratum], stratum, counts, 1 + values % 7, by_size=False)
    counted = values > 450  # a domain
    plain, _ = two_readings(values, counted, sample)
    found, per_search = post_stratified_readings(
        values, counted, sample, queries=counts, searches=counts[::-1]
    )
    assert found.value == pytest.approx(plain.value, rel=1e-12)
    assert found.standard_error == pytest.approx(plain.standard_error, rel=1e-12)
    assert (found.n, found.df) == (plain.n, plain.df)
    weights = sample.searches / sample.pi
    factor = counts[::-1] / np.bincount(stratum, weights)
    weights = weights * factor[stratum] * counted
    assert per_search.value == pytest.approx(np.average(values, weights=weights))
    assert per_search.effective_n == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


@pytest.mark.parametrize("post_stratified", [False, True], ids=["drawn", "post-stratified"])
@pytest.mark.parametrize("name", ["stratified, n = 150", "by size in strata, n = 150"])
def test_intervals_hold_the_truth_of_both_means(name, post_stratified):
    own = coverage(CELLS[name], repetitions=500, seed=1, post_stratified=post_stratified)
    for share in own:
        assert abs(share - 0.95) < 4 * (0.95 * 0.05 / 500) ** 0.5


@pytest.mark.long
@pytest.mark.parametrize("post_stratified", [False, True], ids=["drawn", "post-stratified"])
@pytest.mark.parametrize("name", CELLS)
def test_intervals_hold_the_truth_in_every_cell_that_is_not_listed(name, post_stratified):
    if post_stratified and not CELLS[name].cuts:
        return
    own = coverage(CELLS[name], repetitions=10_000, seed=1, post_stratified=post_stratified)
    for reading, share in zip(("per query", "per search"), own, strict=True):
        short = SHORT_POST_STRATIFIED if post_stratified else SHORT
        assert (0.93 < share < 0.97) != ((name, reading) in short)
