"""Frames, their digest, and the number that a seed gives each query."""

from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.sampling.errors import SamplingError
from touchstone.sampling.frames import (
    CHUNK,
    Frame,
    QueryTexts,
    RepeatedQueryError,
    permanent_random_numbers,
)

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, unique=True)


@given(TEXTS)
def test_texts_come_out_as_they_went_in(texts):
    held = QueryTexts.of(texts)
    assert [held[row] for row in range(len(held))] == texts
    assert [text.decode() for part in held.chunks() for text in part] == texts


def test_more_texts_than_are_taken_at_a_time_come_out_too():
    texts = [f"q{i}" for i in range(2 * CHUNK + 3)]
    assert [one.decode() for part in QueryTexts.of(texts).chunks() for one in part] == texts


@given(TEXTS, st.randoms(use_true_random=False))
def test_the_digest_does_not_depend_on_the_order_of_the_queries(texts, shuffler):
    rows = [(text, f"s{len(text) % 3}", len(text) + 1.0) for text in texts]
    queries, strata, sizes = zip(*rows, strict=True)
    before = Frame.of(queries, strata=strata, sizes=sizes).digest
    shuffler.shuffle(rows)
    queries, strata, sizes = zip(*rows, strict=True)
    assert Frame.of(queries, strata=strata, sizes=sizes).digest == before


def test_the_digest_changes_with_every_text_stratum_and_size():
    digests = {
        Frame.of(queries, strata=strata, sizes=sizes).digest
        for queries, strata, sizes in (
            (["a", "b"], None, None),
            (["a", "b", "c"], None, None),
            (["a", "B"], None, None),
            (["a", "b "], None, None),
            (["a", "b"], ["x", "y"], None),
            (["a", "b"], ["y", "x"], None),
            (["a", "b"], None, [1, 2]),
            (["a", "b"], None, [2, 1]),
        )
    }
    assert len(digests) == 8


def test_the_digest_is_the_same_on_every_machine_and_in_every_version():
    frame = Frame.of(["usb c", "straße"], strata=["head", "tail"], sizes=[7.0, 1.5])
    assert frame.digest == ("98137b015ab915ae7ef7293a719b93cda93dfce4423301d9c311729064ef1199")


def test_a_query_that_is_there_twice_is_refused_with_its_rows():
    with pytest.raises(RepeatedQueryError) as refused:
        Frame.of(["a", "b", "c", "b"])
    assert (refused.value.first, refused.value.second) == (1, 3)


@pytest.mark.parametrize("size", [0.0, -1.0, np.nan, np.inf])
def test_a_size_that_is_not_above_0_is_refused(size):
    with pytest.raises(SamplingError, match="above 0"):
        Frame.of(["a", "b"], sizes=[1.0, size])


@pytest.mark.parametrize(("queries", "strata"), [([], None), (["a"], []), (["a", "b"], ["x"])])
def test_a_frame_needs_queries_and_a_stratum_for_each(queries, strata):
    with pytest.raises(SamplingError):
        Frame.of(queries, strata=strata)


def test_a_querys_number_is_the_keyed_hash_of_its_text():
    """As anyone can compute it in another language."""
    texts = ["usb c", "straße", ""]
    found = permanent_random_numbers(QueryTexts.of(texts), 42)
    for text, number in zip(texts, found.tolist(), strict=True):
        digest = blake2b(text.encode(), digest_size=8, key=b"42").digest()
        assert number == ((int.from_bytes(digest, "big") >> 11) + 0.5) / 2**53


def test_a_querys_number_does_not_depend_on_the_other_queries():
    alone = permanent_random_numbers(QueryTexts.of(["b"]), 9)
    among = permanent_random_numbers(QueryTexts.of(["a", "b", "c"]), 9)
    assert alone[0] == among[1]


def test_numbers_are_uniform_and_those_of_two_seeds_unrelated():
    texts = QueryTexts.of([f"query {i}" for i in range(20_000)])
    first, second = (permanent_random_numbers(texts, seed) for seed in (1, 2))
    shares = np.bincount((first * 20).astype(int), minlength=20) / len(first)
    assert np.abs(shares - 0.05).max() < 5 * np.sqrt(0.05 * 0.95 / len(first))
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(len(first))
