"""Charts that the server draws: axes with ticks at round numbers, and marks on them, as SVG.

Every place is in per cent of the plot, so letters, lines and dots keep their size on any screen;
only what joins points is stretched, in a box of its own. Why not a library: docs/adr/0021.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, floor, log10
from typing import Final

from django.template.loader import render_to_string
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from judgments.pages.words import fraction, signed

STEPS: Final = (1, 2, 5)  # times a power of ten: what people count in
ROW: Final = 28  # pixels of a line of a chart whose lines have names, as in plot.css
Point = tuple[float, float]


@dataclass(frozen=True)
class Tick:
    """A value that is written at an axis."""

    value: float
    text: str


@dataclass(frozen=True)
class Axis:
    """What is measured, in its unit, from `low` to `high`; `low` is left, or at the bottom."""

    title: str
    low: float
    high: float
    ticks: tuple[Tick, ...]

    def percent(self, value: float) -> float:
        """The place of a value: 0 at the low end, 100 at the high one."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)


def number_axis(
    title: str,
    values: Sequence[float],
    *,
    most: int = 5,
    write: Callable[[float, int], str] = fraction,
) -> Axis:
    """An axis that holds all values, with a tick at each end and at most `most` steps between.

    write: a tick's value, and how many digits it needs, as text; nought is always “0”.
    """
    low, high = min(values), max(values)
    if low == high:
        low, high = (min(low, 0.0), max(high, 0.0)) if low else (0.0, 1.0)
    step, digits = _step(low, high, most)
    first, last = _steps_within(low, high, step)
    ticks = (round(place * step, digits) for place in range(first, last + 1))
    written = tuple(Tick(value, write(value, digits) if value else "0") for value in ticks)
    return Axis(title, written[0].value, written[-1].value, written)


def count_axis(title: str, count: int, *, most: int = 5) -> Axis:
    """An axis from 0 to a count, which needs no tick of its own."""
    step, _ = _step(0, max(count, most), most)
    ticks = range(0, count + 1, round(step))
    return Axis(title, 0, count, tuple(Tick(value, f"{value:,}") for value in ticks))


def order_axis(title: str, texts: Sequence[str], *, most: int = 4) -> Axis:
    """Places 0, 1, … of things in an order, each in the middle of its column.

    texts: what each is called; as many are written as there is room for, the first and the last
    among them.
    """
    last = len(texts) - 1
    shown = min(len(texts), most)
    places = {round(place * last / max(shown - 1, 1)) for place in range(shown)}
    ticks = tuple(Tick(place, texts[place]) for place in sorted(places))
    return Axis(title, -0.5, last + 0.5, ticks)


def time_axis(title: str, moments: Sequence[datetime]) -> Axis:
    """Places 0, 1, … of what happened at these times (UTC), in order and equally wide.

    Hours are written of one day, days of one year; the day or the year then ends the title.
    """
    first, last = moments[0], moments[-1]
    if first.date() == last.date():
        common, each = "j M Y", "H:i"
    elif first.year == last.year:
        common, each = "Y", "j M"
    else:
        common, each = "", "M Y"
    texts = [date_format(moment, each) for moment in moments]
    return order_axis(f"{title}, {date_format(first, common)}" if common else title, texts, most=3)


def row_axis(names: Sequence[str]) -> Axis:
    """Lines with names, the first on top."""
    last = len(names) - 1
    ticks = tuple(Tick(last - position, name) for position, name in enumerate(names))
    return Axis("", -0.5, last + 0.5, ticks)


def signed_tick(value: float, digits: int) -> str:
    """A difference at an axis, with its sign."""
    return signed(value, digits)


def whole_tick(value: float, _: int) -> str:
    """A count at an axis; nothing between two whole numbers."""
    return f"{value:,.0f}" if value == round(value) else ""


