"""The mean over all orders of tied documents, against all orders."""

import itertools
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.touchstone.measures.builders import value_of
from tests.touchstone.measures.file_builders import judged, run
from touchstone.measures.engine import evaluate_batch
from touchstone.measures.errors import MeasureError
from touchstone.measures.files import explain_file
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure
from touchstone.measures.rankings import GradedRankings, averaged

SCALE = Grades.integers(range(5))
GRADES = st.lists(st.none() | st.integers(0, 4), min_size=1, max_size=3)
NAMES = [
    "nDCG@3",
    "nDCG",
    "nDCG(gain='exp2',ideal='recall')@2",
    "nDCG(ideal='recall',discount='ln/ln2',arithmetic='cumulative')@3",
    "nDCG(arithmetic='multiply_each')@4",
    "P@2",
    "R(rel=2)@3",
    "Judged@3",
]


def with_ties(name: str) -> str:
    """The measure's name with ties averaged."""
    family, bracket, rest = name.partition("(")
    if bracket:
        return f"{family}(ties='averaged',{rest}"
    family, at, cutoff = name.partition("@")
    return f"{family}(ties='averaged'){at}{cutoff}"


def value_with_ties(name: str, ties: list[list[int | None]]) -> float:
    """One measure of one ranking, given as groups of tied documents."""
    codes = [code for tie in ties for code in tie]
    ends = np.cumsum([len(tie) for tie in ties])
    starts = [int(end) - len(tie) for end, tie in zip(ends, ties, strict=True) for _ in tie]
    rankings = GradedRankings(
        np.array([[0 if code is None else code + 1 for code in codes]], np.uint8),
        np.array([len(codes)]),
        np.array([[codes.count(code) for code in range(5)]]),
        np.array([starts]),
    )
    return float(evaluate_batch([parse_measure(name)], rankings, SCALE).values[0, 0])


@pytest.mark.parametrize("name", NAMES)
@given(ties=st.lists(GRADES, min_size=1, max_size=3))
def test_the_averaged_value_is_the_mean_over_all_orders_of_tied_documents(
    name: str, ties: list[list[int | None]]
) -> None:
    orders = itertools.product(*(itertools.permutations(tie) for tie in ties))
    values = [value_of(name, [code for tie in order for code in tie]) for order in orders]
    expected = statistics.fmean(values)
    assert value_with_ties(with_ties(name), ties) == pytest.approx(expected, abs=1e-12)


def test_the_order_within_a_tie_changes_nothing() -> None:
    one = value_with_ties("nDCG(ties='averaged')@2", [[1, None, 4], [0]])
    assert one == value_with_ties("nDCG(ties='averaged')@2", [[4, 1, None], [0]])


def test_a_tie_shares_its_mean_and_what_stands_alone_keeps_its_own() -> None:
    rows = np.array([[3.0, 1.0, 2.0, 5.0]])
    assert averaged(rows, np.array([[0, 1, 1, 3]])).tolist() == [[3.0, 1.5, 1.5, 5.0]]


def test_averaging_needs_rankings_that_tell_their_ties() -> None:
    with pytest.raises(MeasureError, match="needs the scores"):
        value_of("nDCG(ties='averaged')@2", [1, 2])


def test_an_explanation_gives_tied_documents_their_mean_gain() -> None:
    qrels, ranked = judged("q a 3\nq b 0\nq c 1"), run("q a 2\nq b 2\nq c 1")
    (found,) = explain_file(qrels, ranked, [parse_measure("nDCG(ties='averaged')@3")], "q")
    assert [rank.gain for rank in found.ranks] == [1.5, 1.5, 1.0]
    assert found.dcg == pytest.approx(1.5 + 1.5 / np.log2(3) + 0.5)
    (found,) = explain_file(qrels, ranked, [parse_measure("P(ties='averaged')@1")], "q")
    assert [rank.contribution for rank in found.ranks] == [0.5]
    assert found.value == 0.5
