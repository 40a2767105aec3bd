"""Significance groups as files: CSV, and a LaTeX table with the letters as marks."""

from itertools import chain

from evaluation.comparison.significance import SignificanceGroups
from judgments.lists.citations import latex
from touchstone.files.csv_lines import csv_lines


def as_csv(page: SignificanceGroups) -> str:
    """A row a run, every digit; no cell that a spreadsheet computes."""
    head = ("place", "run", page.chosen.asked.canonical, "n", "groups", "better_than")
    rows = (
        (row.place, row.run.name, row.run.mean, row.run.n, row.letters, row.better_than)
        for row in page.rows
    )
    return "".join(csv_lines(chain([head], rows)))


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
