"""The order in which an annotator gets the pairs of a campaign.

By seeded hashes of who and what: the order tells nothing of ranks or rankers, two people have
different orders, and a pair keeps its place among the others when more pairs are added.

An order is one of chunks, and within each one of its pairs, so that the next pairs are found
without reading them all. Query by query a chunk is a query; otherwise it is one of CHUNKS groups
of pairs, of all queries alike.
"""

import hashlib
from collections.abc import Iterable
from typing import Final

CHUNKS: Final = 256  # in a campaign of 20,000 mixed pairs some 80 pairs each

Key = tuple[int, int, int, int]


class Order:
    """One annotator's order in one campaign, as sort keys of pairs."""

    def __init__(self, *, seed: int, annotator: int, query_by_query: bool) -> None:
        self._salt = f"{seed} {annotator}".encode()
        self._query_by_query = query_by_query
        self._chunks: dict[int, tuple[int, int]] = {}

    def chunk(self, *, pair: int, query: int) -> int:
        """The chunk that a pair belongs to; the same for everyone."""
        return query if self._query_by_query else pair % CHUNKS

    def chunk_key(self, chunk: int) -> tuple[int, int]:
        """Where a chunk stands: `key` of its pairs begins with this."""
        if chunk not in self._chunks:
            self._chunks[chunk] = self._hash(b"query", str(chunk)), chunk
        return self._chunks[chunk]

    def key(self, *, pair: int, query: int, document: int) -> Key:
        """Where a pair stands; no two pairs of a campaign have the same key."""
        of_pair = self._hash(b"pair", f"{query} {document}")
        return (*self.chunk_key(self.chunk(pair=pair, query=query)), of_pair, pair)

    def sort_chunks(self, chunks: Iterable[int]) -> list[int]:
        """The chunks in the order in which this annotator meets them."""
        return sorted(chunks, key=self.chunk_key)

    def name(self, query: int, document: int, occasion: int = 0) -> str:
        """What this annotator's programs know a pair by: it says nothing of the pair.

        The same each time that the pair is handed out, and another at another occasion.
        """
        return f"{self._hash(b'name', f'{query} {document} {occasion}'):016x}"

    def query_name(self, query: int) -> str:
        """What this annotator's programs know a query by: equal texts can be different queries.

        The same for all pairs of the query, planted ones too; unlike for any other annotator.
        """
        return f"{self._hash(b'query name', str(query)):016x}"

    def _hash(self, person: bytes, text: str) -> int:
        digest = hashlib.blake2b(text.encode(), digest_size=8, key=self._salt, person=person)
        return int.from_bytes(digest.digest(), "little")
