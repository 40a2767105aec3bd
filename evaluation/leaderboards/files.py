"""A leaderboard as a file: CSV, JSON, LaTeX, Markdown, and a figure for a paper."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import chain
from typing import Final
from xml.sax.saxutils import escape

from evaluation.pages.files import FileFormat
from judgments.lists.citations import latex
from touchstone.files.csv_lines import csv_lines

DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class BoardValue:
    """A mean over n queries and its interval; None where there is none."""

    mean: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A run, by its ranker's name and its own, and its values in the order of the columns."""

    ranker: str
    run: str
    values: tuple[BoardValue, ...]


@dataclass(frozen=True, slots=True)
class BoardTable:
    """title: the list, its version and what else the numbers are of; order of rows as shown."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[BoardRow, ...]


def as_csv(table: BoardTable) -> str:
    """A row a run, four columns a measure, every digit; no cell that a spreadsheet computes."""
    heads = [f"{c}{part}" for c in table.columns for part in ("", " low", " high", " n")]
    rows = (
        (_one_line(row.ranker), _one_line(row.run), *chain.from_iterable(map(astuple, row.values)))
        for row in table.rows
    )
    return "".join(csv_lines(chain([("ranker", "run", *map(_one_line, heads))], rows)))


def as_json(table: BoardTable) -> str:
    """One object; every digit."""
    rows = [
        {
            "ranker": row.ranker,
            "run": row.run,
            "values": {
                column: {"mean": v.mean, "low": v.low, "high": v.high, "n": v.n}
                for column, v in zip(table.columns, row.values, strict=True)
            },
        }
        for row in table.rows
    ]
    document = {"title": table.title, "measures": table.columns, "runs": rows}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def as_markdown(table: BoardTable) -> str:
    """A table with four digits and half the interval; the best mean of each column in bold."""
    heads = ["Run", *map(_markdown, table.columns)]
    lines = [" | ".join(heads), " | ".join(["---", *["---:"] * len(table.columns)])]
    best = _best(table)
    for row in table.rows:
        cells = [
            f"**{_mean(value)}**{_half(value, ' ± ')}"
            if value.mean is not None and value.mean == top
            else f"{_mean(value)}{_half(value, ' ± ')}"
            for value, top in zip(row.values, best, strict=True)
        ]
        lines.append(" | ".join([_markdown(_name(row)), *cells]))
    body = "\n".join(f"| {line} |" for line in lines)
    said = "±: half the width of the 95 % interval; none where all values are equal."
    return f"{body}\n\n{_markdown(table.title)}; {said}\n"


def as_latex(table: BoardTable) -> str:
    """A booktabs table with four digits and half the interval; the best of each column in bold."""
    best = _best(table)
    said = r"$\pm$: half the width of the 95\,\% interval; none where all values are equal."
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(table.title)}; {said}}}",
        rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"\toprule",
        " & ".join(["Run", *map(latex, table.columns)]) + r" \\",
        r"\midrule",
    ]
    for row in table.rows:
        cells = []
        for value, top in zip(row.values, best, strict=True):
            mean = _mean(value).replace("–", "--")
            shown = rf"\textbf{{{mean}}}" if value.mean is not None and value.mean == top else mean
            cells.append(shown + _half(value, r" $\pm$ "))
        lines.append(" & ".join([latex(_name(row)), *cells]) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def as_figure(table: BoardTable) -> str:
    """The first measure of every run as a dot with its interval: SVG that prints in one colour."""
    shown = [(row, row.values[0]) for row in table.rows if row.values]
    known = [(row, value) for row, value in shown if value.mean is not None]
    ends = [
        end for _, value in known for end in (value.mean, value.low, value.high) if end is not None
    ]
    low, high = _axis(min(ends, default=0.0), max(ends, default=1.0))
    names = [_shortened(_name(row)) for row, _ in known]
    left = 24 + 6.2 * max(map(len, names), default=0)
    width, line = 640, 22
    height = line * len(known) + 74

    def x(value: float) -> float:
        return round(left + (value - low) / (high - low) * (width - left - 24), 2)

    bottom = line * len(known) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        + f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif" '
        + 'font-size="12">',
        f"<title>{_xml(table.title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<path d="M{left:g} {bottom}H{width - 24}" stroke="#000"/>',
    ]
    parts += [
        f'<path d="M{x(tick)} 20V{bottom + 4}" stroke="#ccc"/>'
        f'<text x="{x(tick)}" y="{bottom + 18}" text-anchor="middle">{tick:.2f}</text>'
        for tick in _ticks(low, high)
    ]
    for position, ((_, value), name) in enumerate(zip(known, names, strict=True)):
        assert value.mean is not None
        y = 34 + line * position
        parts.append(f'<text x="{left - 10:g}" y="{y + 4}" text-anchor="end">{_xml(name)}</text>')
        if value.low is not None and value.high is not None:
            span = f"M{x(value.low)} {y}H{x(value.high)}"
            caps = "".join(f"M{x(end)} {y - 4}v8" for end in (value.low, value.high))
            parts.append(f'<path d="{span}{caps}" stroke="#000" fill="none"/>')
        parts.append(f'<circle cx="{x(value.mean)}" cy="{y}" r="3.5"/>')
    label = f"{table.columns[0] if table.columns else ''}, mean and 95 % interval"
    middle = (left + width - 24) / 2
    parts.append(
        f'<text x="{middle:g}" y="{bottom + 36}" text-anchor="middle">{_xml(label)}</text>'
    )
    return "\n".join([*parts, "</svg>"]) + "\n"


FORMATS: Final[Mapping[str, FileFormat[BoardTable, str]]] = {
    one.name: one
    for one in (
        FileFormat("csv", "CSV", "csv", "text/csv", as_csv),
        FileFormat("json", "JSON", "json", "application/json", as_json),
        FileFormat("latex", "LaTeX table", "tex", "application/x-tex", as_latex),
        FileFormat("markdown", "Markdown table", "md", "text/markdown", as_markdown),
        FileFormat("svg", "Figure for a paper (SVG)", "svg", "image/svg+xml", as_figure),
    )
}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _name(row: BoardRow) -> str:
    return row.ranker if row.ranker == row.run else f"{row.ranker} {row.run}"


def _best(table: BoardTable) -> list[float | None]:
    columns = zip(*(row.values for row in table.rows if row.values), strict=True)
    tops = [max((v.mean for v in own if v.mean is not None), default=None) for own in columns]
    return tops or [None] * len(table.columns)


def _mean(value: BoardValue) -> str:
    return "–" if value.mean is None else f"{value.mean:.{DIGITS}f}"


def _half(value: BoardValue, sign: str) -> str:
    if value.low is None or value.high is None:
        return ""
    return f"{sign}{(value.high - value.low) / 2:.{DIGITS}f}"


def _markdown(text: str) -> str:
    escaped = "".join(f"\\{c}" if c in "\\`*_{}[]<>|#" else c for c in text)
    return " ".join(escaped.split())


def _xml(text: str) -> str:
    # XML 1.0 has no control characters, not even escaped
    return escape("".join(c for c in text if c.isprintable()))


def _shortened(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _axis(low: float, high: float) -> tuple[float, float]:
    """Bounds of the axis, some way outside what is shown; never of no width."""
    margin = (high - low) * 0.05 or 0.05
    return low - margin, high + margin


def _ticks(low: float, high: float) -> Sequence[float]:
    """Round numbers between the bounds, four to ten of them."""
    steps = [digit * 10.0**power for power in range(-2, 9) for digit in (1, 2, 5)]
    step = next((step for step in steps if (high - low) / step <= 8), high - low)
    first = -int(-low // step)
    return [k * step for k in range(first, int(high // step) + 1)]
