"""The order of a ranking: score descending, then document id descending as UTF-8 bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.measures.ordering import rank_order, tie_starts


def ranked(pairs: dict[str, float], **how: str) -> list[str]:
    doc_ids = list(pairs)
    order = rank_order(doc_ids, np.array(list(pairs.values())), **how)  # type: ignore[arg-type]
    return [doc_ids[place] for place in order]


def test_better_scores_come_first_whatever_the_order_of_the_file() -> None:
    assert ranked({"a": 1.0, "b": 3.0, "c": -2.0, "d": 2.0}) == ["b", "d", "a", "c"]


def test_ties_stand_by_descending_bytes_of_the_id() -> None:
    tied = dict.fromkeys(["a", "d10", "d2", "D3", "z", "é1", "日本", "~t", "😀", "\uffff"], 0.5)
    assert ranked(tied) == ["😀", "\uffff", "日本", "é1", "~t", "z", "d2", "d10", "a", "D3"]


def test_scores_tie_where_float32_cannot_tell_them_apart() -> None:
    scores = {"a": 16777217.0, "b": 16777216.0}
    assert ranked(scores) == ["b", "a"]
    assert ranked(scores, precision="float64") == ["a", "b"]


def test_scores_beyond_float32_tie_at_infinity_without_a_warning() -> None:
    assert ranked({"a": 1e300, "b": 1e200, "c": 1.0}) == ["b", "a", "c"]


def test_both_zeros_tie() -> None:
    assert ranked({"a": 0.0, "b": -0.0}) == ["b", "a"]


def test_ties_can_be_left_as_the_file_has_them() -> None:
    assert ranked({"a": 1.0, "c": 2.0, "b": 1.0}, ties="listed") == ["c", "a", "b"]


def test_ties_can_stand_by_ascending_id() -> None:
    ids, scores = ["b", "é", "a", "Z"], np.array([1.0, 1.0, 1.0, 2.0])
    order = rank_order(ids, scores, ties="docid_asc")
    assert [ids[place] for place in order] == ["Z", "a", "b", "é"]


def test_each_rank_knows_where_its_tie_begins() -> None:
    assert tie_starts(np.array([3.0, 2.0, 2.0, 1.0])).tolist() == [0, 1, 1, 3]
    assert tie_starts(np.array([16777217.0, 16777216.0])).tolist() == [0, 0]
    both = tie_starts(np.array([16777217.0, 16777216.0]), precision="float64")
    assert both.tolist() == [0, 1]
    assert tie_starts(np.array([])).tolist() == []


def test_no_document_is_ranked_too() -> None:
    assert ranked({}) == []


def test_what_cannot_be_ordered_is_refused() -> None:
    with pytest.raises(ValueError, match="2 scores"):
        rank_order(["a"], np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="finite"):
        rank_order(["a"], np.array([np.nan]))


@given(st.dictionaries(st.text(max_size=3), st.sampled_from([0.0, 0.5, 1.0, 2.0]), max_size=30))
def test_the_order_is_that_of_sorting_by_score_and_bytes(pairs: dict[str, float]) -> None:
    usable = {d: s for d, s in pairs.items() if d.isprintable()}
    by_hand = sorted(usable, key=lambda d: (usable[d], d.encode()), reverse=True)
    assert ranked(usable) == by_hand
