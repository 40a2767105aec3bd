"""The verdict by a margin: its rule, its interval beside scipy, and how often it errs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from touchstone.statistics.non_inferiority import (
    Verdict,
    non_inferiority,
    student_interval,
    verdict_of,
)
from touchstone.statistics.paired import power_of
from touchstone.statistics.resampling import FloatArray

MARGIN, SPREAD, PAIRS = 0.02, 0.15, 10_000


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.01, 0.05, "better"),
        (0.0, 0.05, "no worse"),
        (-0.01, 0.05, "no worse"),
        (-0.019, -0.001, "no worse"),  # surely worse, but by less than the margin
        (-0.02, -0.001, "worse"),
        (-0.05, -0.03, "worse"),
        (-0.02, 0.0, "inconclusive"),
        (-0.05, 0.05, "inconclusive"),
    ],
)
def test_the_verdict_follows_from_the_interval(low: float, high: float, verdict: str) -> None:
    assert verdict_of(low=low, high=high, margin=MARGIN) == verdict


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_the_interval_is_that_of_scipy(level: float) -> None:
    rng = np.random.default_rng(1)
    run, baseline = rng.random((2, 40))
    found = non_inferiority(run - baseline, margin=MARGIN, level=level)
    expected = stats.ttest_rel(run, baseline).confidence_interval(level)
    assert found.difference == pytest.approx(float(np.mean(run - baseline)), rel=1e-12)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-10)


@pytest.mark.parametrize(
    ("value", "verdict"), [(0.1, "better"), (0.0, "no worse"), (-0.1, "worse")]
)
def test_where_all_differences_are_equal_the_interval_is_the_point(
    value: float, verdict: str
) -> None:
    found = non_inferiority(np.full(7, value), margin=MARGIN)
    assert (found.low, found.high, found.verdict) == (value, value, verdict)
    assert (found.mdd, found.needed) == (None, None)


def test_without_a_margin_equal_runs_are_not_shown_to_be_no_worse() -> None:
    assert non_inferiority(np.zeros(7), margin=0).verdict == "inconclusive"


@pytest.mark.parametrize("differences", [[], [0.3]])
def test_fewer_than_two_queries_say_nothing(differences: list[float]) -> None:
    found = non_inferiority(np.array(differences), margin=MARGIN)
    assert found.n == len(differences)
    assert (found.verdict, found.low, found.high) == ("inconclusive", None, None)


@pytest.mark.parametrize(("margin", "level"), [(-0.1, 0.95), (0.1, 0), (0.1, 1), (0.1, 95)])
def test_a_margin_or_level_that_means_nothing_is_refused(margin: float, level: float) -> None:
    with pytest.raises(ValueError, match="must"):
        non_inferiority(np.zeros(3), margin=margin, level=level)


@pytest.mark.parametrize("mean", [-0.015, -0.005, 0.0, 0.004])
def test_so_many_queries_as_are_needed_decide_four_times_out_of_five(mean: float) -> None:
    differences = np.tile([mean - SPREAD, mean + SPREAD], 25)
    found = non_inferiority(differences, margin=MARGIN)
    assert found.verdict == "inconclusive"
    assert found.needed is not None
    assert found.needed > found.n
    rng = np.random.default_rng(2)
    drawn = rng.normal(mean, differences.std(ddof=1), (2_000, found.needed))
    decided = [verdict != "inconclusive" for verdict in verdicts(drawn)]
    # below 0 both a worse and a no worse decide
    assert 0.77 <= np.mean(decided) <= (0.83 if mean >= 0 else 1)


def test_what_no_number_of_queries_would_decide_has_no_number() -> None:
    found = non_inferiority(np.array([-0.1, 0.1, -0.1, 0.1]), margin=0)
    assert (found.verdict, found.needed) == ("inconclusive", None)


@given(
    st.lists(st.floats(-1, 1), min_size=2, max_size=30),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_a_wider_margin_never_makes_a_verdict_worse(
    differences: list[float], one: float, other: float
) -> None:
    order = ["worse", "inconclusive", "no worse", "better"]
    narrow, wide = (
        non_inferiority(np.array(differences), margin=margin).verdict
        for margin in sorted((one, other))
    )
    assert order.index(narrow) <= order.index(wide)


def verdicts(drawn: FloatArray) -> list[Verdict]:
    low, high = student_interval(drawn, level=0.95)
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return [verdict_of(low=one, high=other, margin=MARGIN) for one, other in pairs]


@pytest.mark.parametrize("queries", [50, 500])
def test_how_often_it_errs_and_how_often_it_finds_what_is_worse(queries: int) -> None:
    """10,000 pairs of runs at a true difference of 0, −m and −2m: docs/comparing.md has them."""
    rng = np.random.default_rng(queries)
    share = {}
    for times in (0, 1, 2):
        found = verdicts(rng.normal(-times * MARGIN, SPREAD, (PAIRS, queries)))
        share[times] = {name: found.count(name) / PAIRS for name in set(found)}
    assert share[0].get("worse", 0) <= 0.03
    assert share[1].get("no worse", 0) + share[1].get("better", 0) <= 0.03
    # the lower tail alone: at −2m the upper one is below 1e-6
    theory = power_of(difference=2 * MARGIN, spread=SPREAD, n=queries)
    assert share[2]["worse"] == pytest.approx(theory, abs=0.015)
