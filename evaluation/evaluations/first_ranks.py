"""Only the first ranks of rankings: what a measure with a cutoff reads of them."""

from collections.abc import Sequence

import numpy as np

from evaluation.evaluations.sums import RunSize, chunks
from evaluation.models import Run
from evaluation.rankings.queries import load_rankings
from touchstone.measures.packing import RankedDocuments
from touchstone.measures.scoring import Ids, StoredRankings, ranges


def load_first_ranks(*, runs: Sequence[Run], query_ids: Ids, depth: int | None) -> StoredRankings:
    """The rankings of the runs for the queries, as far as the depth; None: all of them.

    They are read in portions, so that however long rankings are, only their first ranks lie in
    memory together.
    """
    run_ids = [run.pk for run in runs]
    sizes = [RunSize(run.pk, run.row_count, run.query_count) for run in runs]
    parts, first = [], 0
    for chunk in chunks(query_ids, sizes):
        part = load_rankings(run_ids=run_ids, query_ids=chunk.tolist())
        part = part if depth is None else _cut(part, depth)
        parts.append(StoredRankings(part.run_rows, part.query_rows + first, part.ranked))
        first += len(chunk)
    return _joined(parts)


def _cut(rankings: StoredRankings, depth: int) -> StoredRankings:
    lengths = np.minimum(rankings.ranked.lengths(), depth)
    documents = rankings.ranked.documents[ranges(rankings.ranked.starts[:-1], lengths)]
    return StoredRankings(
        rankings.run_rows, rankings.query_rows, RankedDocuments(_starts(lengths), documents)
    )


def _joined(parts: Sequence[StoredRankings]) -> StoredRankings:
    if len(parts) == 1:
        return parts[0]
    nothing = np.zeros(0, np.int64)
    lengths = np.concatenate([nothing, *(part.ranked.lengths() for part in parts)])
    documents = [np.zeros(0, np.int32), *(part.ranked.documents for part in parts)]
    return StoredRankings(
        np.concatenate([nothing, *(part.run_rows for part in parts)]),
        np.concatenate([nothing, *(part.query_rows for part in parts)]),
        RankedDocuments(_starts(lengths), np.concatenate(documents)),
    )


def _starts(lengths: Ids) -> Ids:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
