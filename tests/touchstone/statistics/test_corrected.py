"""Corrected means: ppi_py's numbers, the formulas written out, their laws, and what is refused."""

import json
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.touchstone.statistics.coverage import Cell, cells, simulate
from tests.touchstone.statistics.coverage_chorus import coverage, values
from touchstone.sampling.estimation import poisson_variance, stratified_variance
from touchstone.statistics.corrected import (
    CorrectionRefusedError,
    corrected_list_mean,
    corrected_sample_mean,
    corrected_strata_mean,
    corrected_unequal_mean,
    people_mean,
    sample_weight,
)

RECORDED = Path(__file__).parents[2] / "reference" / "recorded" / "ppi.json"
Z = 1.959963984540054
IN_CI = [cell for cell in cells() if cell.n == 20 or (cell.n, cell.kind) == (60, "strata")]


def judged(n=30, size=120, *, seed=5, noise=0.2):
    """Y of n queries, F of them, F of all; the first n of all are those."""
    rng = np.random.default_rng(seed)
    y = rng.beta(2, 1.5, size)
    f = np.clip(0.8 * y + 0.2 + rng.normal(0, noise, size), 0, 1)
    return y[:n], f[:n], f


def average(numbers):
    return sum(numbers) / len(numbers)


def squares(numbers, others=None):
    """Σ (x − mean)(y − mean), by a loop."""
    second = numbers if others is None else others
    a, b = average(numbers), average(second)
    return sum((x - a) * (y - b) for x, y in zip(numbers, second, strict=True))


@pytest.mark.parametrize("interval", ["t", "z"])
def test_the_mean_of_a_sample_is_its_formula(interval):
    y, f, every = (one.tolist() for one in judged())
    others, n = every[30:], 30
    variance = squares(every) / (len(every) - 1)
    weight = squares(y, f) / (n - 1) / ((1 + n / len(others)) * variance)
    residuals = [a - weight * b for a, b in zip(y, f, strict=True)]
    lost = 2 if interval == "t" else 1
    error = sqrt(
        weight**2 * squares(others) / (len(others) - 1) / len(others)
        + squares(residuals) / (n - lost) / n
    )
    edge = stats.t.ppf(0.975, n - 2) if interval == "t" else Z
    estimate = weight * average(others) + average(residuals)
    found = corrected_sample_mean(
        np.array(y), np.array(f), np.array(others), interval=interval, level=0.95
    )
    assert 0 < weight < 1
    assert found.weight == pytest.approx(weight, rel=1e-12)
    assert found.estimate == pytest.approx(estimate, rel=1e-12)
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    assert found.low == pytest.approx(estimate - edge * error, rel=1e-12)
    assert found.high == pytest.approx(estimate + edge * error, rel=1e-12)


@pytest.mark.parametrize("interval", ["t", "z"])
def test_the_mean_of_a_list_is_its_formula(interval):
    y, f, every = (one.tolist() for one in judged())
    n, size = 30, len(every)
    weight = squares(y, f) / squares(f)
    residuals = [a - weight * b for a, b in zip(y, f, strict=True)]
    lost = 2 if interval == "t" else 1
    error = sqrt((1 - n / size) * squares(residuals) / (n - lost) / n)
    edge = stats.t.ppf(0.95, n - 2) if interval == "t" else stats.norm.ppf(0.95)
    estimate = weight * average(every) + average(residuals)
    found = corrected_list_mean(
        np.array(y), np.array(f), np.array(every), interval=interval, level=0.9
    )
    assert found.weight == pytest.approx(weight, rel=1e-12)
    assert found.estimate == pytest.approx(estimate, rel=1e-12)
    assert found.standard_error == pytest.approx(error, rel=1e-12)
    assert found.low == pytest.approx(estimate - edge * error, rel=1e-12)
    assert found.high == pytest.approx(estimate + edge * error, rel=1e-12)


