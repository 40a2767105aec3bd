"""The charts of a click log's position bias."""

from collections.abc import Sequence
from typing import Protocol

from django import template
from django.utils.safestring import SafeString

from judgments.pages.charts import Plot, mark, number_axis, order_axis
from judgments.pages.words import fraction, p_value

register = template.Library()
register.filter("p_value", p_value)


class Point(Protocol):
    """A position's examination, with its band; None where it is refused."""

    position: int
    examination: float | None
    low: float | None
    high: float | None


class Curve(Protocol):
    """An estimator and its points."""

    name: str
    points: Sequence[Point]


@register.simple_tag
def position_chart(curve: Curve, known: Sequence[float] | None = None) -> SafeString:
    """The examination of each position by one estimator.

    known: of each position, where it is known; drawn as a line behind the dots.
    """
    points = curve.points
    given = [one for one in points if one.examination is not None]
    ends = [end for one in given for end in (one.examination, one.low, one.high) if end is not None]
    plot = Plot(
        order_axis("Position", [str(one.position) for one in points], most=10),
        number_axis("Examination, relative to position 1", [0.0, 1.0, *ends, *(known or ())]),
    )
    marks = [
        mark(
            plot.column(one.position - 1.5, one.position - 0.5),
            *(
                []
                if one.low is None or one.high is None
                else [plot.interval(one.position - 1, one.low, one.high)]
            ),
            plot.dot(one.position - 1, one.examination),
            text=f"Position {one.position}: {fraction(one.examination, 3)}"
            + (
                ""
                if one.low is None or one.high is None
                else f" [{fraction(one.low, 3)}, {fraction(one.high, 3)}]"
            ),
        )
        for one in given
        if one.examination is not None
    ]
    behind = plot.joined(list(enumerate(known[: len(points)]))) if known else SafeString("")
    return plot.draw(
        marks,
        behind=behind,
        label=f"Examination by position, {curve.name}: {len(given)} of {len(points)} positions",
        hint="Point at a dot to see its value.",
    )
