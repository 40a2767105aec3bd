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
        self._queries: dict[str, int] = {}

    def key(self, query: int, document: int, occasion: int = 0) -> Key:
        """Where a pair stands; no two pairs of a campaign have the same key.

        occasion: above 0 where somebody meets the pair again; that has a place of its own.
        """
        again = f" {occasion}" if occasion else ""
        of_pair = self._hash(b"pair", f"{query} {document}{again}")
        if self._query_by_query:
            return self._query(f"{query}{again}"), query, of_pair, document
        return 0, of_pair, query, document

    def name(self, query: int, document: int, occasion: int = 0) -> str:
        """What this annotator's programs know a pair by: it says nothing of the pair.

        The same each time that the pair is handed out, and another at another occasion.
        """
        return f"{self._hash(b'name', f'{query} {document} {occasion}'):016x}"

    def _query(self, name: str) -> int:
        if name not in self._queries:
            self._queries[name] = self._hash(b"query", name)
        return self._queries[name]

    def _hash(self, person: bytes, text: str) -> int:
        digest = hashlib.blake2b(text.encode(), digest_size=8, key=self._salt, person=person)
        return int.from_bytes(digest.digest(), "little")
