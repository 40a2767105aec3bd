"""Axes have round numbers, marks lie where their values are, and texts stay texts."""

import re
from datetime import UTC, datetime, timedelta
from math import floor, log10
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgments.pages.charts import (
    Axis,
    Plot,
    count_axis,
    mark,
    number_axis,
    order_axis,
    row_axis,
    signed_tick,
    time_axis,
    whole_tick,
)

START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
UNIT = Axis("share", 0, 1, ())


def texts(axis: Axis) -> list[str]:
    return [tick.text for tick in axis.ticks]


def places(axis: Axis) -> list[float]:
    return [axis.percent(tick.value) for tick in axis.ticks]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 1], ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([0.703, 0.887], ["0.70", "0.75", "0.80", "0.85", "0.90"]),
        ([-0.51, 0.31], ["−0.6", "−0.4", "−0.2", "0", "0.2", "0.4"]),
        ([0, 0.3], ["0", "0.1", "0.2", "0.3"]),  # 0.3 / 0.1 is not 3 in binary
        ([12, 87], ["0", "20", "40", "60", "80", "100"]),
        ([0.00012, 0.00019], ["0.00012", "0.00014", "0.00016", "0.00018", "0.00020"]),
        ([0.5, 0.5], ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]),  # one value: from nought to it
        ([-2, -2], ["−2.0", "−1.5", "−1.0", "−0.5", "0"]),
        ([0, 0], ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
    ],
)
def test_numbers_have_ticks_at_round_values(values: list[float], expected: list[str]) -> None:
    assert texts(number_axis("", values)) == expected


def test_ticks_lie_where_their_values_are() -> None:
    assert places(number_axis("", [-0.51, 0.31])) == [0, 20, 40, 60, 80, 100]
    assert places(count_axis("", 93)) == [0, 21.51, 43.01, 64.52, 86.02]
    assert places(order_axis("", ["a", "b", "c", "d"])) == [12.5, 37.5, 62.5, 87.5]


def test_ticks_are_written_as_what_they_count() -> None:
    assert texts(number_axis("", [-0.1, 0.1], most=2, write=signed_tick)) == ["−0.1", "0", "+0.1"]
    assert texts(number_axis("", [0, 3], most=6, write=whole_tick))[:3] == ["0", "", "1"]
    assert texts(count_axis("", 93)) == ["0", "20", "40", "60", "80"]
    assert texts(count_axis("", 3)) == ["0", "1", "2", "3"]
    assert texts(count_axis("", 10_000)) == ["0", "2,000", "4,000", "6,000", "8,000", "10,000"]


@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda value: round(value, 6)), min_size=1, max_size=5),
    st.integers(2, 8),
)
def test_an_axis_holds_every_value_between_few_round_ticks(values: list[float], most: int) -> None:
    axis = number_axis("", values, most=most)
    ticks = [tick.value for tick in axis.ticks]
    assert axis.low <= min(values)
    assert max(values) <= axis.high
    assert (ticks[0], ticks[-1]) == (axis.low, axis.high)
    assert 2 <= len(ticks) <= most + 1
    step = ticks[1] - ticks[0]
    leading = step / 10 ** floor(log10(step) + 1e-9)
    assert min(abs(leading - factor) for factor in (1, 2, 5)) < 1e-3


def test_of_many_things_in_order_the_first_the_last_and_few_between_are_written() -> None:
    axis = order_axis("", [str(number) for number in range(1, 61)])
    assert texts(axis) == ["1", "21", "40", "60"]
    assert texts(order_axis("", ["only"])) == ["only"]
    assert places(order_axis("", ["only"])) == [50]


@pytest.mark.parametrize(
    ("apart", "title", "expected"),
    [
        (timedelta(hours=2), "Start, 1 Mar 2026", ["09:30", "11:30", "13:30"]),
        (timedelta(days=9), "Start, 2026", ["1 Mar", "10 Mar", "19 Mar"]),
        (timedelta(days=200), "Start", ["Mar 2026", "Sep 2026", "Apr 2027"]),
    ],
)
def test_times_are_written_as_finely_as_they_differ(
    apart: timedelta, title: str, expected: list[str]
) -> None:
    axis = time_axis("Start", [START + place * apart for place in range(3)])
    assert (axis.title, texts(axis)) == (title, expected)


def test_bars_begin_at_nought_and_go_up_or_down() -> None:
    plot = Plot(count_axis("", 4), number_axis("", [-1, 1], most=2))
    up = ElementTree.fromstring(plot.bar(0, 1, 0.5))  # noqa: S314 - our own drawing
    down = ElementTree.fromstring(plot.bar(3, 4, -1))  # noqa: S314
    assert (up.get("x"), up.get("y"), up.get("height")) == ("0.0%", "25.0%", "25.0%")
    assert (down.get("x"), down.get("y"), down.get("height")) == ("75.0%", "50.0%", "50.0%")
    assert up.get("width") == "21.5%"  # of 25, with a gap


def test_marks_lie_where_their_values_are() -> None:
    plot = Plot(Axis("", 0, 2, ()), UNIT)
    assert 'cx="50.0%" cy="75.0%"' in plot.dot(1, 0.25)
    assert 'x1="50.0%" x2="50.0%" y1="80.0%" y2="40.0%"' in plot.interval(1, 0.2, 0.6)
    assert 'x1="0.0%" x2="100.0%" y1="20.0%" y2="20.0%"' in plot.rule(0.8)
    assert 'points="0.0,100.0 100.0,0.0"' in plot.joined([(0, 0), (2, 1)])
    assert 'points="0.0,0.0 100.0,0.0 100.0,50.0 0.0,50.0"' in plot.band(
        [(0, 0.5), (2, 0.5)], [(0, 1), (2, 1)]
    )
    assert 'x="25.0%" width="50.0%"' in plot.column(0.5, 1.5)


def test_the_first_of_named_lines_is_on_top() -> None:
    plot = Plot(UNIT, row_axis(["best", "second"]))
    drawn = plot.draw([mark(plot.dot(0.5, 1), text="best: 0.5")], label="An order", css="named")
    assert 'cy="25.0%"' in drawn
    assert re.findall(r"<li[^>]*>([^<]+)</li>", drawn) == ["best", "second"]
    assert 'height="56"' in drawn


def test_a_chart_with_links_is_a_group_and_one_without_a_picture() -> None:
    plot = Plot(UNIT, number_axis("nDCG@10", [0, 1]))
    dot = plot.dot(0.5, 0.5)
    linked = plot.draw([mark(dot, text="q1: 0.5", url="/q1?a=1&b=2")], label="One", hint="Point")
    assert 'role="group" aria-label="One"' in linked
    assert 'href="/q1?a=1&amp;b=2" tabindex="-1"><title>q1: 0.5</title>' in linked
    assert 'data-hint="Point"' in linked
    assert "nDCG@10" in linked
    assert 'role="img"' in plot.draw([mark(dot, text="q1")], label="One")


def test_nothing_that_a_chart_writes_is_markup() -> None:
    evil = "<script>\"'&"
    plot = Plot(order_axis(evil, [evil, evil]), number_axis(evil, [0, 1]))
    marks = [mark(plot.dot(0, 1), text=evil, url=evil, css=evil)]
    drawn = plot.draw(marks, label=evil, hint=evil, behind=plot.rule(0.5, evil))
    assert "<script" not in drawn
    assert "style=" not in drawn