@pytest.mark.parametrize("case", range(4))
def test_with_its_denominators_the_numbers_are_ppi_pys(case):
    """It divides by n where n − 1 belongs, in the covariance and in both variances."""
    recorded = json.loads(RECORDED.read_text())["cases"][case]
    human, judge, others = (np.array(recorded[key]) for key in ("human", "judge", "others"))
    n, left = len(human), len(others)
    whole = np.concatenate((judge, others))
    covariance = np.cov(human, judge, ddof=0)[0, 1]
    weight = sample_weight(np.asarray(covariance), whole.var(ddof=1), n, left)
    assert weight == pytest.approx(recorded["lambda"], rel=1e-6)
    ours = corrected_sample_mean(human, judge, others, interval="z")
    assert ours.weight == pytest.approx(weight * n / (n - 1), rel=1e-12)
    residuals = human - weight * judge
    estimate = weight * others.mean() + residuals.mean()
    assert estimate == pytest.approx(recorded["estimate"], rel=1e-6)
    error = sqrt(weight**2 * others.var() / left + residuals.var() / n)
    assert [estimate - Z * error, estimate + Z * error] == pytest.approx(recorded["z95"], rel=1e-6)
    # and with the right ones they are near
    assert ours.estimate == pytest.approx(recorded["estimate"], abs=0.003)
    assert [ours.low, ours.high] == pytest.approx(recorded["z95"], abs=0.006)


def test_strata_are_their_formula():
    weights, parts, estimate, variance, spread = [0.7, 0.3], [], 0.0, 0.0, 0.0
    for seed, weight in enumerate(weights):
        y, f, every = judged(20, seed=seed)
        part = corrected_list_mean(y, f, every)
        parts.append(part)
        estimate += weight * float(part.estimate)
        variance += weight**2 * float(part.standard_error) ** 2
        spread += (weight**2 * float(part.standard_error) ** 2) ** 2 / 18
    found = corrected_strata_mean(parts, weights)
    edge = stats.t.ppf(0.975, variance**2 / spread)
    assert found.estimate == pytest.approx(estimate, rel=1e-12)
    assert found.standard_error == pytest.approx(sqrt(variance), rel=1e-12)
    assert found.high == pytest.approx(estimate + edge * sqrt(variance), rel=1e-10)


def test_unequal_chances_are_their_formula():
    y, f, every = judged()
    pi = np.random.default_rng(1).uniform(0.1, 0.9, 30)
    size = len(every)
    estimate = average(every.tolist()) + sum((y - f) / pi) / size
    variance = sum((1 - p) / p**2 * (a - b) ** 2 for p, a, b in zip(pi, y, f, strict=True))
    found = corrected_unequal_mean(
        y, f, pi, every, lambda values: poisson_variance(values, pi), interval="z"
    )
    assert found.estimate == pytest.approx(estimate, rel=1e-12)
    assert found.standard_error == pytest.approx(sqrt(variance) / size, rel=1e-12)


def test_with_equal_chances_unequal_ones_are_the_list_with_the_same_weight():
    y, f, every = judged()
    pi, whole = np.full(30, 30 / 120), np.zeros(30, int)
    simple = corrected_list_mean(y, f, every, interval="z")
    found = corrected_unequal_mean(
        y,
        f,
        pi,
        every,
        lambda values: stratified_variance(values, whole, np.array([120.0])),
        weight=float(simple.weight),
        interval="z",
    )
    for name in ("estimate", "standard_error", "low", "high"):
        assert getattr(found, name) == pytest.approx(getattr(simple, name), rel=1e-10)


def test_repetitions_along_the_leading_axes_are_those_one_by_one():
    rng = np.random.default_rng(3)
    y, f = rng.random((4, 20)), rng.random((4, 90))
    together = corrected_sample_mean(y, f[:, :20], f[:, 20:])
    listed = corrected_list_mean(y, f[:, :20], f)
    for row in range(4):
        alone = corrected_sample_mean(y[row], f[row, :20], f[row, 20:])
        assert together.low[row] == pytest.approx(alone.low, rel=1e-12)
        alone = corrected_list_mean(y[row], f[row, :20], f[row])
        assert listed.high[row] == pytest.approx(alone.high, rel=1e-12)


@given(st.floats(-5, 5), st.integers(0, 50))
def test_a_bias_of_the_machine_that_is_the_same_everywhere_changes_nothing(bias, seed):
    y, f, every = judged(seed=seed)
    for found, shifted in (
        (
            corrected_sample_mean(y, f, every[30:]),
            corrected_sample_mean(y, f + bias, every[30:] + bias),
        ),
        (corrected_list_mean(y, f, every), corrected_list_mean(y, f + bias, every + bias)),
    ):
        assert shifted.estimate == pytest.approx(found.estimate, abs=1e-9)
        assert shifted.high - shifted.low == pytest.approx(found.high - found.low, abs=1e-9)


def test_a_perfect_machine_leaves_what_the_sampling_of_all_queries_leaves():
    y, _, _ = judged(120, 120)
    listed = corrected_list_mean(y[:30], y[:30], y)
    assert (listed.weight, listed.estimate) == pytest.approx((1, y.mean()))
    assert listed.high - listed.low == pytest.approx(0, abs=1e-12)
    sample = corrected_sample_mean(y[:30], y[:30], y[30:])
    assert sample.standard_error < people_mean(y[:30]).standard_error


