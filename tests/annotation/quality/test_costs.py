"""Time and money of labelling, as pure functions."""

from dataclasses import asdict

import pytest

from annotation.quality.costs import Rates, cost, total

FIGURES = {"pairs": 50, "given": {"labels": 120, "measured": 100, "seconds": 900.0}}
UNMEASURED = {"pairs": 10, "given": {"labels": 20, "measured": 0, "seconds": 0.0}}


def test_labels_without_a_time_count_as_the_mean():
    found = cost(FIGURES, 40, Rates(hourly=20.0))
    assert (found.labels, found.measured, found.mean_seconds) == (120, 100, 9.0)
    assert (found.hours, found.left_hours, found.extra_hours) == pytest.approx((0.3, 0.1, 0.125))
    assert (found.spent, found.left, found.extra) == pytest.approx((6.0, 2.0, 2.5))


def test_a_rate_per_label_needs_no_time_and_no_rate_says_nothing_of_money():
    by_label = cost(UNMEASURED, 5, Rates(per_label=0.5))
    assert (by_label.hours, by_label.spent, by_label.left, by_label.extra) == (None, 10.0, 2.5, 5.0)
    assert cost(UNMEASURED, 5, Rates(hourly=20.0)).spent is None
    without = cost(FIGURES, 5, Rates())
    assert (without.hours, without.spent, without.left) == (pytest.approx(0.3), None, None)


def test_several_costs_add_up_as_far_as_they_are_known():
    parts = [cost(FIGURES, 40, Rates(hourly=20.0)), cost(UNMEASURED, 5, Rates(hourly=20.0))]
    both = total(parts)
    assert (both.labels, both.labels_left, both.labels_extra) == (140, 45, 60)
    assert (both.hours, both.spent, both.mean_seconds) == pytest.approx((0.3, 6.0, 9.0))
    assert asdict(total(parts[:1])) == pytest.approx(asdict(parts[0]))
    assert total(parts[1:]).hours is None
