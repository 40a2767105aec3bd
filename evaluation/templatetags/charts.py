"""Drawings of many numbers at once, as inline SVG whose colours come from the stylesheet."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from evaluation.comparison.queries import Difference

register = template.Library()

WIDTH, HEIGHT = 960, 200
SIDE = 400


class Point(Protocol):
    """A query's value in two runs."""

    @property
    def query_id(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def first(self) -> float: ...
    @property
    def second(self) -> float: ...


@register.simple_tag
def query_scatter(
    points: Sequence[Point], *, slug: str, run: UUID, parameters: str, above: int
) -> SafeString:
    """A square with one dot for each query: the one run's value to the right, the other's upwards.

    Each dot leads to the page that explains the query's value of `run`; parameters: what its
    address ends in. Dots are no stops of the tab key: the tables have the queries as links.
    above: how many lie above the diagonal, read aloud.
    """
    label = f"Both values of {len(points)} queries: {above} lie above the diagonal"
    values = [value for point in points for value in (point.first, point.second)]
    top = max(values, default=0) or 1.0
    room = SIDE - 16
    dots = (
        (
            f"{reverse('run-query', args=[slug, run, point.query_id])}?{parameters}",
            round(8 + point.first / top * room, 1),
            round(SIDE - 8 - point.second / top * room, 1),
            "gain" if point.second > point.first else "loss" if point.second < point.first else "",
            f"{point.text or point.query_id}: {point.first:.4f}, {point.second:.4f}",
        )
        for point in points
    )
    drawn = format_html_join(
        "",
        '<a href="{}" tabindex="-1"><circle cx="{}" cy="{}" r="5" class="{}">'
        "<title>{}</title></circle></a>",
        dots,
    )
    return format_html(
        '<svg class="chart scatter" viewBox="0 0 {} {}" role="group" aria-label="{}">'
        '<line class="nought" x1="8" y1="{}" x2="{}" y2="8"/>{}</svg>',
        SIDE,
        SIDE,
        label,
        SIDE - 8,
        SIDE - 8,
        drawn,
    )


@register.simple_tag
def difference_chart(values: Sequence[float], difference: Difference) -> SafeString:
    """One upright bar for each difference, in the order given; the line in the middle is nought.

    The drawing grows with its box. What it shows of the difference is read aloud; the numbers
    stand beside it.
    """
    label = (
        f"Differences: {difference.wins} queries gain, {difference.losses} lose, "
        f"{difference.ties} are equal"
    )
    tallest = max((abs(value) for value in values), default=0) or 1.0
    step = WIDTH / max(len(values), 1)
    middle = HEIGHT / 2
    bars = (
        (
            "gain" if value > 0 else "loss",
            round(place * step, 2),
            round(middle - max(value, 0) / tallest * (middle - 2), 2),
            round(max(step * 0.85, 0.8), 2),
            round(abs(value) / tallest * (middle - 2), 2),
        )
        for place, value in enumerate(values)
        if value
    )
    drawn = format_html_join("", '<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>', bars)
    return format_html(
        '<svg class="chart differences" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" '
        'aria-label="{}">{}<line class="nought" x1="0" x2="{}" y1="{}" y2="{}"/></svg>',
        WIDTH,
        HEIGHT,
        label,
        drawn,
        WIDTH,
        middle,
        middle,
    )
