"""What a budget buys: against drawing many samples, and both ways round."""

import numpy as np
import pytest

from touchstone.sampling.designs import stratified
from touchstone.sampling.errors import SamplingError
from touchstone.sampling.estimation import hajek_mean
from touchstone.sampling.frames import Frame
from touchstone.sampling.planning import (
    PlannedStrata,
    expected_standard_error,
    plan_for_budget,
    plan_for_difference,
)

STRATA = PlannedStrata.of(
    ("head", "torso", "tail"), [100, 2_000, 50_000], [0.10, 0.18, 0.25], [60, 40, 30]
)


def test_the_expected_error_is_the_one_that_samples_have():
    rng = np.random.default_rng(4)
    names = ["a"] * 80 + ["b"] * 300
    values = np.concatenate((rng.uniform(0, 1, 80), rng.normal(0.3, 0.1, 300)))
    frame = Frame.of([f"q{i}" for i in range(380)], strata=names)
    spreads = [values[:80].std(ddof=1), values[80:].std(ddof=1)]
    strata = PlannedStrata.of(("a", "b"), [80, 300], spreads, [1, 1])
    plan = plan_for_budget(strata, 60)
    own = dict(zip(strata.names, plan.n.tolist(), strict=True))
    means = []
    for seed in range(600):
        drawn = stratified(frame, own, seed=seed)
        means.append(hajek_mean(values[drawn.rows], drawn.pi))
    assert plan.standard_error == pytest.approx(np.std(means), rel=0.1)
    assert np.mean(means) == pytest.approx(values.mean(), abs=4 * plan.standard_error / 24)


def test_the_detectable_difference_is_shown_with_its_power():
    found = plan_for_budget(STRATA, 6_000)
    assert found.detectable == pytest.approx((1.959964 + 0.841621) * found.standard_error, rel=1e-6)
    stricter = plan_for_budget(STRATA, 6_000, power=0.9, level=0.01)
    assert stricter.detectable > found.detectable
    assert stricter.n.tolist() == found.n.tolist()


def test_a_budget_is_not_exceeded_and_more_of_it_is_never_worse():
    errors = []
    for budget in (1_000, 3_000, 9_000, 27_000):
        found = plan_for_budget(STRATA, budget)
        assert budget - 60 < found.cost <= budget
        errors.append(found.standard_error)
    assert errors == sorted(errors, reverse=True)


def test_the_cheapest_plan_for_a_difference_is_found():
    found = plan_for_difference(STRATA, 0.05)
    assert found.detectable <= 0.05
    assert plan_for_budget(STRATA, found.cost * 0.98).detectable > 0.05


def test_a_mean_per_search_is_planned_by_the_searches_of_the_strata():
    per_search = PlannedStrata.of(
        STRATA.names, STRATA.counts, STRATA.spreads, STRATA.costs, weights=[50, 30, 20]
    )
    assert plan_for_budget(per_search, 6_000).n[0] > 3 * plan_for_budget(STRATA, 6_000).n[0]


def test_everything_judged_leaves_no_error():
    strata = PlannedStrata.of(("a", "b"), [10, 20], [0.2, 0.3], [1, 1])
    assert expected_standard_error(strata, strata.counts) == 0
    assert plan_for_difference(strata, 1e-9).n.tolist() == [10, 20]


def test_a_large_difference_costs_two_queries_of_each_stratum():
    assert plan_for_difference(STRATA, 5.0).n.tolist() == [2, 2, 2]


@pytest.mark.parametrize("difference", [0, -0.1, np.nan])
def test_a_difference_that_is_not_above_0_is_refused(difference):
    with pytest.raises(SamplingError, match="above 0"):
        plan_for_difference(STRATA, difference)


def test_a_budget_below_two_queries_of_each_stratum_is_refused():
    with pytest.raises(SamplingError, match="it takes 260"):
        plan_for_budget(STRATA, 259)
