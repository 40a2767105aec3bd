"""A ranker's DCG from the clicks on other rankers' pages, corrected for where results stood.

Source: Joachims, Swaminathan & Schnabel 2017, "Unbiased Learning-to-Rank with Biased Feedback".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.counterfactual import Estimate, clustered_mean, effective_sample_size
from touchstone.clicks.sessions import Sessions

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
class RankingReport:
    """dcg: a mean over pages, with its interval clustered by query. ess: of the clicks' weights.

    floored: the share of the counted clicks whose examination is below the floor.
    never_shown: the share of the ranking's first k, over queries with pages, that no page of the
    query showed. Nothing is known of those: the estimate takes them for never clicked.
    """

    pages: int
    clicks: int
    dcg: Estimate
    ess: float
    largest_weight: float
    floored: float
    never_shown: float


def ranking_report(
    sessions: Sessions, examination: Floats, ranking: Ranking, *, k: int, floor: float = 0.0
) -> RankingReport | None:
    """IPS-DCG at k, with 1 / log2(1 + new rank) / max(examination, floor) for each click.

    examination: (depth,), of the sessions' positions, above 0; relative ones give a relative DCG.
    floor: clips the weights, for less variance and some bias.
    None where pages showed nothing of the ranking's first k: no support, no number.
    Raises ValueError where the examination of a position is unknown or not above 0.
    """
    if sessions.depth > len(examination) or not (examination[: sessions.depth] > 0).all():
        raise ValueError("an examination above 0 for every position")
    top = (ranking.rank <= k) & np.isin(ranking.query, sessions.query)
    pairs, rank = (ranking.query[top] << 32) | ranking.document[top], ranking.rank[top]
    order = np.argsort(pairs)
    pairs, rank = pairs[order], rank[order]
    was_shown = np.isin(pairs, sessions.pair)
    if not was_shown.any():
        return None
    position = np.minimum(np.searchsorted(pairs, sessions.pair), len(pairs) - 1)
    counts = sessions.click & (pairs[position] == sessions.pair)
    seen = examination[sessions.position[counts] - 1]
    weights = 1 / np.maximum(seen, floor)
    gains = weights / np.log2(1 + rank[position[counts]])
    values = np.zeros(len(sessions))
    np.add.at(values, sessions.session[counts], gains)
    starts = np.cumsum(sessions.lengths) - sessions.lengths
    _, cluster = np.unique(sessions.query[starts], return_inverse=True)
    return RankingReport(
        pages=len(sessions),
        clicks=int(counts.sum()),
        dcg=clustered_mean(values, cluster),
        ess=effective_sample_size(weights),
        largest_weight=float(weights.max(initial=0.0)),
        floored=float((seen < floor).mean()) if len(seen) else 0.0,
        never_shown=float((~was_shown).mean()),
    )
