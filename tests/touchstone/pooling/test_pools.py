"""Which pairs a pool holds, and that it always says where they come from."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.pooling.pools import (
    Ranked,
    Source,
    depth_k_pool,
    sample_at_rate_of,
    uniform_sample,
    without,
)

RANKINGS = [
    Ranked("bm25", "first", 1, [10, 11, 12]),
    Ranked("tf-idf", "first", 1, [12, 13, 10]),
    Ranked("bm25", "first", 2, [10]),
]


@st.composite
def rankings(draw: st.DrawFn) -> list[Ranked]:
    names = draw(st.lists(st.sampled_from("abcd"), unique=True, max_size=4))
    documents = st.lists(st.integers(1, 30), unique=True, max_size=12)
    return [
        Ranked(name, "run", query, draw(documents))
        for name in names
        for query in draw(st.sets(st.integers(1, 5)))
    ]


def test_a_pool_is_the_union_of_the_tops_with_every_source() -> None:
    assert depth_k_pool(RANKINGS, 2) == {
        (1, 10): [Source("bm25", "first", 1)],
        (1, 11): [Source("bm25", "first", 2)],
        (1, 12): [Source("tf-idf", "first", 1)],
        (1, 13): [Source("tf-idf", "first", 2)],
        (2, 10): [Source("bm25", "first", 1)],
    }
    assert depth_k_pool(RANKINGS, 3)[1, 10] == [
        Source("bm25", "first", 1),
        Source("tf-idf", "first", 3),
    ]


@pytest.mark.parametrize("depth", [0, -1])
def test_a_pool_without_depth_is_refused(depth: int) -> None:
    with pytest.raises(ValueError, match="depth of at least 1"):
        depth_k_pool(RANKINGS, depth)


@given(rankings(), st.integers(1, 12))
def test_a_deeper_pool_holds_the_shallower_one(given_rankings: list[Ranked], depth: int) -> None:
    shallow, deep = (depth_k_pool(given_rankings, k) for k in (depth, depth + 1))
    assert shallow.keys() <= deep.keys()
    for pair, sources in shallow.items():
        assert sources == [source for source in deep[pair] if source.rank <= depth]


@given(rankings(), st.integers(1, 12), st.randoms(use_true_random=False))
def test_a_pool_does_not_depend_on_the_order_of_the_rankings(
    given_rankings: list[Ranked], depth: int, random: object
) -> None:
    shuffled = list(given_rankings)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    pool, other = depth_k_pool(given_rankings, depth), depth_k_pool(shuffled, depth)
    assert list(pool.items()) == list(other.items())


def test_known_pairs_are_left_out() -> None:
    pool = without(depth_k_pool(RANKINGS, 2), {(1, 10), (7, 7)})
    assert set(pool) == {(1, 11), (1, 12), (1, 13), (2, 10)}


@given(rankings(), st.integers(1, 40), st.integers(-(2**63), 2**63 - 1))
def test_a_sample_is_a_part_of_the_pool_of_the_size_asked_for(
    given_rankings: list[Ranked], size: int, seed: int
) -> None:
    pool = depth_k_pool(given_rankings, 12)
    sample = uniform_sample(pool, size=size, seed=seed)
    assert len(sample) == min(size, len(pool))
    assert sample.items() <= pool.items()
    assert sample == uniform_sample(pool, size=size, seed=seed)


def test_a_sample_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 pair"):
        uniform_sample(depth_k_pool(RANKINGS, 2), size=0, seed=1)


def test_every_pair_has_the_same_chance_in_a_sample() -> None:
    pool = depth_k_pool([Ranked("bm25", "run", 1, list(range(20)))], 20)
    counts = Counter(
        pair for seed in range(4_000) for pair in uniform_sample(pool, size=5, seed=seed)
    )
    # 4,000 draws of 5 in 20: 1,000 each, with a standard deviation of 27
    assert all(890 < counts[pair] < 1_110 for pair in pool)


def test_topping_up_a_sample_keeps_its_rate() -> None:
    before = depth_k_pool([Ranked("bm25", "run", 1, list(range(1_000)))], 1_000)
    sampled = uniform_sample(before, size=100, seed=5)
    new = depth_k_pool([Ranked("late", "run", 1, list(range(1_000, 3_000)))], 2_000)
    taken = sample_at_rate_of(new, sampled=sampled, seed=5)
    assert 150 < len(taken) < 250
    assert sample_at_rate_of(before, sampled=sampled, seed=5) == sampled
