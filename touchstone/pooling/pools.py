"""Which pairs are worth judging: pools drawn from what rankers returned."""

import hashlib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import NamedTuple

Pair = tuple[int, int]  # query, document


class Source(NamedTuple):
    """Where a pair comes from: this run of this ranker returned it at this rank, from 1."""

    ranker: str
    run: str
    rank: int


class Ranked(NamedTuple):
    """What one run returned for one query: its documents, best first."""

    ranker: str
    run: str
    query: int
    documents: Sequence[int]


Pool = dict[Pair, list[Source]]


def depth_k_pool(rankings: Iterable[Ranked], depth: int) -> Pool:
    """The union of the first `depth` documents of every ranking, each with all its sources.

    rankings: in any order; the pool is sorted by query and document, its sources by ranker and
    run, so that the same rankings give the same pool.
    Raises ValueError for a depth below 1.
    Source: Spärck Jones & van Rijsbergen 1975; TREC pools to depth k.
    """
    if depth < 1:
        raise ValueError(f"a pool has a depth of at least 1, not {depth}")
    pool: Pool = {}
    for ranked in rankings:
        for rank, document in enumerate(ranked.documents[:depth], start=1):
            source = Source(ranked.ranker, ranked.run, rank)
            pool.setdefault((ranked.query, document), []).append(source)
    return {pair: sorted(pool[pair]) for pair in sorted(pool)}


def without(pool: Mapping[Pair, list[Source]], known: Container[Pair]) -> Pool:
    """The pool without the pairs that are known, e.g. because they are judged already."""
    return {pair: sources for pair, sources in pool.items() if pair not in known}


def uniform_sample(pool: Mapping[Pair, list[Source]], *, size: int, seed: int) -> Pool:
    """`size` pairs of the pool, every pair with the same chance; all of it if it has fewer.

    The pairs with the smallest seeded hash: neither the pool's order nor ranks have a part in
    it, and a pool that has grown keeps those that still are among the smallest.
    Raises ValueError for a size below 1.
    """
    if size < 1:
        raise ValueError(f"a sample has at least 1 pair, not {size}")
    key = _sample_key(seed)
    chosen = set(sorted(pool, key=key)[:size])
    return {pair: sources for pair, sources in pool.items() if pair in chosen}


def sample_at_rate_of(
    pool: Mapping[Pair, list[Source]], *, sampled: Iterable[Pair], seed: int
) -> Pool:
    """The pairs that have in this pool the chance that `sampled` had in theirs.

    sampled: what `uniform_sample` chose with this seed. A pair is taken if its hash is not
    above the largest among those, so that topping up a sample does not turn it into the whole.
    """
    key = _sample_key(seed)
    threshold = max(map(key, sampled), default=b"")
    return {pair: sources for pair, sources in pool.items() if key(pair) <= threshold}


def _sample_key(seed: int) -> Callable[[Pair], bytes]:
    salt = seed.to_bytes(8, "little", signed=True)

    def key(pair: Pair) -> bytes:
        text = f"{pair[0]} {pair[1]}".encode()
        return hashlib.blake2b(text, digest_size=16, key=salt, person=b"pool").digest()

    return key
