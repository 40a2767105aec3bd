"""Judged samples from CSV files: strata, counts, joint chances, and what is refused."""

from io import BytesIO

import numpy as np
import pytest

from touchstone.files.errors import FileRefused
from touchstone.sampling.sample_files import read_joint, read_sample


def read(text: str):
    return read_sample(BytesIO(text.encode()), name="sample.csv")


def test_values_and_chances_are_read_in_any_order_of_columns():
    found = read("note,pi,query,value\nx,0.5,a,0.25\ny,0.125,b,-1e-3\n")
    assert (found.values.tolist(), found.pi.tolist()) == ([0.25, -1e-3], [0.5, 0.125])
    assert (found.names, found.counts) == (("",), None)


def test_strata_have_the_sizes_that_the_file_gives():
    found = read("value,pi,stratum,N_h\n1,0.5,x,4\n2,0.1,y,20\n3,0.5,x,4\n4,0.1,y,20\n")
    assert (found.names, found.stratum.tolist()) == (("x", "y"), [0, 1, 0, 1])
    assert found.counts is not None
    assert found.counts.tolist() == [4, 20]


def test_equal_chances_of_a_stratum_say_its_size():
    found = read(f"value,pi,stratum\n1,{2 / 7},x\n2,{2 / 7},x\n3,1,y\n")
    assert found.counts is not None
    assert found.counts.tolist() == [7, 1]


@pytest.mark.parametrize("chances", [(0.5, 0.25), (0.3, 0.3)])
def test_unequal_chances_or_no_whole_size_leave_the_counts_open(chances):
    first, second = chances
    assert read(f"value,pi,stratum\n1,{first},x\n2,{second},x\n").counts is None


def test_unequal_chances_leave_them_open_where_the_file_gives_sizes_too():
    assert read("value,pi,N_h\n1,0.5,8\n2,0.25,8\n").counts is None


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        ("", 1, "empty"),
        ("value,pi\n", 1, "empty"),
        ("value,chance\n1,1\n", 1, "header"),
        ("value,pi\n1,0\n", 2, "number"),
        ("value,pi\n1,0.5\n1,1.01\n", 3, "number"),
        ("value,pi\n1,0.5\nnone,0.5\n", 3, "number"),
        ("value,pi,query\n1,0.5,a\n1,0.5,a\n", 3, "duplicate"),
        ("value,pi,stratum,N_h\n1,0.5,x,4\n1,0.5,x,5\n", 3, "number"),
        ("value,pi,stratum,N_h\n1,0.5,x,1\n1,0.5,x,1\n", 2, "number"),
        ("value,pi,stratum,N_h\n1,0.5,x,4.5\n1,0.5,x,4.5\n", 2, "number"),
        ("value,pi,stratum,N_h\n1,0.5,x,40\n1,0.5,x,40\n", 2, "number"),
    ],
)
def test_a_wrong_line_is_named(text, line, rule):
    with pytest.raises(FileRefused) as refused:
        read(text)
    problem = refused.value.problems[0]
    assert (problem.line, problem.rule) == (line, rule)


PI = np.array([0.5, 0.25])


def test_joint_chances_are_a_matrix_without_a_header():
    found = read_joint(BytesIO(b"0.5,0.1\n0.1,0.25\n"), name="joint.csv", pi=PI)
    assert found.tolist() == [[0.5, 0.1], [0.1, 0.25]]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "0 rows"),
        ("0.5,0.1\n", 1, "1 rows"),
        ("0.5,0.1\n0.1,0.25\n0,0\n", 3, "more than"),
        ("0.5,0.1,1\n", 1, "3 columns"),
        ("0.5,x\n0.1,0.25\n", 1, "not a number"),
        ("0.5,0\n0,0.25\n", 1, "above 0"),
        ("0.5,0.3\n0.3,0.25\n", 1, "above a query's own"),
        ("0.5,0.1\n0.2,0.25\n", 1, "symmetric"),
        ("0.4,0.1\n0.1,0.25\n", 1, "diagonal"),
    ],
)
def test_wrong_joint_chances_are_named(text, line, said):
    with pytest.raises(FileRefused, match=said) as refused:
        read_joint(BytesIO(text.encode()), name="joint.csv", pi=PI)
    assert refused.value.problems[0].line == line
