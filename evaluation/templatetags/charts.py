"""Charts of runs: differences query by query, both values of a query, how means went and vary."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString

from evaluation.canaries.queries import Moment
from evaluation.comparison.queries import Detail, QueryDifference
from evaluation.data_sets.queries import Group
from evaluation.leaderboards.parameters import MOST_AXES, ParametersPage
from evaluation.runs.history import Past
from evaluation.stability.queries import StableRun
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
)
from judgments.pages.words import fraction, signed

register = template.Library()

UNIT_AXIS: Final = Axis("", 0.0, 1.0, ())
LONGEST_END: Final = 14  # characters at an axis of many
MOST_ROWS: Final = 40  # runs of a drawn order; the table has all


@register.simple_tag
def difference_chart(
    detail: Detail, *, slug: str, run: UUID, parameters: str, measure: str
) -> SafeString:
    """One bar for each query, the largest gain first; of very many, equal parts of them.

    A query's bar leads to the page that explains its value in `run`; parameters: what that
    address ends in.
    """
    other, count = detail.other, len(detail.drawn)
    width = other.n / count
    title = "Queries, the largest gain first"
    plot = Plot(
        count_axis(f"{title}, in {count} equal parts" if detail.is_quantiles else title, other.n),
        number_axis(f"Difference in {measure}", [*detail.drawn, 0.0], write=signed_tick),
    )
    points = [None] * count if detail.is_quantiles else list(detail.points)
    marks = [
        mark(
            plot.column(position * width, (position + 1) * width),
            plot.bar(position * width, (position + 1) * width, value),
            css=_direction(value),
            text=_words(point) if point else f"{signed(value)}, part {position + 1} of {count}",
            url=_explained(slug, run, point, parameters) if point else "",
        )
        for position, (value, point) in enumerate(zip(detail.drawn, points, strict=True))
    ]
    said = f"{other.wins} queries gain, {other.losses} lose, {other.ties} are equal"
    return plot.draw(
        marks,
        label=f"Differences: {said}",
        hint="" if detail.is_quantiles else "Point at a bar to see its query, click to open it.",
    )


@register.simple_tag
def query_scatter(detail: Detail, *, slug: str, run: UUID, parameters: str) -> SafeString:
    """One dot for each query: the baseline's value to the right, the other run's upwards."""
    values = [0.0, *(value for point in detail.points for value in (point.first, point.second))]
    other = detail.other
    plot = Plot(
        number_axis(other.baseline.label, values, most=5),
        number_axis(other.run.label, values, most=5),
    )
    marks = [
        mark(
            plot.dot(point.first, point.second),
            css=_direction(point.difference),
            text=_words(point),
            url=_explained(slug, run, point, parameters),
        )
        for point in detail.points
    ]
    return plot.draw(
        marks,
        behind=plot.diagonal(),
        css="square",
        label=f"Both values of {len(marks)} queries: {other.wins} lie above the diagonal",
        hint="Point at a dot to see its query, click to open it.",
    )


@register.simple_tag
def means_chart(
    past: Sequence[Past], *, slug: str, judgment_list: str, measure: str, by_version: bool
) -> SafeString:
    """A line through means, each with its 95 % interval: of a ranker's runs, or at versions."""
    ends = [end for one in past for end in (one.value, one.low, one.high) if end is not None]
    if by_version:
        axis = order_axis("Version of the list", [str(one.version) for one in past], most=6)
    else:
        axis = time_axis("Runs, by their upload (UTC)", [one.at for one in past])
    plot = Plot(axis, number_axis(measure, ends))
    marks = [
        mark(
            plot.column(at - 0.5, at + 0.5),
            *(
                []
                if one.low is None or one.high is None
                else [plot.interval(at, one.low, one.high)]
            ),
            plot.dot(at, one.value),
            text=f"{one.name} at version {one.version}: "
            + _with_interval(one.value, one.low, one.high),
            url=f"{reverse('run', args=[slug, one.run])}?"
            + urlencode({"list": judgment_list, "version": one.version}),
        )
        for at, one in enumerate(past)
    ]
    first, last = fraction(past[0].value), fraction(past[-1].value)
    return plot.draw(
        marks,
        behind=plot.joined([(at, one.value) for at, one in enumerate(past)]),
        label=f"{measure}, {len(past)} values: the first {first}, the last {last}",
        hint="Point at a value to see its run, click to open it.",
    )


@register.simple_tag
def canary_chart(
    moments: Sequence[Moment], *, slug: str, ranker: str, margin: float, measure: str
) -> SafeString:
    """A canary's differences to its baseline with their intervals, and deployments between them.

    moments: oldest first. margin: the largest fall of the mean.
    """
    ends = [
        end for one in moments for end in (one.difference, one.low, one.high) if end is not None
    ]
    plot = Plot(
        time_axis("Snapshots and deployments (UTC)", [one.at for one in moments]),
        number_axis(f"{measure}, minus baseline", [*ends, 0.0, -margin], write=signed_tick),
    )
    marks, joined = [], []
    for at, one in enumerate(moments):
        column = plot.column(at - 0.5, at + 0.5)
        if one.difference is None:
            marks.append(mark(column, plot.upright(at, "", ""), text=f"Deployed: {one.deployment}"))
            continue
        joined.append((float(at), one.difference))
        began = "".join(f"; incident starts: {what}" for what in one.opened)
        ended = "".join(f"; recovered: {what}" for what in one.recovered)
        has_interval = one.low is not None and one.high is not None
        marks.append(
            mark(
                column,
                *([plot.interval(at, one.low or 0.0, one.high or 0.0)] if has_interval else []),
                plot.dot(at, one.difference),
                text=f"{signed(one.difference)}{began}{ended}",
                css="outside" if one.bad else "",
                url=reverse("snapshot", args=[slug, ranker, one.snapshot]),
            )
        )
    last = signed(joined[-1][1])
    return plot.draw(
        marks,
        behind=plot.joined(joined) + plot.rule(-margin, "allowed"),
        css="ruled",
        label=f"{measure} minus the baseline's in {len(joined)} snapshots, the last {last}",
        hint="Point at a snapshot for its difference, click to open it.",
    )


