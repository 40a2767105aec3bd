"""Significance groups as files: rows, and a LaTeX table with the letters as marks."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from evaluation.comparison.significance import SignificanceGroups
from evaluation.pages.files import FileFormat, offered
from judgments.lists.citations import latex
from touchstone.files.csv_lines import csv_lines
from touchstone.files.parquet import MEDIA_TYPE, parquet_bytes


def as_csv(page: SignificanceGroups) -> str:
    """A row a run, every digit; no cell that a spreadsheet computes."""
    return "".join(csv_lines(chain([_columns(page)], _rows(page))))


def as_parquet(page: SignificanceGroups) -> bytes:
    """The same rows."""
    return parquet_bytes(_columns(page), _rows(page), title=page.title)


def _columns(page: SignificanceGroups) -> dict[str, type]:
    measure = page.chosen.asked.canonical
    return {
        "place": int,
        "run": str,
        measure: float,
        "n": int,
        "groups": str,
        "better_than": int,
    }


def _rows(page: SignificanceGroups) -> Iterator[tuple[object, ...]]:
    for row in page.rows:
        yield row.place, row.run.name, row.run.mean, row.run.n, row.letters, row.better_than


def as_latex(page: SignificanceGroups) -> str:
    """A booktabs table with four digits; runs that share a letter do not differ."""
    best = max((row.run.mean or 0.0 for row in page.rows), default=0.0)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(page.title)}. Runs that share a letter do not differ significantly.}}",
        r"\begin{tabular}{lr@{\,}l}",
        r"\toprule",
        rf"Run & {latex(page.chosen.asked.canonical)} & \\",
        r"\midrule",
    ]
    for row in page.rows:
        mean = f"{row.run.mean or 0.0:.4f}"
        shown = rf"\textbf{{{mean}}}" if row.run.mean == best else mean
        lines.append(rf"{latex(row.run.label)} & {shown} & $^{{\mathrm{{{row.letters}}}}}$ \\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


DOWNLOADS: Final = offered(
    FileFormat("csv", "CSV", "csv", "text/csv", as_csv),
    FileFormat("latex", "LaTeX table", "tex", "application/x-tex", as_latex),
    FileFormat("parquet", "Parquet", "parquet", MEDIA_TYPE, as_parquet),
)