def test_a_machine_that_says_nothing_leaves_people_alone():
    y = judged()[0]
    constant = np.full(30, 0.4)
    found = corrected_sample_mean(y, constant, np.full(90, 0.4), interval="z")
    alone = people_mean(y, interval="z")
    assert (found.weight, found.estimate, found.low) == (0, alone.estimate, alone.low)
    assert corrected_sample_mean(y, constant, np.empty(0)).low == people_mean(y).low
    listed = corrected_list_mean(y, constant, np.full(120, 0.4), interval="z")
    assert listed.low == pytest.approx(people_mean(y, size=120, interval="z").low, rel=1e-12)


def test_a_list_that_people_judged_whole_has_no_error():
    y, f, _ = judged(9, 9)
    found = corrected_list_mean(y, f, f)
    assert (found.estimate, found.low, found.high) == (y.mean(), y.mean(), y.mean())


def test_a_list_of_one_query_that_people_judged_is_its_value():
    one = np.array([0.25])
    assert corrected_list_mean(one, one, one).low == people_mean(one, size=1).high == 0.25
    with pytest.raises(CorrectionRefusedError, match="a single query"):
        people_mean(one)


def test_people_alone_are_students_interval():
    y = judged()[0]
    expected = stats.ttest_1samp(y, 0).confidence_interval(0.95)
    found = people_mean(y)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-12)


@pytest.mark.parametrize(
    ("estimate", "said"),
    [
        (lambda y, f, every: corrected_sample_mean(y[:14], f[:14], every[14:]), "judged 14 "),
        (lambda y, f, every: corrected_list_mean(y[:14], f[:14], every), "takes 15"),
        (
            lambda y, f, every: corrected_unequal_mean(
                y[:14], f[:14], np.full(14, 0.5), every, lambda _: 1.0
            ),
            "takes 15",
        ),
        (
            lambda y, f, every: corrected_unequal_mean(
                y, f, np.full(30, 0.5), every, lambda _: -1.0
            ),
            "negative",
        ),
        (lambda y, f, every: corrected_list_mean(y, f[:20], every), "each query"),
        (lambda y, f, every: corrected_list_mean(y, f, every[:29]), "each query"),
        (lambda y, f, every: corrected_list_mean(y, f, every, level=1.0), "level"),
        (
            lambda y, f, every: corrected_strata_mean([corrected_list_mean(y, f, every)], [0.9]),
            "sum to 1",
        ),
    ],
)
def test_what_can_not_be_corrected_is_refused(estimate, said):
    with pytest.raises(CorrectionRefusedError, match=said):
        estimate(*judged())


@pytest.mark.parametrize("cell", IN_CI, ids=lambda cell: "-".join(map(str, vars(cell).values())))
def test_intervals_contain_the_truth_as_often_as_they_claim(cell: Cell):
    found = simulate(cell, 1_000)
    assert 0.92 <= found.share <= 0.98
    if cell.judge == "good":
        assert found.half < 0.6 * found.half_by_people
    if cell.judge == "useless":
        assert found.half < 1.06 * found.half_by_people


@pytest.mark.data
def test_on_real_labels_intervals_contain_the_truth_and_are_shorter_than_peoples(data_dir):
    folder = data_dir / "chorus-ecommerce"
    people, machine = (values(folder, rater, "tfidf") for rater in ("final", "agent_2"))
    share, _, half, half_by_people, *_ = coverage(people, machine, 67, 1_000)
    assert 0.92 <= share <= 0.98
    assert half < 0.8 * half_by_people


@pytest.mark.data
def test_on_real_labels_most_intervals_that_are_too_short_are_marked(data_dir):
    folder = data_dir / "chorus-ecommerce"
    people, machine = (values(folder, rater, "bm25-k1.2-b0.75") for rater in ("final", "agent_1"))
    share, *_, marked, share_of_others = coverage(people, machine, 20, 2_000)
    assert share < 0.92
    assert marked > 0.75
    assert 0.92 <= share_of_others <= 0.98


@pytest.mark.parametrize("judge", ["good", "noisy", "biased"])
def test_cells_whose_intervals_are_too_short_are_marked(judge):
    assert simulate(Cell("sharp strata", "mean", "0/1-heavy", 60, judge), 1_000).marked > 0.93
    assert simulate(Cell("very unequal", "mean", "0/1-heavy", 60, judge), 1_000).marked > 0.93
