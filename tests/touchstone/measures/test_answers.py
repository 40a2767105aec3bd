"""Stored rankings in any order, from the one that is stored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.measures.answers import Answer, judge_answers
from touchstone.measures.ordering import Precision, Ties, rank_order, tie_starts
from touchstone.measures.rankings import Judgments

# Two of them are one number in single precision.
SCORES = st.sampled_from([0.0, 0.5, 1.0, 16777216.0, 16777217.0])
ORDERS: list[tuple[Ties, Precision]] = [
    (ties, precision)
    for ties in ("docid", "docid_asc", "listed")
    for precision in ("float32", "float64")
]


def stored(scores: dict[str, float]) -> Answer:
    values = np.array(list(scores.values()), np.float64)
    order = rank_order(list(scores), values).astype(np.int64)
    return Answer(np.arange(len(scores), dtype=np.int32), values, order)


@given(st.dictionaries(st.text(max_size=3), SCORES, max_size=20))
def test_every_order_follows_from_the_stored_one(scores: dict[str, float]) -> None:
    answer = stored(scores)
    for ties, precision in ORDERS:
        expected = rank_order(list(scores), answer.scores, ties=ties, precision=precision)
        assert answer.places((ties, precision)).tolist() == expected.tolist(), (ties, precision)


def test_what_ties_is_known_where_a_measure_averages_over_it() -> None:
    answers = [stored({"a": 1.0, "b": 2.0, "c": 1.0}), stored({}), stored({"a": 3.0})]
    none = Judgments(np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(3, np.int64))
    found = judge_answers(answers, none, ("averaged", "float64"), n_grades=2)
    assert found.ties is not None
    assert found.ties.tolist() == [[0, 1, 1], [0, 1, 2], [0, 1, 2]]
    assert found.lengths.tolist() == [3, 0, 1]
    assert judge_answers(answers, none, ("listed", "float64"), n_grades=2).ties is None
    scores = np.array([2.0, 1.0, 1.0])
    assert tie_starts(scores).tolist() == found.ties[0].tolist()


@pytest.mark.parametrize("ordering", [("docid", "float32"), ("averaged", "float32")])
def test_no_answer_at_all_has_no_ranks(ordering: tuple[str, str]) -> None:
    none = Judgments(np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.int64))
    assert len(judge_answers([], none, ordering, n_grades=2)) == 0