@register.simple_tag
def days_chart(days: Sequence[Group], *, measure: str, has_days: bool) -> SafeString:
    """A line through the means of a data set's days, or of its evaluations, with intervals."""
    points = [one for one in days if one.shown.mean is not None]
    ends = [
        end
        for one in points
        for end in (one.shown.mean, one.shown.low, one.shown.high)
        if end is not None
    ]
    title, names = "Day" if has_days else "Evaluation (UTC)", [one.name for one in points]
    try:
        axis = time_axis(title, [datetime.fromisoformat(name) for name in names])
    except ValueError:
        axis = order_axis(title, names, most=3)
    plot = Plot(axis, number_axis(measure, ends))
    marks, joined = [], []
    for at, one in enumerate(points):
        mean, low, high = one.shown.mean or 0.0, one.shown.low, one.shown.high
        interval = [] if low is None or high is None else [plot.interval(at, low, high)]
        joined.append((float(at), mean))
        marks.append(
            mark(
                plot.column(at - 0.5, at + 0.5),
                *interval,
                plot.dot(at, mean),
                text=f"{one.name or 'no day'}: {_with_interval(mean, low, high)}, "
                f"{one.queries:,} queries",
            )
        )
    return plot.draw(
        marks,
        behind=plot.joined(joined),
        label=f"{measure} of {len(points)} days, the last {fraction(joined[-1][1])}",
        hint="Point at a value for its figures.",
    )


@register.simple_tag
def order_chart(runs: Sequence[StableRun], *, measure: str) -> SafeString:
    """The mean with the middle 95 % of its resamples, of the best runs, on a common axis."""
    rows = [row for row in runs if row.mean is not None][:MOST_ROWS]
    ends = [end for row in rows for end in (row.low, row.mean or 0.0, row.high)]
    plot = Plot(number_axis(measure, ends, most=4), row_axis([row.label for row in rows]))
    top = len(rows) - 1
    marks = [
        mark(
            plot.row_interval(top - position, row.low, row.high),
            plot.dot(row.mean or 0.0, top - position),
            text=f"{row.label}: {_with_interval(row.mean or 0.0, row.low, row.high)}",
        )
        for position, row in enumerate(rows)
    ]
    label = f"{measure} of {len(rows)} runs, with the middle 95 % of the resamples"
    return plot.draw(marks, css="named", label=label, hint="Point at a run for its figures.")


@register.simple_tag
def parallel_chart(page: ParametersPage, *, slug: str) -> SafeString:
    """One line for each run through what its parameters and values are, each on its own axis."""
    plot = Plot(
        order_axis("", [_short(axis.name) for axis in page.axes], most=MOST_AXES), UNIT_AXIS
    )
    behind = SafeString(
        "".join(
            plot.upright(at, _short(axis.low), _short(axis.high))
            for at, axis in enumerate(page.axes)
        )
    )
    marks = []
    for position, run in enumerate(page.drawn):
        points = [
            (at, where)
            for at, axis in enumerate(page.axes)
            if (where := axis.places[position]) is not None
        ]
        told = [
            f"{n} {v}" for n, v in zip(page.names, run.parameters, strict=True) if v is not None
        ]
        marks.append(
            mark(
                plot.joined([(float(at), where) for at, where in points]),
                *(plot.dot(at, where) for at, where in points),
                text=f"{run.row.label}: {', '.join(told)}",
                url=f"{reverse('run', args=[slug, run.row.id])}?"
                + urlencode({"list": page.board.list.slug}),
            )
        )
    return plot.draw(
        marks,
        behind=behind,
        css="parallel",
        label=f"{len(marks)} runs on {len(page.axes)} axes; the table has the same",
        hint="Point at a dot to see its run, click to open it.",
    )


def _short(text: str) -> str:
    """What there is room for beside the next axis."""
    return text if len(text) <= LONGEST_END else f"{text[: LONGEST_END - 1]}…"


def _direction(difference: float) -> str:
    return "gain" if difference > 0 else "loss" if difference < 0 else ""


def _words(point: QueryDifference) -> str:
    values = f"{fraction(point.first)} → {fraction(point.second)}"
    return f"{point.text or point.query_id}: {signed(point.difference)} ({values})"


def _with_interval(value: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return fraction(value)
    return f"{fraction(value)} ({fraction(low)} to {fraction(high)})"


def _explained(slug: str, run: UUID, point: QueryDifference, parameters: str) -> str:
    return f"{reverse('run-query', args=[slug, run, point.query_id])}?{parameters}"
