"""Columns of CSV files: headers, quotes, line numbers, numbers."""

from io import BytesIO

import numpy as np
import pytest

from touchstone.files.csv_columns import CsvColumns, numbers, read_csv_columns
from touchstone.files.errors import FileRefused, Problems
from touchstone.files.reading import Limits


def read(text: bytes, wanted: CsvColumns, problems: Problems | None = None):
    own = Problems("x.csv") if problems is None else problems
    blocks = list(read_csv_columns(BytesIO(text), wanted, limits=Limits(), problems=own))
    lines = [line for block in blocks for line in block.lines]
    rows = [row for block in blocks for row in zip(*block.columns.values(), strict=True)]
    return lines, rows


A_AND_B = CsvColumns(("a",), ("b",))


def test_the_wanted_columns_are_read_and_others_passed_over():
    lines, rows = read(b'B,x,x, a \n1,,,"2, 3"\n\n"4 ""5""",,,6\r\n', A_AND_B)
    assert (lines, rows) == ([2, 4], [("2, 3", "1"), ("6", '4 "5"')])


def test_an_optional_column_may_be_missing():
    assert read(b"a\n1\n2\n", A_AND_B) == ([2, 3], [("1",), ("2",)])


def test_without_a_header_the_columns_are_those_that_are_named():
    wanted = CsvColumns(("a", "b"), unnamed=("a", "b"))
    assert read(b"1,2\n3,4\n", wanted) == ([1, 2], [("1", "2"), ("3", "4")])
    assert read(b"b,a\n1,2\n", wanted) == ([2], [("2", "1")])


@pytest.mark.parametrize("text", [b"x,b\n1,2\n", b"a,a\n1,2\n", b"1,2\n"])
def test_a_header_without_a_needed_column_or_with_it_twice_is_refused(text):
    with pytest.raises(FileRefused) as refused:
        read(text, A_AND_B)
    assert (refused.value.problems[0].line, refused.value.problems[0].rule) == (1, "header")


def test_sound_lines_among_wrong_ones_keep_their_numbers():
    problems = Problems("x.csv")
    lines, rows = read(b'a,b\n1,2\n3\n"4,5\n6,7\n', A_AND_B, problems)
    assert (lines, rows) == ([2, 5], [("1", "2"), ("6", "7")])
    assert [(one.line, one.rule) for one in problems.kept] == [(3, "columns"), (4, "columns")]


def test_a_cell_does_not_go_on_in_the_next_line():
    problems = Problems("x.csv")
    assert read(b'a,b\n"1\n2,3\n', A_AND_B, problems) == ([3], [("2", "3")])
    assert [one.line for one in problems.kept] == [2]


def test_numbers_are_finite_decimal_numbers():
    problems = Problems("x.csv")
    cells = ("1", " -2.5e-3 ", ".5", "1_0", "nan", "0x1", "1e400", "")
    found = numbers(cells, range(11, 19), "value", problems)
    assert found[:3].tolist() == [1.0, -0.0025, 0.5]
    assert np.isnan(found[3:]).all()
    assert [one.line for one in problems.kept] == [14, 15, 16, 17, 18]


@pytest.mark.parametrize("odd", ['"a, b",2', "a,b,c\nd", "", "ä\r", "x\x00,1"])
def test_every_block_is_read_alike_wherever_its_odd_line_is(odd):
    """Plain blocks are split at once, the one with the odd line is read by line."""
    plain = [f"{'query':99} {place},{place}" for place in range(6_000)]  # three blocks
    for place in (1, 3_000, 5_999):
        text = "\n".join(["a,b", *plain[:place], odd, *plain[place:], ""]).encode()
        lines, rows = read(text, A_AND_B, Problems("x.csv"))
        own = [pair for pair in zip(lines, rows, strict=True) if pair[1] != ("a, b", "2")]
        assert len(own) + odd.startswith('"') == len(rows)
        assert [row for _, row in own] == [tuple(line.split(",")) for line in plain]
        after = place + 3 + odd.count("\n")
        assert [line for line, _ in own[:place]] == list(range(2, place + 2))
        assert [line for line, _ in own[place:]] == list(range(after, after + 6_000 - place))
