"""Charts of the quality report and of a campaign's pace."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol
from urllib.parse import urlencode

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

register = template.Library()

BOUNDS: Final = (0.667, 0.8)  # of alpha: for tentative conclusions, and for reliable ones
HINT: Final = "Point at a window for its figures, click to see its pairs."
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
    events: Sequence[Event] = (),
) -> SafeString:
    """Means of windows as a line, in the band of their control limits; those outside are marked.

    pairs: the address of the campaign's pairs, to which each window of an annotator links.
    """
    ends = [row[name] for row in windows for name in ("low", "mean", "high")]
    plot = Plot(_window_axis(windows), number_axis("Mean of a window", ends, most=4))
    marks = [
        mark(
            plot.column(at - 0.5, at + 0.5),
            plot.dot(at, row["mean"]),
            css="outside" if row["is_outside"] else "",
            text=f"{_period(row)}: {row['mean']:.2f}, limits {row['low']:.2f} to {row['high']:.2f}",
            url=_pairs_of(row, pairs, person=username) if pairs else "",
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
    """Alpha of each window with its interval. pairs: the address that each window leads to."""
    shown = [row for row in windows if row["value"] is not None]
    ends = [row[name] for row in shown for name in ("low", "value", "high")]
    held = [*(end for end in ends if end is not None), 0.0, 1.0]
    plot = Plot(_window_axis(shown), number_axis("Alpha", held))
    marks = [
        mark(
            plot.column(at - 0.5, at + 0.5),
            *([] if row["low"] is None else [plot.interval(at, row["low"], row["high"])]),
            plot.dot(at, row["value"]),
            text=f"{_period(row)}: {_alpha(row)}, {row['units']:,} pairs",
            url=_pairs_of(row, pairs),
        )
        for at, row in enumerate(shown)
    ]
    rules = [plot.rule(bound, f"{bound:.3f}") for bound in BOUNDS]
    return plot.draw(
        marks,
        behind=rules[0] + rules[1] + _mark_events(plot, shown, events),
        label="Alpha over time, with intervals; dashed: 0.667 and 0.800",
        hint=HINT,
        css="ruled",
    )


@register.simple_tag
def hours_chart(
    by_hour: Sequence[int], *, events: Sequence[Event] = (), now: datetime | None = None
) -> SafeString:
    """Labels of each of the last hours, up to `now`, as bars, the oldest first."""
    hours = len(by_hour)
    every = count_axis("Hours ago", hours, most=4)
    ago = tuple(Tick(hours - tick.value, tick.text) for tick in every.ticks)
    plot = Plot(
        Axis(every.title, 0, hours, ago),
        number_axis("Labels per hour", [0, *by_hour, 4], most=4, write=whole_tick),
    )
    marks = [
        mark(
            plot.column(at, at + 1),
            plot.bar(at, at + 1, count),
            text=f"{hours - at} to {hours - at - 1} hours ago: {count:,} labels",
        )
        for at, count in enumerate(by_hour)
    ]
    label = f"Labels of each of the last {hours} hours"
    lines = [
        plot.event(hours - (now.timestamp() - event.at) / 3600)
        for event in events
        if now is not None and 0 <= now.timestamp() - event.at <= hours * 3600
    ]
    behind = SafeString("".join(lines))
    return plot.draw(marks, label=label, hint="Point at a bar for its figures.", behind=behind)


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
        at = max(place for place, row in enumerate(windows) if row["begins"] <= event.at)
        row = windows[at]
        length = row["ends"] - row["begins"]
        share = min(1.0, (event.at - row["begins"]) / length) if length else 0.5
        lines.append(plot.event(at - 0.5 + share))
    return SafeString("".join(lines))


def _window_axis(windows: Sequence[Row]) -> Axis:
    """The windows in order of time, equally wide: each holds equally many labels or pairs."""
    return time_axis("Start of the window (UTC)", [moment(row["begins"]) for row in windows])


def _period(row: Row) -> str:
    begins, ends = (date_format(moment(row[name]), "j M Y, H:i") for name in ("begins", "ends"))
    return f"{begins} to {ends}"


def _alpha(row: Row) -> str:
    value = f"alpha {row['value']:.2f}"
    return value if row["low"] is None else f"{value} ({row['low']:.2f} to {row['high']:.2f})"


def _pairs_of(row: Row, pairs: str, **more: str) -> str:
    """The address of a window's pairs; the times to the last bit, since they are its ends."""
    ends = {"since": repr(row["begins"]), "until": repr(row["ends"])}
    return f"{pairs}?{urlencode(more | ends)}"