@dataclass(frozen=True)
class Plot:
    """Two axes, and what draws shapes on them."""

    x: Axis
    y: Axis

    def bar(self, begin: float, end: float, value: float) -> SafeString:
        """An upright bar from nought to a value, over its share of what lies from `begin` on."""
        left, right = self.x.percent(begin), self.x.percent(end)
        top, foot = sorted((self._down(value), self._down(0)))
        return format_html(
            '<rect class="shape" x="{}%" y="{}%" width="{}%" height="{}%"/>',
            left,
            top,
            round((right - left) * (0.86 if right - left > 1 else 1), 2),
            round(foot - top, 2),
        )

    def dot(self, at: float, value: float) -> SafeString:
        """A dot, of the same size on every screen."""
        return format_html(
            '<circle class="shape" cx="{}%" cy="{}%" r="4.5"/>',
            self.x.percent(at),
            self._down(value),
        )

    def interval(self, at: float, low: float, high: float) -> SafeString:
        """An upright line between two values."""
        return self._line("range", (at, low), (at, high))

    def row_interval(self, at: float, low: float, high: float) -> SafeString:
        """A level line between two values of x, in the line `at`."""
        return self._line("range", (low, at), (high, at))

    def rule(self, value: float, text: str = "") -> SafeString:
        """A level line at a value, dashed, with its name at its end."""
        line = self._line("rule", (self.x.low, value), (self.x.high, value))
        name = format_html(
            '<text class="rule-name" x="100%" y="{}%" dx="4">{}</text>', self._down(value), text
        )
        return line + name if text else line

    def event(self, at: float) -> SafeString:
        """A dotted line from top to bottom, where something happened."""
        return self._line("event", (at, self.y.low), (at, self.y.high))

    def upright(self, at: float, low: str, high: str) -> SafeString:
        """A line from top to bottom, with what its ends are called."""
        line = self._line("zero", (at, self.y.low), (at, self.y.high))
        end = f'x="{self.x.percent(at)}%" text-anchor="middle"'
        names = format_html(
            '<text class="end" {0} y="0" dy="-9">{2}</text>'
            '<text class="end" {0} y="100%" dy="1.6em">{1}</text>',
            SafeString(end),
            low,
            high,
        )
        return line + names

    def diagonal(self) -> SafeString:
        """Where both values are the same, if both axes reach as far."""
        return self._line("zero", (self.x.low, self.y.low), (self.x.high, self.y.high))

    def joined(self, points: Sequence[Point]) -> SafeString:
        """A line through points."""
        return self._stretched(
            format_html('<polyline class="joined" points="{}"/>', self._places(points))
        )

    def band(self, lower: Sequence[Point], upper: Sequence[Point]) -> SafeString:
        """The room between two lines, both from left to right."""
        around = [*upper, *reversed(lower)]
        return self._stretched(
            format_html('<polygon class="band" points="{}"/>', self._places(around))
        )

    def column(self, begin: float, end: float) -> SafeString:
        """Its column from top to bottom: what is pointed at instead of a thin bar or small dot."""
        left = self.x.percent(begin)
        return format_html(
            '<rect class="hit" x="{}%" width="{}%" height="100%"/>',
            left,
            round(self.x.percent(end) - left, 2),
        )

    def draw(
        self,
        marks: Sequence[SafeString],
        *,
        label: str,
        hint: str = "",
        behind: SafeString = SafeString(""),  # noqa: B008 - immutable
        css: str = "",
    ) -> SafeString:
        """The chart: the axes, `behind` (what explains the marks), and the marks.

        label: what a screen reader says of it; numbers stand in a table beside it. hint: what is
        written beneath until something is pointed at. css: “square”; “named” for `row_axis`;
        “ruled” where rules have names.
        """
        return render_to_string(
            "components/plot.html",
            {
                "plot": self,
                "css": css,
                "label": label,
                "hint": hint,
                "height": ROW * len(self.y.ticks),
                "has_links": any(mark.startswith("<a ") for mark in marks),
                "content": self._grid(css) + behind + SafeString("".join(marks)),
                "x_ticks": [
                    (self.x.percent(t.value), _anchor(self.x, t), t.text) for t in self.x.ticks
                ],
                "y_ticks": [(self._down(tick.value), tick.text) for tick in self.y.ticks],
            },
        )

    def _grid(self, css: str) -> SafeString:
        """A line at every tick that is a number; at nought a stronger one."""
        level = () if css == "named" else self.y.ticks
        upright = self.x.ticks if css in ("named", "square") else ()
        lines = [
            *(self._line(_kind(t), (self.x.low, t.value), (self.x.high, t.value)) for t in level),
            *(self._line(_kind(t), (t.value, self.y.low), (t.value, self.y.high)) for t in upright),
        ]
        return SafeString("".join(lines))

    def _down(self, value: float) -> float:
        """SVG counts from the top."""
        return round(100 - self.y.percent(value), 2)

    def _line(self, css: str, begin: Point, end: Point) -> SafeString:
        return format_html(
            '<line class="{}" x1="{}%" x2="{}%" y1="{}%" y2="{}%"/>',
            css,
            self.x.percent(begin[0]),
            self.x.percent(end[0]),
            self._down(begin[1]),
            self._down(end[1]),
        )

    def _places(self, points: Sequence[Point]) -> str:
        return " ".join(f"{self.x.percent(at)},{self._down(value)}" for at, value in points)

    def _stretched(self, content: SafeString) -> SafeString:
        return format_html(
            '<svg width="100%" height="100%" viewBox="0 0 100 100" preserveAspectRatio="none">'
            "{}</svg>",
            content,
        )


def mark(*shapes: SafeString, text: str, css: str = "", url: str = "") -> SafeString:
    """Something that is pointed at: `text` says what it is; with a url, a link.

    It is no stop of the tab key: the table beside the chart has the same links, and the page's
    script makes one stop of the whole chart.
    """
    drawn = format_html_join("", "{}", ((shape,) for shape in shapes))
    if not url:
        return format_html('<g class="mark {}"><title>{}</title>{}</g>', css, text, drawn)
    return format_html(
        '<a class="mark {}" href="{}" tabindex="-1"><title>{}</title>{}</a>', css, url, text, drawn
    )


def _step(low: float, high: float, most: int) -> tuple[float, int]:
    """The smallest round step with which the ends lie at most `most` apart, and its digits."""
    power = floor(log10((high - low) / most))
    while True:
        for factor in STEPS:
            step, digits = round(factor * 10.0**power, max(-power, 0)), max(-power, 0)
            first, last = _steps_within(low, high, step)
            if last - first <= most:
                return step, digits
        power += 1


def _steps_within(low: float, high: float, step: float) -> tuple[int, int]:
    """The multiples of a step that enclose both ends; an end on a multiple needs no further one."""
    near = 1e-9  # what division leaves of a multiple
    return floor(low / step + near), ceil(high / step - near)


def _kind(tick: Tick) -> str:
    return "grid" if tick.value else "zero"


def _anchor(axis: Axis, tick: Tick) -> str:
    """Words at an end of the axis grow inwards; numbers are short enough to stand in the middle."""
    place = axis.percent(tick.value)
    if len(tick.text) <= 6 or 15 < place < 85:
        return "middle"
    return "start" if place <= 15 else "end"
