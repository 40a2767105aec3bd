"""Clicks over expected clicks: how often a document is clicked, for the ranks it was shown at."""

from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray

from touchstone.clicks.evidence import Evidence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Coec:
    """COEC of each (query, document), one entry each, ordered by query, then document.

    query, document: codes. impressions, clicks: at all ranks. shown_ranks: how many ranks it was
    shown at. expected: the clicks that its impressions would get at the ranks' mean click-through
    rates. coec: clicks / expected; NaN without anything expected. It is not bounded: 1 is as
    usual, 20 twenty times that.
    ranks, rank_impressions, rank_clicks: the ranks as logged, and what the rates are of.
    """

    query: Ints
    document: Ints
    impressions: Ints
    clicks: Ints
    shown_ranks: Ints
    expected: Floats
    coec: Floats
    ranks: Ints
    rank_impressions: Ints
    rank_clicks: Ints

    @property
    def total_clicks(self) -> int:
        """All clicks."""
        return int(self.rank_clicks.sum())

    @property
    def total_expected(self) -> int:
        """Exact: the expected clicks of a rank are its clicks, if it has impressions at all."""
        return int(self.rank_clicks[self.rank_impressions > 0].sum())


def coec(evidence: Evidence) -> Coec:
    """Clicks over expected clicks of every pair; applications count together.

    Every term impressions · clicks of the rank / impressions of the rank is rounded once, and
    their sum over a pair's ranks once more.
    Source: Zhang & Jones 2007, "Comparing click logs and editorial labels for training query
    rewriting".
    """
    ranks, position = np.unique(evidence.rank, return_inverse=True)
    impressions = _sums(evidence.impressions, position, len(ranks))
    clicks = _sums(evidence.clicks, position, len(ranks))
    order = np.lexsort((evidence.document, evidence.query))
    query, document = evidence.query[order], evidence.document[order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = (np.diff(query) != 0) | (np.diff(document) != 0)
    starts = np.flatnonzero(is_first)
    pair = np.cumsum(is_first) - 1
    shown, rank = evidence.impressions[order], position[order]
    terms = np.divide(
        shown * clicks[rank],
        impressions[rank],
        out=np.zeros(len(order)),
        where=impressions[rank] > 0,
    )
    expected = _exact_sums(terms, starts)
    own_clicks = _sums(evidence.clicks[order], pair, len(starts))
    return Coec(
        query=query[starts],
        document=document[starts],
        impressions=_sums(shown, pair, len(starts)),
        clicks=own_clicks,
        shown_ranks=_sums((shown > 0).astype(np.int64), pair, len(starts)),
        expected=expected,
        coec=np.divide(own_clicks, expected, out=np.full(len(starts), np.nan), where=expected > 0),
        ranks=ranks,
        rank_impressions=impressions,
        rank_clicks=clicks,
    )


def _sums(values: Ints, group: Ints, groups: int) -> Ints:
    result = np.zeros(groups, dtype=np.int64)
    np.add.at(result, group, values)
    return result


def _exact_sums(terms: Floats, starts: Ints) -> Floats:
    """The sum of each group of terms that follow each other, rounded once."""
    ends = np.append(starts[1:], len(terms))
    result: Floats = terms[starts]
    for group in np.flatnonzero(ends - starts > 1).tolist():
        result[group] = fsum(terms[starts[group] : ends[group]])
    return result
