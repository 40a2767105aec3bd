"""The rows of an answer as they are stored, and a snapshot as the lines of a run file."""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence

from evaluation.live_rankers.mapping import Row

Ranked = Sequence[tuple[str, float | None]]


def pack_rows(rows: Iterable[Row]) -> bytes:
    """zlib of JSON; every score keeps all its bits."""
    return zlib.compress(json.dumps([[row.id, row.score] for row in rows]).encode())


def unpack_rows(packed: bytes) -> Ranked:
    """(document id, score or None) of each row, in the engine's order."""
    return [(doc_id, score) for doc_id, score in json.loads(zlib.decompress(packed))]


def run_lines(rankings: Iterable[tuple[str, Ranked]], *, tag: str) -> Iterator[str]:
    """A TREC run; where there are no scores, with query, document and rank alone.

    rankings: query id and rows. Scores are written with all their digits, so that reading the
    lines gives the same bits.
    """
    for query_id, rows in rankings:
        for rank, (doc_id, score) in enumerate(rows, start=1):
            if score is None:
                yield f"{query_id} {doc_id} {rank}\n"
            else:
                yield f"{query_id} Q0 {doc_id} {rank} {float(score)!r} {tag}\n"
