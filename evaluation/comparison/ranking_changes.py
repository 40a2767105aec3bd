"""How the rankings changed between two runs, regardless of their values."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from evaluation.evaluations.query_values import KEPT
from evaluation.models import Run
from evaluation.rankings.queries import load_rankings
from judgments.storage.caches import get_or_compute
from touchstone.measures.scoring import Ids, ranges
from touchstone.statistics.ranks import overlaps, rank_biased_overlaps

LOOKED_AT: Final = 100  # ranks; with p = 0.9 the rest weighs less than 0.003 of a per cent
QUERIES_AT_ONCE: Final = 500


@dataclass(frozen=True)
class RankingChanges:
    """Changes in the first `k` ranks of `queries` queries.

    same_top, same_set: number of queries with the same documents in the same order, and in any
    order. overlap: mean share of common documents. rbo: mean rank-biased overlap (p = 0.9, 100
    ranks).
    """

    k: int
    queries: int
    same_top: int
    same_set: int
    overlap: float
    rbo: float


def get_ranking_changes(
    *, first: Run, second: Run, query_ids: Sequence[int], k: int
) -> RankingChanges | None:
    """How the rankings of these queries differ; None without a query. Kept in the cache."""
    if not query_ids:
        return None
    asked = hashlib.sha256(repr((sorted(query_ids), k)).encode()).hexdigest()
    name = f"changes:1:{first.public_id}:{second.public_id}:{asked}"
    return get_or_compute(
        name, RankingChanges, KEPT, lambda: _compute(first, second, list(query_ids), k)
    )


def list_changed(*, first: Run, second: Run, query_ids: Sequence[int], k: int) -> list[int]:
    """Those of the queries whose first k differ between two runs. Kept in the cache."""
    asked = hashlib.sha256(repr((sorted(query_ids), k)).encode()).hexdigest()
    name = f"changed:1:{first.public_id}:{second.public_id}:{asked}"
    return get_or_compute(name, list[int], KEPT, lambda: _changed(first, second, query_ids, k))


def list_tops(
    *, first: Run, second: Run, query_ids: list[int]
) -> list[tuple[list[int], list[int]]]:
    """Both runs' first documents of each query; none where a run has no answer."""
    return [
        (one[one >= 0].tolist(), other[other >= 0].tolist())
        for one, other in _tops(first, second, query_ids).transpose(1, 0, 2)
    ]


def _changed(first: Run, second: Run, query_ids: Sequence[int], k: int) -> list[int]:
    result: list[int] = []
    for own, tops in _portions(first, second, query_ids):
        differ = (tops[0][:, :k] != tops[1][:, :k]).any(axis=1)
        result += [own[place] for place in np.flatnonzero(differ).tolist()]
    return result


def _compute(first: Run, second: Run, query_ids: Sequence[int], k: int) -> RankingChanges:
    same_top = same_set = 0
    shares = rbos = 0.0
    k = min(k, LOOKED_AT)
    for _, (one, other) in _portions(first, second, query_ids):
        same_top += int((one[:, :k] == other[:, :k]).all(axis=1).sum())
        shared = overlaps(one, other, k=k)
        same_set += int((shared == 1).sum())
        shares += float(shared.sum())
        rbos += float(rank_biased_overlaps(one, other).sum())
    n = len(query_ids)
    return RankingChanges(k, n, same_top, same_set, shares / n, rbos / n)


def _portions(
    first: Run, second: Run, query_ids: Sequence[int]
) -> Iterator[tuple[Sequence[int], Ids]]:
    for start in range(0, len(query_ids), QUERIES_AT_ONCE):
        own = query_ids[start : start + QUERIES_AT_ONCE]
        yield own, _tops(first, second, own)


def _tops(first: Run, second: Run, query_ids: Sequence[int]) -> Ids:
    """Both runs' first documents of each query, (2, n_queries, depth); −1 behind the last."""
    loaded = load_rankings(run_ids=[first.pk, second.pk], query_ids=query_ids)
    lengths = np.minimum(loaded.ranked.lengths(), LOOKED_AT)
    tops = np.full((2, len(query_ids), max(1, int(lengths.max(initial=0)))), -1, np.int64)
    places = ranges(np.zeros_like(lengths), lengths)
    documents = loaded.ranked.documents[ranges(loaded.ranked.starts[:-1], lengths)]
    runs, queries = np.repeat(loaded.run_rows, lengths), np.repeat(loaded.query_rows, lengths)
    tops[runs, queries, places] = documents
    return tops
