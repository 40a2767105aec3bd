"""Totals, means and standard errors: R's survey, formulas written out as loops, and simulation."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.touchstone.sampling.builders import (
    joint_of_stratified,
    loop_horvitz_thompson,
    loop_stratified,
    loop_yates_grundy,
    traffic,
)
from touchstone.sampling.designs import inclusion_probabilities, sequential_poisson
from touchstone.sampling.errors import SamplingError
from touchstone.sampling.estimation import (
    hajek_mean,
    horvitz_thompson_variance,
    mean_influence,
    poisson_variance,
    sequential_poisson_variance,
    standard_error,
    stratified_variance,
    total,
    with_replacement_variance,
    yates_grundy_variance,
)

RECORDED = Path(__file__).parents[2] / "reference" / "recorded" / "survey.json"


@pytest.fixture(scope="module")
def survey() -> Any:
    return json.loads(RECORDED.read_text())


def stratified_schools(survey):
    own = survey["api_stratified"]
    names, stratum = np.unique(own["stratum"], return_inverse=True)
    counts = np.array([own["counts"][own["stratum"].index(name)] for name in names], float)
    return np.array(own["value"], float), stratum, counts, np.bincount(stratum) / counts


def checked(recorded, values, pi, variance):
    """The estimates, and their errors by this variance, are those recorded."""
    assert total(values, pi) == pytest.approx(recorded[0], rel=1e-12)
    assert standard_error(variance(values)) == pytest.approx(recorded[1], rel=1e-10)
    assert hajek_mean(values, pi) == pytest.approx(recorded[2], rel=1e-12)
    found = standard_error(variance(mean_influence(values, pi)))
    assert found == pytest.approx(recorded[3], rel=1e-10)


def test_the_published_stratified_example_of_survey_is_met(survey):
    """Mean 662.29, standard error 9.4089: the package's vignette."""
    values, stratum, counts, chances = stratified_schools(survey)
    pi = chances[stratum]
    error = standard_error(stratified_variance(mean_influence(values, pi), stratum, counts))
    assert round(hajek_mean(values, pi), 2) == 662.29
    assert error is not None
    assert round(error, 4) == 9.4089


def test_stratified_samples_are_surveys(survey):
    values, stratum, counts, chances = stratified_schools(survey)
    own, pi = survey["api_stratified"], chances[stratum]
    checked(
        own["without_replacement"], values, pi, lambda y: stratified_variance(y, stratum, counts)
    )
    checked(
        own["with_replacement"], values, pi, lambda y: with_replacement_variance(y, pi, stratum)
    )


def test_simple_samples_are_surveys(survey):
    own = survey["api_simple"]
    values = np.array(own["value"], float)
    pi, whole = np.full(len(values), len(values) / own["count"]), np.zeros(len(values), int)
    counts = np.array([float(own["count"])])
    checked(own["without_replacement"], values, pi, lambda y: stratified_variance(y, whole, counts))


@pytest.mark.parametrize("name", ["Bush", "Nader"])
def test_samples_with_unequal_chances_are_surveys(survey, name):
    own = survey["election"]
    values, pi, joint = (np.array(own[key], float) for key in (name, "pi", "joint"))
    for key, variance in (
        ("horvitz_thompson", lambda y: horvitz_thompson_variance(y, pi, joint)),
        ("yates_grundy", lambda y: yates_grundy_variance(y, pi, joint)),
        ("with_replacement", lambda y: with_replacement_variance(y, pi)),
    ):
        checked(own[f"{name}_{key}"], values, pi, variance)


@pytest.fixture(scope="module")
def sample():
    """Values of 24 queries in 3 strata, with the sizes of the strata."""
    rng = np.random.default_rng(17)
    stratum = np.repeat([0, 1, 2], [6, 10, 8])
    return rng.beta(2, 1, 24), stratum, np.array([6.0, 40.0, 500.0])


