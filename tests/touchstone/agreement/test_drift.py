"""Change over time, and who stands out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.quality.profiles import fast_share
from tests.annotation.simulated_campaign import (
    NAMES,
    PLANTED,
    assess_all,
    count_named,
    simulate,
)
from touchstone.agreement.drift import (
    bounds,
    change_point,
    control_windows,
    estimate_limits,
    individual_limits,
)
from touchstone.statistics.wilson import wilson_interval


def shifted(seed, count=400, at=250, shift=1.0):
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 1, count)
    values[at:] += shift
    return np.arange(count) * 60.0, values


def test_a_change_is_found_where_it_was_planted():
    times, values = shifted(1)
    found = change_point(times, values)
    assert abs(found.at - times[250]) <= 10 * 60
    assert found.chance == 1 / 1_000
    assert found.shift == pytest.approx(1.0, abs=0.2)
    assert found.count_before + found.count_after == 400


def test_without_a_change_chance_explains_the_largest_difference():
    chances = [change_point(*shifted(seed, shift=0.0)).chance for seed in range(40)]
    assert sum(chance <= 0.05 for chance in chances) <= 5
    assert 0.3 < np.mean(chances) < 0.7


def test_too_few_or_equal_values_have_no_change():
    assert change_point(np.arange(39.0), np.arange(39.0)) is None
    assert change_point(np.arange(99.0), np.ones(99)) is None


def test_the_same_values_give_the_same_answer():
    assert change_point(*shifted(3)) == change_point(*shifted(3))


def test_windows_that_leave_the_control_limits_are_seen():
    windows = control_windows(*shifted(2, count=480, at=400, shift=2.0))
    assert sum(window.count for window in windows) == 480
    assert windows[-1].is_outside
    steady = control_windows(*shifted(2, count=480, shift=0.0))
    assert not any(window.is_outside for window in steady)
    assert control_windows(np.array([]), np.array([])) == ()


@given(st.integers(0, 100_000))
def test_windows_are_nearly_equal_and_lose_nothing(count):
    cuts = bounds(count)
    sizes = np.diff(cuts)
    assert (cuts[0], cuts[-1]) == (0, count)
    assert len(sizes) <= 24
    assert sizes.max() - sizes.min() <= 1


def test_runs_of_labels_that_nobody_can_have_read_are_counted():
    seconds = np.array([10.0] * 50 + [1.0] * 10 + [9.0] * 30 + [1.0] * 5 + [12.0] * 5)
    assert fast_share(seconds, 10.0) == pytest.approx(0.1)  # five are no run
    assert fast_share(np.full(3, np.nan), 10.0) is None


def test_a_report_names_each_of_the_planted_people_and_when_one_changed():
    simulated = simulate(seed=1, gold=24)
    assessed = assess_all(simulated.labels, simulated.checks)
    found = dict(zip(simulated.people, assessed, strict=True))
    for kind in PLANTED:
        assert NAMES[kind][0] in [one.kind for one in found[kind].findings], kind
    assert found["always 2"].findings[0].grade == 2
    drift = next(one for one in found["drifting"].findings if one.kind == "drifting")
    assert abs(drift.at - simulated.turned_at) < 0.1 * simulated.turned_at
    assert found["careful"].findings == ()


def test_planted_people_are_named():
    people, named = count_named(range(1_000, 1_012), gold=24)
    for kind in ("hasty", "always 2"):
        assert named[kind] == people[kind], kind
    for kind in ("generous", "drifting"):
        assert named[kind] / people[kind] > 0.8, kind
    assert named["careful"] == 0


def test_without_gold_who_leans_is_not_named_but_who_says_nothing_is():
    people, named = count_named(range(1_000, 1_006))
    assert named["always 2"] == people["always 2"]
    assert named["generous"] == named["careful"] == 0


def test_what_is_planted_is_used_so_that_a_change_is_found_in_fewer_labels():
    # pairs that are gold are in no overlap: with 24 checks a person, 70 pairs fewer are compared
    without, with_gold = (
        count_named(range(1_000, 1_006), pairs=330, gold=gold)[1]["drifting"] for gold in (0, 24)
    )
    assert without < with_gold


@pytest.mark.parametrize(
    ("hits", "of", "interval"),
    [
        # Newcombe 1998, Statistics in Medicine 17, table I, method 3
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0000, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_wilsons_interval_is_the_published_one(hits, of, interval):
    assert tuple(round(end, 4) for end in wilson_interval(hits, of)) == interval


@given(st.integers(0, 500), st.integers(1, 500))
def test_wilsons_interval_holds_the_share_and_stays_inside(hits, more):
    of = hits + more - 1
    found = wilson_interval(hits, of)
    if found is None:
        assert of == 0
    else:
        assert 0 <= found[0] <= hits / of <= found[1] <= 1


def test_limits_of_estimates_stand_around_the_mean_of_the_precise_ones():
    low, high = estimate_limits(np.array([0.8, 0.2]), np.array([0.1, 0.2]))
    # weights 100 and 25: 0.68
    assert low == pytest.approx([0.38, 0.08])
    assert high == pytest.approx([0.98, 1.28])
    low, high = estimate_limits(np.array([1.0, 0.5]), np.array([0.0, 0.1]))
    assert (low[0], high[0]) == (0.75, 0.75)


def test_limits_of_single_values_follow_the_distances_of_neighbours():
    assert individual_limits(np.array([10.0, 12.0, 10.0, 12.0])) == pytest.approx((5.68, 16.32))
