"""The small marks that pages are made of; docs/look.md shows each with a snippet."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import Any
from urllib.parse import urlencode

from django import template
from django.core.paginator import Page
from django.http import HttpRequest
from django.template import Context
from django.utils.formats import date_format, get_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from heroicons.templatetags.heroicons import heroicon_micro, heroicon_mini, heroicon_outline

from judgments.pages.words import NOTHING, fraction, percent, plain, signed

register = template.Library()
StoredScale = Sequence[Mapping[str, Any]]

THEMES = ("light", "dark")
STATES = {
    "draft": "",
    "closed": "",
    "archived": "",
    "superseded": "",
    "queued": "info",
    "running": "info",
    "computing": "computing",
    "open": "good",
    "live": "good",
    "done": "good",
    "complete": "good",
    "agreed": "good",
    "answered": "good",
    "current": "good",
    "released": "info",
    "paused": "warn",
    "waiting": "warn",
    "disagree": "warn",
    "stale": "warn",
    "failed": "bad",
    "refused": "bad",
}


# words and numbers: the rest of them is in judgments/pages/words.py

register.filter("fraction", fraction)
register.filter("signed", signed)
register.filter("percent", percent)
register.filter("field_value", plain)


@register.filter
def thousands(value: int | None) -> str:
    """12345 as 12,345, in German as 12.345; nothing as a dash."""
    if value is None:
        return NOTHING
    separator: str = get_format("THOUSAND_SEPARATOR")
    return f"{value:,}".replace(",", separator)


@register.filter
def breakable(name: str) -> SafeString:
    """An identifier of which lines may break behind its separators."""
    parts = re.split(r"(?<=[_./-])", name)
    return format_html_join(SafeString("<wbr>"), "{}", ((part,) for part in parts))


@register.filter
def plus_minus(value: float | None, digits: int = 4) -> str:
    """What stands behind a mean: how far it may be off; nothing where that is unknown.

    0 is the spread of values that are all the same, of which there is nothing to be said.
    """
    if value is None or not isfinite(value):
        return ""
    return f"± {value:.{digits}f}" if value else "no spread"


@register.simple_tag
def ago(moment: datetime | None) -> str:
    """A time as words ("5 minutes ago") in the browser, exact in its title and without scripts."""
    if moment is None:
        return NOTHING
    utc = moment.astimezone(UTC)
    form = gettext("j M Y, H:i")
    exact = f"{date_format(utc, form)} UTC"
    return format_html(
        '<time datetime="{}" title="{}" data-relative>{}</time>', utc.isoformat(), exact, exact
    )


# icons, badges


@register.simple_tag
def icon(name: str, *, size: int = 20) -> str:
    """A heroicon beside words that say the same; hidden from screen readers."""
    draw = heroicon_micro if size <= 16 else heroicon_mini if size <= 20 else heroicon_outline
    return draw(name, size=size, aria_hidden="true")


@register.simple_tag
def badge(text: str, tone: str = "") -> SafeString:
    """A short word in a pill; `tone` is good, warn, bad, info, computing, or none."""
    kind = f" {'computing' if tone == 'computing' else f'is-{tone}'}" if tone else ""
    return format_html('<span class="badge{}">{}</span>', kind, text)


@register.simple_tag
def state(name: str, text: str = "") -> SafeString:
    """The badge of a state ("open", "failed", "computing" …), with other words if given."""
    return badge(text or name, STATES.get(name, ""))


def ramp_step(position: int, count: int) -> int:
    """Which of the five colours the grade at `position` (0 is worst) of `count` grades has."""
    if count <= 1:
        return 4
    return round(4 * position / (count - 1))


@register.simple_tag
def grade(
    text: object = None,
    name: str = "",
    *,
    position: int | None = None,
    count: int = 5,
    scale: StoredScale = (),
) -> SafeString:
    """A grade in its colour; None is unjudged.

    text: what is written, the grade itself on the 0-4 scale.
    name: what it means, shown on hovering and read aloud.
    position, count: its place among the scale's grades, 0 the worst; by default `text` of five.
    scale: as a list stores it; the name and the place of the grade `text` are then read from it.
    """
    if text is None:
        return mark_safe('<span class="grade none" title="Unjudged" aria-label="unjudged">–</span>')
    if scale:
        place, count = [one["code"] for one in scale].index(text), len(scale)
        name = scale[place]["name"]
    else:
        place = position if position is not None else int(str(text))
    css = f"g{ramp_step(min(max(place, 0), count - 1), count)}"
    if not name:
        return format_html('<span class="grade {}">{}</span>', css, text)
    return format_html(
        '<span class="grade {}" title="{}">{}<span class="visually-hidden"> {}</span></span>',
        css,
        name,
        text,
        name,
    )


@register.filter
def grade_name(code: int, scale: StoredScale) -> str:
    """What a grade of a list's stored scale means."""
    return next(str(one["name"]) for one in scale if one["code"] == code)


# small drawings: their sizes are SVG attributes, because styles may not be written inline


def _scaled(value: float, start: float, end: float, width: int) -> float:
    """Where `value` lies on an axis of `width` units from `start` to `end`, kept inside it."""
    if end <= start:
        return 0.0
    return round(min(max((value - start) / (end - start), 0.0), 1.0) * width, 2)


