"""Small drawings of the quality report."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()

WIDTH, HEIGHT, EDGE = 320, 96, 8
LEFT = 34  # room for the axis
Row = Mapping[str, Any]


@register.filter
def moment(seconds: float) -> datetime:
    """Seconds of the epoch as a time."""
    return datetime.fromtimestamp(seconds, UTC)


@register.simple_tag
def control_chart(windows: Sequence[Row], *, label: str) -> SafeString:
    """Means of windows as a line, in the band of their control limits; those outside are marked."""
    low, high = _reach([row[name] for row in windows for name in ("low", "mean", "high")])
    places = _places(len(windows))
    y = [_height(row["mean"], low, high) for row in windows]
    top = [f"{x},{_height(row['high'], low, high)}" for x, row in zip(places, windows, strict=True)]
    end = [f"{x},{_height(row['low'], low, high)}" for x, row in zip(places, windows, strict=True)]
    band = format_html('<polygon class="band" points="{}"/>', " ".join([*top, *reversed(end)]))
    line = format_html(
        '<polyline class="line" points="{}"/>',
        " ".join(f"{x},{at}" for x, at in zip(places, y, strict=True)),
    )
    dots = format_html_join(
        "",
        '<circle class="{}" cx="{}" cy="{}" r="{}"><title>{}: {}</title></circle>',
        (
            (
                "outside" if row["is_outside"] else "mean",
                x,
                at,
                4 if row["is_outside"] else 2.5,
                moment(row["begins"]).date().isoformat(),
                f"{row['mean']:.2f}",
            )
            for x, at, row in zip(places, y, windows, strict=True)
        ),
    )
    return _drawing(label, _axis(low, high) + band + line + dots)


@register.simple_tag
def interval_chart(windows: Sequence[Row], *, label: str) -> SafeString:
    """Values with their intervals, one window beside the other."""
    shown = [row for row in windows if row["value"] is not None]
    ends = [row[name] for row in shown for name in ("low", "value", "high")]
    low, high = _reach([*(end for end in ends if end is not None), 0.0, 1.0])
    places = _places(len(shown))
    bounds = format_html_join(
        "",
        '<line class="bound" x1="{}" x2="{}" y1="{}" y2="{}"/>',
        ((LEFT, WIDTH, _height(at, low, high), _height(at, low, high)) for at in (0.667, 0.8)),
    )
    bars = format_html_join(
        "",
        '<line class="range" x1="{}" x2="{}" y1="{}" y2="{}"/>',
        (
            (x, x, _height(row["low"], low, high), _height(row["high"], low, high))
            for x, row in zip(places, shown, strict=True)
            if row["low"] is not None
        ),
    )
    dots = format_html_join(
        "",
        '<circle class="mean" cx="{}" cy="{}" r="4"><title>{}: {}</title></circle>',
        (
            (
                x,
                _height(row["value"], low, high),
                moment(row["begins"]).date().isoformat(),
                f"{row['value']:.2f}",
            )
            for x, row in zip(places, shown, strict=True)
        ),
    )
    return _drawing(label, _axis(low, high) + bounds + bars + dots)


def _axis(low: float, high: float) -> SafeString:
    return format_html_join(
        "",
        '<text class="tick" x="0" y="{}">{}</text>',
        ((_height(at, low, high) + 3, f"{at:.2f}") for at in (low, high)),
    )


def _reach(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 1, high + 1)


def _places(count: int) -> list[float]:
    if count < 2:
        return [(LEFT + WIDTH) / 2] * count
    begin, end = LEFT + EDGE, WIDTH - EDGE
    return [round(begin + at * (end - begin) / (count - 1), 1) for at in range(count)]


def _height(value: float, low: float, high: float) -> float:
    return round(HEIGHT - EDGE - (value - low) / (high - low) * (HEIGHT - 2 * EDGE), 1)


def _drawing(label: str, content: SafeString) -> SafeString:
    return format_html(
        '<svg class="chart over-time" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>',
        WIDTH,
        HEIGHT,
        label,
        content,
    )
