"""Charts of the quality report and of a campaign's pace."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol
from urllib.parse import urlencode

import numpy as np
from django import template
from django.utils.formats import date_format
from django.utils.safestring import SafeString

from judgments.pages.charts import (
    Axis,
    Plot,
    Tick,
    count_axis,
    mark,
    number_axis,
    time_axis,
    whole_tick,
)
from touchstone.agreement.drift import individual_limits

register = template.Library()

BOUNDS: Final = (0.667, 0.8)  # of alpha: for tentative conclusions, and for reliable ones
HINT: Final = "Point at a window for its figures, click to see its pairs."
BAR_HINT: Final = "Point at a bar for its figures, click to see its pairs."
HOUR: Final = 3600.0
DAY: Final = 86_400.0
INSTANT: Final = 1e-6  # what a clock tells apart
FEWEST_HOURS: Final = 8  # before their spread says what is unusual
MOST_DAYS: Final = 183
Row = Mapping[str, Any]


class Event(Protocol):
    """What happened at a time, in seconds of the epoch."""

    @property
    def at(self) -> float: ...


@register.filter
def moment(seconds: float) -> datetime:
    """Seconds of the epoch as a time."""
    return datetime.fromtimestamp(seconds, UTC)


@register.simple_tag
def control_chart(
    windows: Sequence[Row],
    *,
    title: str,
    pairs: str = "",
    username: str = "",
    gold: bool = False,
    events: Sequence[Event] = (),
) -> SafeString:
    """Means of windows as a line, in the band of their control limits; those outside are marked.

    pairs: the address of the campaign's pairs, to which each window links. gold: of gold checks.
    """
    more = ({"person": username} if username else {}) | ({"gold": "1"} if gold else {})
    ends = [row[name] for row in windows for name in ("low", "mean", "high")]
    plot = Plot(_window_axis(windows), number_axis("Mean of a window", ends, most=4))
    marks = [
        mark(
            plot.column(at - 0.5, at + 0.5),
            plot.dot(at, row["mean"]),
            css="outside" if row["is_outside"] else "",
            text=f"{_period(row)}: {row['mean']:.2f}, limits {row['low']:.2f} to {row['high']:.2f}",
            url=_pairs_of(row, pairs, **more) if pairs else "",
        )
        for at, row in enumerate(windows)
    ]
    band = plot.band(
        [(at, row["low"]) for at, row in enumerate(windows)],
        [(at, row["high"]) for at, row in enumerate(windows)],
    )
    return plot.draw(
        marks,
        behind=band
        + plot.joined([(at, row["mean"]) for at, row in enumerate(windows)])
        + _mark_events(plot, windows, events),
        label=f"{title} over time, in the band that chance explains",
        hint=HINT if pairs else "Point at a window for its figures.",
    )


@register.simple_tag
def interval_chart(
    windows: Sequence[Row], *, pairs: str, events: Sequence[Event] = ()
) -> SafeString:
    """Alpha of each window with its interval, in the band of control limits.

    pairs: the address that each window leads to.
    """
    shown = [row for row in windows if row["value"] is not None]
    names = ("low", "value", "high", "limit_low")
    held = [*(end for row in shown for name in names if (end := row.get(name)) is not None), 0, 1]
    plot = Plot(_window_axis(shown), number_axis("Alpha", held))
    marks = [
        mark(
            plot.column(at - 0.5, at + 0.5),
            *([] if row["low"] is None else [plot.interval(at, row["low"], row["high"])]),
            plot.dot(at, row["value"]),
            css="outside" if row.get("is_outside") else "",
            text=f"{_period(row)}: {_alpha(row)}, {_pairs(row['units'])}",
            url=_pairs_of(row, pairs),
        )
        for at, row in enumerate(shown)
    ]
    rules = [plot.rule(bound, f"{bound:.3f}") for bound in BOUNDS]
    limited = [(at, row) for at, row in enumerate(shown) if row.get("limit_low") is not None]
    band = plot.band(
        [(at, row["limit_low"]) for at, row in limited],
        [(at, row["limit_high"]) for at, row in limited],
    )
    return plot.draw(
        marks,
        behind=band + rules[0] + rules[1] + _mark_events(plot, shown, events),
        label="Alpha over time, with intervals and control limits; dashed: 0.667 and 0.800",
        hint=HINT,
        css="ruled",
    )


@register.simple_tag
def hours_chart(
    by_hour: Sequence[int],
    *,
    events: Sequence[Event] = (),
    now: datetime | None = None,
    pairs: str = "",
) -> SafeString:
    """Labels of each of the last hours, up to `now`, as bars, the oldest first.

    Control limits are those of the hours in which there were labels. pairs: the address of the
    campaign's pairs, to which each bar leads.
    """
    hours = len(by_hour)
    limits = _limits([count for count in by_hour if count])
    every = count_axis("Hours ago", hours, most=4)
    ago = tuple(Tick(hours - tick.value, tick.text) for tick in every.ticks)
    plot = Plot(
        Axis(every.title, 0, hours, ago),
        number_axis("Labels per hour", [0, *by_hour, 4, *limits], most=4, write=whole_tick),
    )
    end = 0.0 if now is None else now.timestamp()
    marks = [
        mark(
            plot.column(at, at + 1),
            plot.bar(at, at + 1, count),
            css="outside" if limits and count and not limits[0] <= count <= limits[1] else "",
            text=f"{hours - at} to {hours - at - 1} hours ago: {_labels(count)}",
            url=_pairs_between(pairs, end - (hours - at) * HOUR, end - (hours - at - 1) * HOUR)
            if pairs and count
            else "",
        )
        for at, count in enumerate(by_hour)
    ]
    lines = [
        plot.event(hours - (end - event.at) / HOUR)
        for event in events
        if 0 <= end - event.at <= hours * HOUR
    ]
    if limits:
        low, high = ([(0, limit), (hours, limit)] for limit in limits)
        lines.insert(0, plot.band(low, high))
    label = f"Labels of each of the last {hours} hours"
    hint = f"{BAR_HINT} Shaded: control limits of hours with labels." if limits else BAR_HINT
    return plot.draw(marks, label=label, hint=hint, behind=SafeString("".join(lines)))


@register.simple_tag
def days_chart(
    days: Sequence[tuple[datetime, int]],
    *,
    pairs: str = "",
    username: str = "",
    events: Sequence[Event] = (),
) -> SafeString:
    """Someone's labels of each day as bars, of the last half year at most.

    pairs: the address of the campaign's pairs, to which each bar leads.
    """
    last = days[-1][0]
    begin = max(days[0][0], last - timedelta(days=MOST_DAYS - 1))
    counts = {(day - begin).days: count for day, count in days if day >= begin}
    moments = [begin + timedelta(days=number) for number in range((last - begin).days + 1)]
    plot = Plot(
        time_axis("Day (UTC)", moments),
        number_axis("Labels per day", [0, 4, *counts.values()], most=4, write=whole_tick),
    )
    marks = [
        mark(
            plot.column(at - 0.5, at + 0.5),
            plot.bar(at - 0.5, at + 0.5, count),
            text=f"{date_format(moments[at], 'j M Y')}: {_labels(count)}",
            url=_pairs_between(
                pairs,
                moments[at].timestamp(),
                moments[at].timestamp() + DAY - INSTANT,
                person=username,
            )
            if pairs
            else "",
        )
        for at, count in counts.items()
    ]
    places = [(event.at - begin.timestamp()) / DAY - 0.5 for event in events]
    lines = [plot.event(at) for at in places if -0.5 <= at <= len(moments) - 0.5]
    return plot.draw(
        marks, label="Labels per day", hint=BAR_HINT, behind=SafeString("".join(lines))
    )


def _limits(counts: Sequence[int]) -> tuple[float, ...]:
    """Control limits of counts in a row, not below 0; none for a few."""
    if len(counts) < FEWEST_HOURS:
        return ()
    low, high = individual_limits(np.array(counts, dtype=np.float64))
    return max(0.0, low), high


@register.filter
def within(events: Sequence[Event], windows: Sequence[Row]) -> list[Event]:
    """The events between the first and the last moment of windows: those that a chart marks."""
    if not windows:
        return []
    begin = min(row["begins"] for row in windows)
    end = max(row["ends"] for row in windows)
    return [event for event in events if begin <= event.at <= end]


def _mark_events(plot: Plot, windows: Sequence[Row], events: Sequence[Event]) -> SafeString:
    """An upright line at each event, between the windows before and after it."""
    lines = []
    for event in within(events, windows):
        at = max(position for position, row in enumerate(windows) if row["begins"] <= event.at)
        row = windows[at]
        length = row["ends"] - row["begins"]
        share = min(1.0, (event.at - row["begins"]) / length) if length else 0.5
        lines.append(plot.event(at - 0.5 + share))
    return SafeString("".join(lines))


def _window_axis(windows: Sequence[Row]) -> Axis:
    """The windows in order of time, equally wide: each holds equally many labels or pairs."""
    return time_axis("Start of the window (UTC)", [moment(row["begins"]) for row in windows])


def _labels(count: int) -> str:
    return "1 label" if count == 1 else f"{count:,} labels"


def _pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count:,} pairs"


def _period(row: Row) -> str:
    begins, ends = (date_format(moment(row[name]), "j M Y, H:i") for name in ("begins", "ends"))
    return f"{begins} to {ends}"


def _alpha(row: Row) -> str:
    value = f"alpha {row['value']:.2f}"
    return value if row["low"] is None else f"{value} ({row['low']:.2f} to {row['high']:.2f})"


def _pairs_of(row: Row, pairs: str, **more: str) -> str:
    """The address of a window's pairs."""
    return _pairs_between(pairs, row["begins"], row["ends"], **more)


def _pairs_between(pairs: str, since: float, until: float, **more: str) -> str:
    """The address of pairs by when they were labelled; to the last bit, as it is compared."""
    return f"{pairs}?{urlencode(more | {'since': repr(since), 'until': repr(until)})}"