def _drawing(width: int, height: int, label: str, content: SafeString) -> SafeString:
    """An SVG that is read as `label`, or hidden from screen readers where the label is empty."""
    spoken = (
        format_html('role="img" aria-label="{}"', label)
        if label
        else mark_safe('aria-hidden="true"')
    )
    return format_html(
        '<svg class="chart" width="{}" height="{}" viewBox="0 0 {} {}" {}>{}</svg>',
        width,
        height,
        width,
        height,
        spoken,
        content,
    )


@register.simple_tag
def bar(value: float | None, maximum: float = 1, *, width: int = 96, label: str = "") -> SafeString:
    """A horizontal bar for a number that stands beside it."""
    filled = 0.0 if value is None else _scaled(value, 0, maximum, width)
    content = format_html(
        '<rect class="track" width="{}" height="8" rx="2"/>'
        '<rect class="fill" width="{}" height="8" rx="2"/>',
        width,
        filled,
    )
    return _drawing(width, 8, label, content)


@register.simple_tag
def interval_bar(
    value: float,
    low: float,
    high: float,
    *,
    start: float = 0,
    end: float = 1,
    width: int = 120,
    label: str = "",
) -> SafeString:
    """A dot with its interval on a common axis; draw the same `start` and `end` in each row."""
    content = format_html(
        '<line class="range" x1="{}" x2="{}" y1="6" y2="6"/>'
        '<circle class="mean" cx="{}" cy="6" r="4"/>',
        _scaled(low, start, end, width),
        _scaled(high, start, end, width),
        _scaled(value, start, end, width),
    )
    return _drawing(width, 12, label, content)


@register.simple_tag
def grade_bar(
    counts: Sequence[int], *, width: int = 160, unjudged: int = 0, names: Sequence[str] = ()
) -> SafeString:
    """How many judgments have each grade, worst first, as one bar of the grades' colours."""
    total = sum(counts) + unjudged
    said = [names[i] if i < len(names) else str(i) for i in range(len(counts))]
    parts, x = [], 0.0
    for position, count in enumerate(counts):
        share = _scaled(count, 0, total, width)
        if share:
            css = f"g{ramp_step(position, len(counts))}"
            parts.append((css, round(x, 2), max(share - 1, 1), f"{said[position]}: {count:,}"))
        x += share
    rects = format_html_join(
        "",
        '<rect class="{}" x="{}" width="{}" height="12"><title>{}</title></rect>',
        parts,
    )
    rest = round(max(width - x - 1, 0), 2)
    if unjudged and rest:
        rects += format_html(
            '<rect class="unjudged" x="{}" y=".5" width="{}" height="11">'
            "<title>Unjudged: {}</title></rect>",
            round(x + 0.5, 2),
            rest,
            thousands(unjudged),
        )
    label = ", ".join(f"{name}: {count:,}" for name, count in zip(said, counts, strict=True))
    return _drawing(width, 12, f"Grades. {label}; unjudged: {unjudged:,}", rects)


# links that keep the page's filters


def _with_parameters(context: Context, changes: Mapping[str, str]) -> str:
    """This page's address with some parameters changed; an empty value removes one."""
    request: HttpRequest = context["request"]
    parameters = request.GET.copy()
    for name, value in changes.items():
        if value:
            parameters[name] = value
        else:
            parameters.pop(name, None)
    return f"?{parameters.urlencode()}"


@register.simple_tag
def parameters(**named: Any) -> str:
    """The parameters of an address, without those that are None or empty; of a list, each value."""
    own = {name: value for name, value in named.items() if value not in (None, "")}
    return urlencode(own, doseq=True)


@register.simple_tag(takes_context=True)
def theme_attribute(context: Context) -> SafeString:
    """The visitor's chosen theme for <html>; nothing where the system's is followed."""
    request: HttpRequest | None = context.get("request")
    theme = request.COOKIES.get("theme") if request else None
    if theme not in THEMES:
        return mark_safe("")
    return format_html(' data-theme="{}"', theme)


@register.inclusion_tag("components/pager.html", takes_context=True)
def pager(context: Context, pages: Page[Any], parameter: str = "page") -> dict[str, object]:
    """ "21–40 of 3,000" with links to the neighbours, other parameters kept."""
    previous_url = next_url = ""
    if pages.has_previous():
        number = pages.previous_page_number()
        previous_url = _with_parameters(context, {parameter: str(number)})
    if pages.has_next():
        next_url = _with_parameters(context, {parameter: str(pages.next_page_number())})
    return {"pages": pages, "previous_url": previous_url, "next_url": next_url}


@register.simple_tag(takes_context=True)
def sort_header(
    context: Context, text: str, *, key: str, sort: str, numeric: bool = False, title: str = ""
) -> SafeString:
    """A column's <th> that sorts by it: `sort` is the page's order now, "-key" when descending.

    The first click shows a number's highest or a word's first; the next turns it round.
    """
    descending = sort == f"-{key}"
    active = descending or sort == key
    target = key if descending or (not active and not numeric) else f"-{key}"
    arrow = "chevron-up-down" if not active else "chevron-down" if descending else "chevron-up"
    order = "descending" if descending else "ascending"
    return format_html(
        '<th scope="col"{}{}{}><a href="{}">{}{}</a></th>',
        mark_safe(' class="num"') if numeric else "",
        format_html(' aria-sort="{}"', order) if active else "",
        format_html(' title="{}"', title) if title else "",
        _with_parameters(context, {"sort": target, "page": ""}),
        text,
        icon(arrow, size=16),
    )
