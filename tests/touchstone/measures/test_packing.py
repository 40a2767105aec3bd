"""Packed rankings: what is written is what is read, on any machine."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.measures.packing import (
    LONGEST_SHORT_ORDER,
    Packed,
    pack,
    run_digest,
    unpack_documents,
    unpack_order,
    unpack_ranked,
    unpack_scores,
)


def packed(documents: list[int], *, order: list[int] | None = None) -> Packed:
    places = list(range(len(documents))) if order is None else order
    return pack(
        np.array(documents, np.int32),
        np.linspace(1.0, 0.0, len(documents)),
        np.array(places, np.int64),
    )


def test_the_bytes_of_a_ranking_are_pinned() -> None:
    assert pack(
        np.array([258, 1], np.int32), np.array([0.5, 1.0]), np.array([1, 0], np.int64)
    ) == Packed(
        bytes.fromhex("02010000 01000000"),
        bytes.fromhex("000000000000e03f 000000000000f03f"),
        bytes.fromhex("0100 0000"),
    )


@given(
    st.lists(
        st.tuples(st.integers(1, 2**31 - 1), st.floats(allow_nan=False, allow_infinity=False)),
        max_size=40,
        unique_by=lambda row: row[0],
    ),
    st.randoms(use_true_random=False),
)
def test_a_ranking_comes_back_as_it_was_packed(
    rows: list[tuple[int, float]], random: object
) -> None:
    order = list(range(len(rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    documents = np.array([row[0] for row in rows], np.int32)
    scores = np.array([row[1] for row in rows], np.float64)
    stored = pack(documents, scores, np.array(order, np.int64))
    assert np.array_equal(unpack_documents(stored.documents), documents)
    assert np.array_equal(unpack_scores(stored.scores), scores)
    assert unpack_order(stored.order, len(rows)).tolist() == order
    ranked = unpack_ranked([stored.documents], [stored.order])
    assert ranked.ranking(0).tolist() == [int(documents[place]) for place in order]


def test_many_rankings_are_unpacked_at_once_and_an_empty_one_stays_empty() -> None:
    rankings = [packed([7, 8, 9], order=[2, 0, 1]), packed([]), packed([4, 5], order=[1, 0])]
    ranked = unpack_ranked([r.documents for r in rankings], [r.order for r in rankings])
    assert [ranked.ranking(i).tolist() for i in range(len(ranked))] == [[9, 7, 8], [], [5, 4]]
    assert ranked.lengths().tolist() == [3, 0, 2]


def test_no_ranking_at_all_is_unpacked_to_nothing() -> None:
    assert len(unpack_ranked([], [])) == 0


@pytest.mark.parametrize("length", [LONGEST_SHORT_ORDER, LONGEST_SHORT_ORDER + 1])
def test_a_ranking_longer_than_two_bytes_count_is_kept_whole(length: int) -> None:
    documents = np.arange(length, dtype=np.int32)
    deep = pack(documents, np.zeros(length), np.arange(length, dtype=np.int64)[::-1])
    shallow = packed([3, 1], order=[1, 0])
    assert len(deep.order) == length * (2 if length == LONGEST_SHORT_ORDER else 4)
    ranked = unpack_ranked([shallow.documents, deep.documents], [shallow.order, deep.order])
    assert ranked.ranking(0).tolist() == [1, 3]
    assert np.array_equal(ranked.ranking(1), documents[::-1])


@pytest.mark.parametrize("order", [[0], [0, 0], [1, 2]])
def test_what_is_no_permutation_is_refused(order: list[int]) -> None:
    with pytest.raises(ValueError, match=r"permutation|as many"):
        packed([1, 2], order=order)


def test_torn_bytes_are_refused() -> None:
    stored = packed([1, 2, 3])
    with pytest.raises(ValueError, match="does not fit"):
        unpack_ranked([stored.documents], [stored.order[:-1]])
    with pytest.raises(ValueError, match="has not"):
        unpack_ranked([stored.documents], [b"\x00\x00\x01\x00\x07\x00"])
    with pytest.raises(ValueError, match="bytes"):
        unpack_order(stored.order, 2)


def test_a_digest_depends_on_every_row() -> None:
    one = ("q1", ["a", "b"], np.array([1.0, 0.5]))
    two = ("q2", ["a"], np.array([2.0]))
    digest = run_digest([one, two])
    assert len(digest) == 64
    others = [
        [one],
        [("q1", ["b", "a"], np.array([0.5, 1.0])), two],
        [("q1", ["a", "b"], np.array([1.0, 0.25])), two],
        [("q1", ["a"], np.array([1.0])), ("q2", ["a", "b"], np.array([2.0, 0.5]))],
        [("q1", ["a", "c"], np.array([1.0, 0.5])), two],
    ]
    assert len({digest, *(run_digest(other) for other in others)}) == len(others) + 1


@pytest.mark.parametrize("ids", [["q2", "q1"], ["q1", "q1"], ["é", "z"]])
def test_a_digest_is_of_queries_in_the_order_of_their_ids(ids: list[str]) -> None:
    with pytest.raises(ValueError, match="order of the ids"):
        run_digest([(one, ["a"], np.array([1.0])) for one in ids])