def test_the_variances_are_their_formulas_written_out(sample, survey):
    values, stratum, counts = sample
    pi = (np.bincount(stratum) / counts)[stratum]
    joint = joint_of_stratified(stratum, counts)
    assert horvitz_thompson_variance(values, pi, joint) == pytest.approx(
        loop_horvitz_thompson(values, pi, joint), rel=1e-12
    )
    assert yates_grundy_variance(values, pi, joint) == pytest.approx(
        loop_yates_grundy(values, pi, joint), rel=1e-12
    )
    assert stratified_variance(values, stratum, counts) == pytest.approx(
        loop_stratified(values, stratum, counts), rel=1e-12
    )
    own = survey["election"]
    y, pi, joint = (np.array(own[key], float) for key in ("Bush", "pi", "joint"))
    n, z = len(y), [value / chance for value, chance in zip(y, pi, strict=True)]
    expected = n / (n - 1) * sum((one - sum(z) / n) ** 2 for one in z)
    assert with_replacement_variance(y, pi) == pytest.approx(expected, rel=1e-12)
    b = sum((1 - p) * one for p, one in zip(pi, z, strict=True)) / sum(1 - p for p in pi)
    expected = n / (n - 1) * sum((1 - p) * (one - b) ** 2 for p, one in zip(pi, z, strict=True))
    assert sequential_poisson_variance(y, pi) == pytest.approx(expected, rel=1e-12)
    expected = sum((1 - p) * one**2 for p, one in zip(pi, z, strict=True))
    assert poisson_variance(y, pi) == pytest.approx(expected, rel=1e-12)


def test_for_stratified_samples_three_formulas_are_one(sample):
    values, stratum, counts = sample
    pi = (np.bincount(stratum) / counts)[stratum]
    joint = joint_of_stratified(stratum, counts)
    expected = stratified_variance(values, stratum, counts)
    assert horvitz_thompson_variance(values, pi, joint) == pytest.approx(expected, rel=1e-9)
    assert yates_grundy_variance(values, pi, joint) == pytest.approx(expected, rel=1e-9)


def test_a_query_that_is_in_every_sample_adds_no_variance(sample):
    values, stratum, counts = sample
    pi = (np.bincount(stratum) / counts)[stratum]
    joint = joint_of_stratified(stratum, counts)
    other = np.where(pi == 1, values * 3 + 5, values)
    for variance in (
        lambda y: with_replacement_variance(y, pi),
        lambda y: sequential_poisson_variance(y, pi),
        lambda y: poisson_variance(y, pi),
        lambda y: stratified_variance(y, stratum, counts),
        lambda y: yates_grundy_variance(y, pi, joint),
        lambda y: horvitz_thompson_variance(y, pi, joint),
    ):
        assert variance(other) == pytest.approx(variance(values), rel=1e-9)


def test_a_sample_of_everything_has_no_variance_at_all():
    values, pi, whole = np.array([0.2, 0.9, 0.4]), np.ones(3), np.zeros(3, int)
    assert with_replacement_variance(values, pi) == 0
    assert sequential_poisson_variance(values, pi) == 0
    assert stratified_variance(values, whole, np.array([3.0])) == 0


def test_one_query_of_a_stratum_leaves_the_variance_undefined():
    values, pi = np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.5, 0.25])
    stratum = np.array([0, 0, 1])
    for variance in (
        lambda: with_replacement_variance(values, pi, stratum),
        lambda: sequential_poisson_variance(values, pi, stratum),
        lambda: stratified_variance(values, stratum, np.array([4.0, 4.0])),
    ):
        with pytest.raises(SamplingError, match="one query"):
            variance()


def test_a_negative_estimate_of_a_variance_is_no_standard_error():
    assert standard_error(-1e-3) is None
    assert standard_error(4.0) == 2.0


def test_sequential_poisson_estimates_its_own_variance_without_bias():
    """Over 600 draws the mean of the estimated variances is the variance of the totals."""
    frame, n = traffic(300), 40
    rng = np.random.default_rng(2)
    values = frame.size * rng.uniform(0.6, 1.0, 300) + rng.normal(0, 2, 300)
    totals, variances = [], []
    for seed in range(600):
        plan = sequential_poisson(frame, n, seed=seed)
        totals.append(total(values[plan.rows], plan.pi))
        variances.append(sequential_poisson_variance(values[plan.rows], plan.pi))
    assert (inclusion_probabilities(frame.size, n) == 1).sum() > 3
    assert np.mean(totals) == pytest.approx(values.sum(), rel=0.003)
    assert np.mean(variances) == pytest.approx(np.var(totals), rel=0.2)
