"""Evidence of a click log as bytes, and back.

A query or document of the collection is stored by its primary key. Any other is a number below 0,
which says nothing of its text.
"""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.clicks.evidence import Evidence, counted

Ints = npt.NDArray[np.int64]

BLOCK: Final = 65_536  # rows
LEVEL: Final = 1  # of zlib
COLUMNS: Final = 6


@dataclass(frozen=True)
class StoredEvidence:
    """Evidence whose codes are places in `queries` and `documents`: primary keys, or below 0."""

    evidence: Evidence
    queries: Ints
    documents: Ints

    def select(self, keep: npt.NDArray[np.bool_]) -> "StoredEvidence":
        """The rows that a mask keeps; the codes stay."""
        return StoredEvidence(self.evidence.select(keep), self.queries, self.documents)

    def of_application(self, code: int) -> "StoredEvidence":
        """One application's rows; the codes stay."""
        return self.select(self.evidence.application == code)

    @property
    def is_known(self) -> npt.NDArray[np.bool_]:
        """(n,), whether the collection has the row's query and its document."""
        known = self.queries[self.evidence.query] > 0
        result: npt.NDArray[np.bool_] = known & (self.documents[self.evidence.document] > 0)
        return result


def renamed(evidence: Evidence, queries: Ints, documents: Ints) -> StoredEvidence:
    """Evidence by what is stored of its names. queries, documents: of each code.

    Rows that become the same are joined.
    """
    query_names, query = np.unique(queries, return_inverse=True)
    document_names, document = np.unique(documents, return_inverse=True)
    key = (
        evidence.application,
        query[evidence.query].astype(np.int64),
        document[evidence.document].astype(np.int64),
        evidence.rank,
    )
    joined = counted(key, evidence.impressions, evidence.clicks)
    return StoredEvidence(joined, query_names, document_names)


def pack(stored: StoredEvidence) -> Iterator[bytes]:
    """The rows in blocks, compressed."""
    own = stored.evidence
    for start in range(0, len(own), BLOCK):
        part = slice(start, start + BLOCK)
        columns = [
            own.application[part],
            stored.queries[own.query[part]],
            stored.documents[own.document[part]],
            own.rank[part],
            own.impressions[part],
            own.clicks[part],
        ]
        yield zlib.compress(np.stack(columns).astype("<i8").tobytes(), LEVEL)


def unpack(blocks: Iterable[bytes]) -> StoredEvidence:
    """What `pack` was given, from all its blocks in their order."""
    parts = [
        np.frombuffer(zlib.decompress(block), "<i8").astype(np.int64).reshape(COLUMNS, -1)
        for block in blocks
    ]
    none = np.empty((COLUMNS, 0), np.int64)
    application, query, document, rank, impressions, clicks = np.concatenate([none, *parts], axis=1)
    queries, query = np.unique(query, return_inverse=True)
    documents, document = np.unique(document, return_inverse=True)
    evidence = Evidence(application, query, document, rank, impressions, clicks)
    return StoredEvidence(evidence, queries, documents)
