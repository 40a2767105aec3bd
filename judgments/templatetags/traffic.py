"""The chart of a traffic log's concentration."""

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Protocol

from django import template
from django.utils.safestring import SafeString

from judgments.pages.charts import Axis, Plot, Tick, mark
from judgments.pages.words import percent

register = template.Library()


class Top(Protocol):
    """The most frequent queries: their share of all, how many, and their share of the searches."""

    share: float
    queries: int
    searches: float
    label: str


@register.simple_tag
def concentration_chart(curve: Sequence[tuple[float, float]], top: Sequence[Top]) -> SafeString:
    """Which share of the searches the most frequent queries have, on a logarithmic scale of them.

    curve: (share of queries, share of searches), rising. top: what is marked on it.
    """
    low = min(floor(log10(curve[0][0])), -1)
    step = ceil(-low / 4)
    powers = range(-step * (-low // step), 1, step)
    x = Axis(
        "Most frequent queries, share of all",
        float(low),
        0.0,
        tuple(Tick(power, f"{100 * 10.0**power:.10g} %") for power in powers),
    )
    y = Axis("Share of searches", 0.0, 1.0, tuple(Tick(k / 4, f"{25 * k} %") for k in range(5)))
    plot = Plot(x, y)
    marks = [
        mark(
            plot.dot(log10(row.share), row.searches),
            text=f"{row.label} ({row.queries:,} queries): "
            f"{percent(row.searches, 1)} of the searches",
        )
        for row in top
        if row.share >= 10.0**low
    ]
    return plot.draw(
        marks,
        label="Share of searches by share of queries",
        hint="Point at a dot to see its value.",
        behind=plot.joined([(log10(share), value) for share, value in curve]),
    )
