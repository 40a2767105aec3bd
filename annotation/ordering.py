"""In which order somebody meets the pairs of a campaign.

By seeded hashes of who and what: the order tells nothing of ranks or rankers, two people have
different orders, and a pair keeps its place among the others when more pairs are added.
"""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

Key = tuple[int, int, int, int]


class Place(NamedTuple):
    """A pair as the order sees it; `pair` is handed through."""

    pair: int
    query: int
    document: int


def stream(
    places: Iterable[Place], *, seed: int, annotator: int, query_by_query: bool
) -> list[Place]:
    """The pairs in the order in which this annotator meets them.

    query_by_query: all pairs of a query stand together; otherwise pairs of all queries are mixed.
    The result depends on the set of pairs alone, not on the order in which they are given.
    """
    order = Order(seed=seed, annotator=annotator, query_by_query=query_by_query)
    return sorted(places, key=lambda place: order.key(place.query, place.document))


class Order:
    """One annotator's order in one campaign, as sort keys of pairs."""

    def __init__(self, *, seed: int, annotator: int, query_by_query: bool) -> None:
        self._salt = f"{seed} {annotator}".encode()
        self._query_by_query = query_by_query
        self._queries: dict[int, int] = {}

    def key(self, query: int, document: int) -> Key:
        """Where a pair stands; no two pairs of a campaign have the same key."""
        of_pair = self._hash(b"pair", f"{query} {document}")
        if self._query_by_query:
            return self._query(query), query, of_pair, document
        return 0, of_pair, query, document

    def _query(self, query: int) -> int:
        if query not in self._queries:
            self._queries[query] = self._hash(b"query", str(query))
        return self._queries[query]

    def _hash(self, person: bytes, text: str) -> int:
        digest = hashlib.blake2b(text.encode(), digest_size=8, key=self._salt, person=person)
        return int.from_bytes(digest.digest(), "little")
