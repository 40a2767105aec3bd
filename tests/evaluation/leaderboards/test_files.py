"""A leaderboard as CSV, JSON, LaTeX, Markdown and a figure."""

import csv
import io
import json
from xml.etree import ElementTree as Tree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.leaderboards.files import (
    FORMATS,
    BoardRow,
    BoardTable,
    BoardValue,
    as_csv,
    as_figure,
    as_json,
    as_latex,
    as_markdown,
)
from touchstone.statistics.intervals import mean_interval

NOTHING = BoardValue(None, None, None, 0)
TABLE = BoardTable(
    "Main, version 3",
    ("nDCG@10", "RR@10"),
    (
        BoardRow("BM25 & more", "=cmd|1", (BoardValue(0.8125, 0.75, 0.875, 20), NOTHING)),
        BoardRow("TF_IDF", "one", (BoardValue(0.5, None, None, 1), BoardValue(1, 0.9, 1.1, 20))),
    ),
)
NUMBERS = st.floats(-1e6, 1e6)
VALUES = st.builds(BoardValue, NUMBERS, NUMBERS, NUMBERS, st.integers(2, 9)) | st.just(NOTHING)
TABLES = st.builds(
    BoardTable,
    st.text(),
    st.just(("nDCG@10",)),
    st.lists(st.builds(BoardRow, st.text(), st.text(), st.tuples(VALUES))).map(tuple),
)


def test_csv_has_every_digit_and_no_cell_that_a_spreadsheet_computes() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(TABLE))))
    assert rows[0][:4] == ["ranker", "run", "nDCG@10", "nDCG@10 low"]
    assert rows[1] == ["BM25 & more", "'=cmd|1", "0.8125", "0.75", "0.875", "20", "", "", "", "0"]


def test_json_has_a_value_for_every_measure() -> None:
    document = json.loads(as_json(TABLE))
    assert document["runs"][1]["values"]["RR@10"] == {"mean": 1, "low": 0.9, "high": 1.1, "n": 20}


def test_markdown_and_latex_escape_names_and_mark_the_best() -> None:
    markdown = as_markdown(TABLE).splitlines()
    assert markdown[0] == "| Run | nDCG@10 | RR@10 |"
    assert markdown[2] == r"| BM25 & more =cmd\|1 | **0.8125** ± 0.0625 | – |"
    latex = as_latex(TABLE)
    assert r"BM25 \& more =cmd\textbar{}1 & \textbf{0.8125} $\pm$ 0.0625 & -- \\" in latex
    assert r"TF\_IDF one & 0.5000 & \textbf{1.0000} $\pm$ 0.1000 \\" in latex
    said = r"$\pm$: half the width of the 95\,\% interval; none where all values are equal."
    assert rf"\caption{{Main, version 3; {said}}}" in latex


def test_the_figure_has_a_dot_and_a_name_for_every_run_that_has_a_value() -> None:
    figure = Tree.fromstring(as_figure(TABLE))  # noqa: S314
    names = [text.text for text in figure.iter("{http://www.w3.org/2000/svg}text")]
    assert "BM25 & more =cmd|1" in names
    dots = list(figure.iter("{http://www.w3.org/2000/svg}circle"))
    assert len(dots) == 2
    assert float(dots[0].attrib["cx"]) > float(dots[1].attrib["cx"])


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=20)
@given(table=TABLES)
def test_every_table_can_be_written_and_read_by_a_parser(name, table) -> None:
    text = FORMATS[name].write(table)
    if name == "svg":
        Tree.fromstring(text)  # noqa: S314
    elif name == "json":
        assert len(json.loads(text)["runs"]) == len(table.rows)
    elif name == "csv":
        cells = [row[:1] for row in csv.reader(io.StringIO(text, newline="")) if row]
        assert len(cells) == len(table.rows) + 1
    assert text.endswith("\n")


@pytest.mark.parametrize("n", [2, 3, 50, 500])
def test_the_interval_of_a_mean_is_students(n) -> None:
    expected = stats.t.interval(0.95, n - 1, loc=0.4, scale=0.05)
    assert mean_interval(0.4, 0.05, n) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [50, 500])
def test_the_interval_of_a_mean_holds_the_truth_in_93_to_97_of_a_hundred_cases(n) -> None:
    values = np.random.default_rng(n).beta(2, 3, (4_000, n))  # skewed as nDCG is, of mean 0.4
    errors = values.std(axis=1, ddof=1) / np.sqrt(n)
    intervals = [
        mean_interval(mean, error, n)
        for mean, error in zip(values.mean(axis=1).tolist(), errors.tolist(), strict=True)
    ]
    covered = np.mean([found is not None and found[0] <= 0.4 <= found[1] for found in intervals])
    assert 0.93 <= covered <= 0.97


def test_one_value_has_no_interval_and_values_that_are_all_equal_have_none() -> None:
    assert mean_interval(0.4, 0.0, 50) is None
    assert mean_interval(0.4, None, 1) is None
    assert mean_interval(None, None, 0) is None
