"""A ranker's DCG from the clicks on other rankers' pages, corrected for where results stood.

Sources: Joachims, Swaminathan & Schnabel 2017, "Unbiased Learning-to-Rank with Biased Feedback";
Oosterhuis & de Rijke 2020, "Policy-Aware Unbiased Learning to Rank for Top-k Rankings".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.counterfactual import LARGEST, effective_sample_size
from touchstone.clicks.evidence import Evidence
from touchstone.statistics.clustered import Estimate, clustered_ratio

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
    """Clicks on a document, and which share of the estimate rests on them.

    exposure: the chance that a page of the query had it examined.
    """

    query: int
    document: int
    clicks: int
    exposure: float
    weight: float
    share: float


@dataclass(frozen=True)
class RankingReport:
    """dcg: a mean over pages, with its interval clustered by query. ess: of the clicks' weights.

    snips: the mean discount of a click, weighted by the inverse of its exposure: 1 where all of
    them are on the ranking's first documents. It needs no scale, and varies less.
    floored: the share of the counted clicks whose exposure is below the floor.
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


@dataclass(frozen=True)
class _Pairs:
    """Each (query, document) that pages showed. query: a place in `queries`.

    shown: (queries,), the pages of each. exposure: the mean over the query's pages of the
    examination of the document's position, 0 where a page did not show it.
    """

    queries: Ints
    shown: Floats
    pair: Ints
    query: Ints
    clicks: Ints
    exposure: Floats


def ranking_report(
    pages: Evidence, examination: Floats, ranking: Ranking, *, k: int, floor: float = 0.0
) -> RankingReport | None:
    """IPS-DCG at k, with 1 / log2(1 + new rank) / max(exposure, floor) for each click.

    pages: of one application, as `Sessions.evidence` counts them.
    examination: (depth,), of the pages' positions, above 0; relative ones give a relative DCG.
    A document's exposure is over all pages of its query, so a document that only some of them
    showed is not taken for unclicked on the others.
    floor: clips the weights, for less variance and some bias.
    None where pages showed nothing of the ranking's first k: no support, no number.
    Raises ValueError where the examination of a position is unknown or not above 0.
    """
    if pages.depth > len(examination) or not (examination[: pages.depth] > 0).all():
        raise ValueError("an examination above 0 for every position")
    top = (ranking.rank <= k) & np.isin(ranking.query, pages.query)
    ranked, rank = (ranking.query[top] << 32) | ranking.document[top], ranking.rank[top]
    order = np.argsort(ranked)
    ranked, rank = ranked[order], rank[order]
    own = _pairs(pages, examination)
    was_shown = np.isin(ranked, own.pair)
    if not was_shown.any():
        return None
    place = np.minimum(np.searchsorted(ranked, own.pair), len(ranked) - 1)
    is_ranked = ranked[place] == own.pair
    weights = 1 / np.maximum(own.exposure, floor)
    weighted = own.clicks * weights
    gains = np.where(is_ranked, weighted / np.log2(1 + rank[place]), 0.0)
    clicked, gained = (
        np.bincount(own.query, weights=values, minlength=len(own.queries)).astype(np.float64)
        for values in (weighted, gains)
    )
    each = np.arange(len(own.queries))
    counts = np.where(is_ranked, own.clicks, 0)
    each_weight = np.repeat(weights, counts)
    total = int(counts.sum())
    return RankingReport(
        pages=int(own.shown.sum()),
        queries=len(own.queries),
        clicks=total,
        dcg=clustered_ratio(gained, own.shown, each),
        snips=clustered_ratio(gained, clicked, each),
        ess=effective_sample_size(each_weight),
        largest_weight=float(each_weight.max(initial=0.0)),
        largest=_largest(own, gains, weights),
        floored=float(counts[own.exposure < floor].sum()) / total if total else 0.0,
        never_shown=float((~was_shown).mean()),
    )


def _pairs(pages: Evidence, examination: Floats) -> _Pairs:
    queries, query = np.unique(pages.query, return_inverse=True)
    first = np.where(pages.rank == 1, pages.impressions, 0)  # each page has one
    shown = np.bincount(query, weights=first, minlength=len(queries)).astype(np.float64)
    pair, row, place = np.unique(pages.pair, return_index=True, return_inverse=True)
    examined = np.bincount(place, weights=pages.impressions * examination[pages.rank - 1])
    return _Pairs(
        queries=queries,
        shown=shown,
        pair=pair,
        query=query[row],
        clicks=np.bincount(place, weights=pages.clicks).astype(np.int64),
        exposure=(examined / shown[query[row]]).astype(np.float64),
    )


def _largest(own: _Pairs, gains: Floats, weights: Floats) -> tuple[Influence, ...]:
    total = float(gains.sum())
    rows = [row for row in np.argsort(-gains, kind="stable")[:LARGEST].tolist() if gains[row]]
    return tuple(
        Influence(
            query=int(own.pair[row] >> 32),
            document=int(own.pair[row] & 0xFFFFFFFF),
            clicks=int(own.clicks[row]),
            exposure=float(own.exposure[row]),
            weight=float(weights[row]),
            share=float(gains[row]) / total,
        )
        for row in rows
    )
