"""A ranker's DCG from the clicks on other rankers' pages, corrected for where results stood.

Source: Joachims, Swaminathan & Schnabel 2017, "Unbiased Learning-to-Rank with Biased Feedback".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.counterfactual import (
    LARGEST,
    Estimate,
    clustered_ratio,
    effective_sample_size,
)
from touchstone.clicks.evidence import Evidence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Ranking:
    """What a ranker would show, one entry each: query and document as in the sessions, rank from 1.

    No query has a document twice.
    """

    query: Ints
    document: Ints
    rank: Ints


@dataclass(frozen=True)
class Influence:
    """Clicks on a document at one position, and which share of the estimate rests on them."""

    query: int
    document: int
    position: int
    clicks: int
    weight: float
    share: float


@dataclass(frozen=True)
class RankingReport:
    """dcg: a mean over pages, with its interval clustered by query. ess: of the clicks' weights.

    snips: the mean discount of a click, weighted by the inverse of its examination: 1 where all
    of them are on the ranking's first documents. It needs no scale, and varies less.
    floored: the share of the counted clicks whose examination is below the floor.
    largest: what most of dcg rests on, the largest shares first.
    never_shown: the share of the ranking's first k, over queries with pages, that no page of the
    query showed. Nothing is known of those: the estimate takes them for never clicked.
    """

    pages: int
    queries: int
    clicks: int
    dcg: Estimate
    snips: Estimate
    ess: float
    largest_weight: float
    largest: tuple[Influence, ...]
    floored: float
    never_shown: float


def ranking_report(
    pages: Evidence, examination: Floats, ranking: Ranking, *, k: int, floor: float = 0.0
) -> RankingReport | None:
    """IPS-DCG at k, with 1 / log2(1 + new rank) / max(examination, floor) for each click.

    pages: of one application, as `Sessions.evidence` counts them.
    examination: (depth,), of the pages' positions, above 0; relative ones give a relative DCG.
    floor: clips the weights, for less variance and some bias.
    None where pages showed nothing of the ranking's first k: no support, no number.
    Raises ValueError where the examination of a position is unknown or not above 0.
    """
    if pages.depth > len(examination) or not (examination[: pages.depth] > 0).all():
        raise ValueError("an examination above 0 for every position")
    top = (ranking.rank <= k) & np.isin(ranking.query, pages.query)
    pairs, rank = (ranking.query[top] << 32) | ranking.document[top], ranking.rank[top]
    order = np.argsort(pairs)
    pairs, rank = pairs[order], rank[order]
    was_shown = np.isin(pairs, pages.pair)
    if not was_shown.any():
        return None
    place = np.minimum(np.searchsorted(pairs, pages.pair), len(pairs) - 1)
    is_ranked = pairs[place] == pages.pair
    seen = examination[pages.rank - 1]
    weights = pages.clicks / np.maximum(seen, floor)
    gains = np.where(is_ranked, weights / np.log2(1 + rank[place]), 0.0)
    names, query = np.unique(pages.query, return_inverse=True)
    shown, clicked, gained = (
        np.bincount(query, weights=values, minlength=len(names)).astype(np.float64)
        for values in (np.where(pages.rank == 1, pages.impressions, 0), weights, gains)
    )
    each = np.arange(len(names))
    counts = np.where(is_ranked, pages.clicks, 0)
    own = np.repeat(1 / np.maximum(seen, floor), counts)
    return RankingReport(
        pages=int(shown.sum()),
        queries=len(names),
        clicks=int(counts.sum()),
        dcg=clustered_ratio(gained, shown, each),
        snips=clustered_ratio(gained, clicked, each),
        ess=effective_sample_size(own),
        largest_weight=float(own.max(initial=0.0)),
        largest=_largest(pages, gains, seen, floor),
        floored=float((np.repeat(seen, counts) < floor).mean()) if len(own) else 0.0,
        never_shown=float((~was_shown).mean()),
    )


def _largest(pages: Evidence, gains: Floats, seen: Floats, floor: float) -> tuple[Influence, ...]:
    total = float(gains.sum())
    rows = [row for row in np.argsort(-gains, kind="stable")[:LARGEST].tolist() if gains[row]]
    return tuple(
        Influence(
            query=int(pages.query[row]),
            document=int(pages.document[row]),
            position=int(pages.rank[row]),
            clicks=int(pages.clicks[row]),
            weight=float(1 / max(seen[row], floor)),
            share=float(gains[row]) / total,
        )
        for row in rows
    )
