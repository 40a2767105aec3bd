"""The report's charts: windows where their figures are, each leading to its pairs."""

from datetime import UTC, datetime, timedelta

from annotation.quality.figures import Event
from annotation.templatetags.quality import (
    control_chart,
    days_chart,
    hours_chart,
    interval_chart,
    moment,
)

DAY = 86_400.0
BEGIN = 1_772_323_200.25  # 1 March 2026, 00:00 UTC, and a bit


def window(day: int, **figures: float | bool | None) -> dict[str, float | bool | None]:
    return {"begins": BEGIN + day * DAY, "ends": BEGIN + (day + 1) * DAY, **figures}


def test_alpha_of_each_window_has_its_interval_between_named_bounds() -> None:
    windows = [
        window(0, value=0.5, low=0.25, high=0.75, units=20),
        window(1, value=None, low=None, high=None, units=3),
        window(2, value=1.0, low=None, high=None, units=20),
    ]
    drawn = interval_chart(windows, pairs="/pairs")
    assert 'x1="25.0%" x2="25.0%" y1="75.0%" y2="25.0%"' in drawn
    assert drawn.count('<circle class="shape"') == 2
    assert ">0.667</text>" in drawn
    assert ">0.800</text>" in drawn
    assert f"/pairs?since={BEGIN}&amp;until={BEGIN + DAY}" in drawn
    assert "alpha 0.50 (0.25 to 0.75), 20 pairs" in drawn
    assert "Start of the window (UTC), 2026" in drawn


def test_a_window_outside_its_limits_is_marked_and_leads_to_that_persons_pairs() -> None:
    windows = [
        window(0, mean=0.5, low=0.0, high=1.0, is_outside=False),
        window(1, mean=2.0, low=0.0, high=1.0, is_outside=True),
    ]
    drawn = control_chart(windows, title="Bias", pairs="/pairs", username="b&n")
    assert drawn.count('<a class="mark outside"') == 1
    assert 'cx="75.0%" cy="0.0%"' in drawn
    assert f"/pairs?person=b%26n&amp;since={BEGIN + DAY}" in drawn
    assert 'class="band" points="25.0,50.0 75.0,50.0 75.0,100.0 25.0,100.0"' in drawn


def test_labels_per_hour_end_with_this_hour() -> None:
    drawn = hours_chart([0] * 23 + [8])
    assert "1 to 0 hours ago: 8 labels" in drawn
    assert 'x="95.83%" y="0.0%"' in drawn
    assert '<text x="100.0%" y="1.35em" text-anchor="middle">0</text>' in drawn


def test_events_are_marked_where_they_happened_and_others_are_not() -> None:
    alphas = [window(day, value=0.5, low=0.4, high=0.6, units=20) for day in range(2)]
    means = [window(day, mean=0.9, low=0.8, high=1.0, is_outside=False) for day in range(2)]
    half_a_day_in = Event(BEGIN + DAY / 2, "guideline", "revision 2 of the guideline")
    later = Event(BEGIN + 9 * DAY, "action", "an annotator was paused")
    for drawn in (
        interval_chart(alphas, pairs="/pairs", events=[half_a_day_in, later]),
        control_chart(means, title="Accuracy on gold", events=[half_a_day_in, later]),
    ):
        assert drawn.count('class="event"') == 1
        assert 'class="event" x1="25.0%" x2="25.0%"' in drawn
    assert "<a " not in control_chart(means, title="Accuracy on gold")
    assert ">1.00</text>" in control_chart(means, title="Accuracy on gold")
    assert ">1.05</text>" not in control_chart(means, title="Accuracy on gold")
    now = moment(BEGIN + DAY)
    assert 'class="event" x1="50.0%"' in hours_chart([1] * 24, events=[half_a_day_in], now=now)


def test_alpha_outside_its_control_limits_is_marked_and_no_limit_is_above_1() -> None:
    limits = {"limit_low": 0.8, "limit_high": 1.0}
    windows = [
        window(0, value=0.9, low=0.8, high=1.0, units=20, is_outside=False, **limits),
        window(1, value=0.5, low=0.4, high=0.6, units=20, is_outside=True, **limits),
    ]
    drawn = interval_chart(windows, pairs="/pairs")
    assert 'class="band" points="25.0,0.0 75.0,0.0 75.0,20.0 25.0,20.0"' in drawn
    assert drawn.count('class="mark outside"') == 1


def test_an_hour_leads_to_its_pairs_and_one_unlike_the_others_is_marked() -> None:
    now = moment(BEGIN + DAY)
    drawn = hours_chart([0] * 12 + [10] * 11 + [90], now=now, pairs="/pairs")
    assert drawn.count('<a class="mark') == 12
    # the mean of the 12 hours with labels, and 2.66 mean distances of two: 36 at most
    assert drawn.count('class="mark outside"') == 1
    assert f"/pairs?since={BEGIN + DAY - 3600}&amp;until={BEGIN + DAY}" in drawn
    assert drawn.count('class="band"') == 1
    assert 'class="band"' not in hours_chart([0] * 20 + [5] * 4, now=now)


def test_days_without_labels_keep_their_place_and_the_others_lead_to_pairs() -> None:
    first = datetime(2026, 3, 1, tzinfo=UTC)
    event = Event((first + timedelta(days=1, hours=12)).timestamp(), "guideline", "revision 2")
    days = [(first, 4), (first + timedelta(days=3), 2)]
    drawn = days_chart(days, pairs="/pairs", username="ben", events=[event])
    assert drawn.count('<a class="mark') == 2
    assert 'class="event" x1="37.5%"' in drawn
    begin = first.timestamp()
    assert f"/pairs?person=ben&amp;since={begin!r}&amp;until={begin + DAY - 1e-6!r}" in drawn
    assert "4 Mar 2026: 2 labels" in drawn
