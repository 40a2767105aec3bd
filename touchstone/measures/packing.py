"""How rankings lie in the database: three byte strings a query, little-endian everywhere.

documents: int32 ids in file order. scores: float64 in the same order. order: the positions in
file order, best first, as uint16 where they fit and as uint32 in longer rankings; which of the
two it is follows from the lengths, so nothing else need be stored.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Documents = npt.NDArray[np.int32]
Positions = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

DOCUMENT_BYTES: Final = 4
LONGEST_SHORT_ORDER: Final = 2**16  # the largest position is one less


class Packed(NamedTuple):
    """One ranking as it is stored."""

    documents: bytes
    scores: bytes
    order: bytes


@dataclass(frozen=True, slots=True, eq=False)
class RankedDocuments:
    """Many rankings behind each other, each best first.

    starts: length rankings + 1; ranking i is documents[starts[i]:starts[i + 1]].
    """

    starts: Positions
    documents: Documents

    def __len__(self) -> int:
        return len(self.starts) - 1

    def lengths(self) -> Positions:
        """How many documents each ranking has."""
        return np.diff(self.starts)

    def ranking(self, position: int) -> Documents:
        """The documents of one ranking, best first."""
        return self.documents[self.starts[position] : self.starts[position + 1]]


def pack(documents: Documents, scores: Floats, order: npt.NDArray[np.integer]) -> Packed:
    """The stored form of one ranking.

    documents, scores: in file order. order: a permutation of the positions, best first.
    Raises ValueError where the three do not belong together.
    """
    length = len(documents)
    if len(scores) != length or len(order) != length:
        raise ValueError("a ranking has as many scores and places as documents")
    if not np.array_equal(np.bincount(order, minlength=length), np.ones(length, np.int64)):
        raise ValueError("the order of a ranking is a permutation of its positions")
    return Packed(
        documents.astype("<i4").tobytes(),
        scores.astype("<f8").tobytes(),
        order.astype(_order_type(length)).tobytes(),
    )


def unpack_scores(scores: bytes) -> Floats:
    """The scores of one ranking in file order."""
    return np.frombuffer(scores, "<f8").astype(np.float64)


def unpack_documents(documents: bytes) -> Documents:
    """The documents of one ranking in file order."""
    return np.frombuffer(documents, "<i4").astype(np.int32)


def unpack_order(order: bytes, length: int) -> Positions:
    """The positions in file order, best first, of one ranking with `length` documents.

    Raises ValueError where the bytes are not those of so many positions.
    """
    kind = np.dtype(_order_type(length))
    if len(order) != length * kind.itemsize:
        raise ValueError(f"the order of {length} documents has {len(order)} bytes")
    return np.frombuffer(order, kind).astype(np.int64)


def unpack_ranked(documents: Sequence[bytes], orders: Sequence[bytes]) -> RankedDocuments:
    """Many stored rankings at once, each best first.

    documents, orders: the stored bytes, ranking by ranking.
    Raises ValueError where an order does not fit its documents.
    """
    lengths = np.fromiter(map(len, documents), np.int64, len(documents)) // DOCUMENT_BYTES
    starts = np.zeros(len(documents) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    in_file_order = np.frombuffer(b"".join(documents), "<i4")
    positions = _all_places(orders, lengths)
    positions += np.repeat(starts[:-1], lengths)
    return RankedDocuments(starts, in_file_order[positions].astype(np.int32, copy=False))


def run_digest(rankings: Iterable[tuple[str, Sequence[str], Floats]]) -> str:
    """SHA-256 of what a run says: the same however its file was laid out or compressed.

    rankings: (query id, document ids, scores) of each query, rows in file order; the queries in
    the order of their ids' bytes, so that their order in the file does not matter.
    The digest covers, per query, a line `qid n`, a line of document ids, and the scores' bytes;
    ids hold neither blanks nor line feeds.
    Raises ValueError where queries are in another order, or one comes twice.
    """
    digest = hashlib.sha256()
    before = b""
    for query_id, doc_ids, scores in rankings:
        if before >= (before := query_id.encode()):
            raise ValueError(f"query {query_id!r} is not in the order of the ids")
        lines = f"{query_id} {len(doc_ids)}\n{' '.join(doc_ids)}\n"
        digest.update(lines.encode())
        digest.update(scores.astype("<f8").tobytes())
    return digest.hexdigest()


def _order_type(length: int) -> str:
    return "<u2" if length <= LONGEST_SHORT_ORDER else "<u4"


def _all_places(orders: Sequence[bytes], lengths: Positions) -> Positions:
    """The orders of all rankings behind each other, as positions within each."""
    short = lengths <= LONGEST_SHORT_ORDER
    widths = np.where(short, 2, 4)
    sizes = np.fromiter(map(len, orders), np.int64, len(orders))
    if not np.array_equal(sizes, lengths * widths):
        raise ValueError("an order does not fit its documents")
    if short.all():
        positions = np.frombuffer(b"".join(orders), "<u2").astype(np.int64)
    else:
        parts = (np.frombuffer(o, f"<u{w}") for o, w in zip(orders, widths.tolist(), strict=True))
        positions = np.concatenate([part.astype(np.int64) for part in parts])
    if (positions >= np.repeat(lengths, lengths)).any():
        raise ValueError("an order names a position that its ranking has not")
    return positions
