"""What became of the rankings themselves between two runs, whatever they are worth."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.core.cache import cache

from evaluation.models import Run
from evaluation.selectors.query_values import KEPT
from evaluation.selectors.rankings import load_rankings
from evaluation.statistics.ranks import overlap, rank_biased_overlap

LOOKED_AT: Final = 100  # ranks; with p = 0.9 the rest weighs less than 0.003 of a per cent
QUERIES_AT_ONCE: Final = 500


@dataclass(frozen=True)
class RankingChanges:
    """Two runs, document by document.

    k: how far down is looked. queries: that were looked at. same_top: queries whose first k are
    the same documents in the same order; same_set: the same documents in any order. overlap: the
    mean share of the first k in common. rbo: the mean rank-biased overlap (p = 0.9, 100 ranks).
    """

    k: int
    queries: int
    same_top: int
    same_set: int
    overlap: float
    rbo: float

    @property
    def same_words(self) -> str:
        return f"Same first {self.k}"

    @property
    def set_words(self) -> str:
        return f"Same documents in the first {self.k}"

    @property
    def of_words(self) -> str:
        return f"of {self.queries:,} queries"

    @property
    def overlap_words(self) -> str:
        return f"Overlap of the first {self.k}"

    @property
    def overlap_shown(self) -> str:
        return f"{self.overlap:.1%}"

    @property
    def rbo_shown(self) -> str:
        return f"{self.rbo:.3f}"


def get_ranking_changes(
    *, first: Run, second: Run, query_ids: Sequence[int], k: int
) -> RankingChanges | None:
    """How the rankings of these queries differ; None without a query. Kept in the cache."""
    if not query_ids:
        return None
    asked = hashlib.sha256(repr((sorted(query_ids), k)).encode()).hexdigest()
    name = f"changes:1:{first.public_id}:{second.public_id}:{asked}"
    kept: RankingChanges | None = cache.get(name)
    if kept is None:
        kept = _compute(first, second, list(query_ids), k)
        cache.set(name, kept, KEPT)
    return kept


def list_changed(*, first: Run, second: Run, query_ids: Sequence[int], k: int) -> list[int]:
    """Those of the queries whose first k differ between two runs. Kept in the cache."""
    asked = hashlib.sha256(repr((sorted(query_ids), k)).encode()).hexdigest()
    name = f"changed:1:{first.public_id}:{second.public_id}:{asked}"
    kept: list[int] | None = cache.get(name)
    if kept is None:
        kept = []
        for start in range(0, len(query_ids), QUERIES_AT_ONCE):
            own = list(query_ids[start : start + QUERIES_AT_ONCE])
            tops = list_tops(first=first, second=second, query_ids=own)
            pairs = zip(own, tops, strict=True)
            kept += [query_id for query_id, (one, other) in pairs if one[:k] != other[:k]]
        cache.set(name, kept, KEPT)
    return kept


def _compute(first: Run, second: Run, query_ids: list[int], k: int) -> RankingChanges:
    same_top = same_set = 0
    overlaps = rbos = 0.0
    for start in range(0, len(query_ids), QUERIES_AT_ONCE):
        own = query_ids[start : start + QUERIES_AT_ONCE]
        for one, other in list_tops(first=first, second=second, query_ids=own):
            same_top += one[:k] == other[:k]
            shared = overlap(one, other, k=k)
            same_set += shared == 1
            overlaps += shared
            rbos += rank_biased_overlap(one, other)
    n = len(query_ids)
    return RankingChanges(k, n, same_top, same_set, overlaps / n, rbos / n)


def list_tops(
    *, first: Run, second: Run, query_ids: list[int]
) -> list[tuple[list[int], list[int]]]:
    """Both runs' first documents of each query; none where a run has no answer."""
    loaded = load_rankings(run_ids=[first.pk, second.pk], query_ids=query_ids)
    tops: list[tuple[list[int], list[int]]] = [([], []) for _ in query_ids]
    for place, (run, query) in enumerate(
        zip(loaded.run_rows.tolist(), loaded.query_rows.tolist(), strict=True)
    ):
        tops[query][run].extend(loaded.ranked.ranking(place)[:LOOKED_AT].tolist())
    return tops
