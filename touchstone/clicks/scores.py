"""What clicks say of each (query, document), with a posterior and how much stands behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaincinv

from touchstone.clicks.coec import coec
from touchstone.clicks.evidence import Evidence

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TAIL: Final = 0.025


@dataclass(frozen=True)
class PairScores:
    """One entry each (query, document), by query, then document; codes as in the evidence.

    impressions, clicks: what the score rests on. score: the posterior's mean; low, high: its
    central 95 %.
    """

    query: Ints
    document: Ints
    impressions: Ints
    clicks: Ints
    score: Floats
    low: Floats
    high: Floats


def ctr_scores(evidence: Evidence) -> PairScores:
    """The click-through rate, whatever the rank: Beta(1 + clicks, 1 + other impressions).

    Clicks without an impression are left out: a rate above 1 has no meaning.
    """
    query, document, impressions, clicks, _ = _by_pair(evidence, np.ones(len(evidence)))
    first, second = 1.0 + clicks, 1.0 + impressions - clicks
    return PairScores(
        query,
        document,
        impressions,
        clicks,
        first / (first + second),
        betaincinv(first, second, TAIL),
        betaincinv(first, second, 1 - TAIL),
    )


def coec_scores(evidence: Evidence) -> PairScores:
    """Clicks over expected clicks, drawn towards 1: Gamma(1 + clicks, 1 + expected).

    Clicks as a Poisson variable of the expected ones times a factor of mean 1 before any click.
    """
    found = coec(evidence)
    return PairScores(
        found.query,
        found.document,
        found.impressions,
        found.clicks,
        *_gamma(found.clicks, 1.0 + found.expected),
    )


def examined_scores(evidence: Evidence, examination: Sequence[float | None]) -> PairScores:
    """Clicks over examined impressions: Gamma(1 + clicks, 2 + Σ impressions · examination).

    evidence: of result pages, as `Sessions.evidence` counts them. examination: of each position,
    relative to the first; positions where it is None, or that it lacks, are left out.
    """
    known = np.full(max(evidence.depth, len(examination)) + 1, np.nan)
    known[1 : len(examination) + 1] = [np.nan if one is None else one for one in examination]
    own = evidence.select(~np.isnan(known[evidence.rank]))
    query, document, impressions, clicks, examined = _by_pair(own, known[own.rank])
    return PairScores(query, document, impressions, clicks, *_gamma(clicks, 2.0 + examined))


def _gamma(clicks: Ints, rate: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean and central 95 % of Gamma(1 + clicks, rate)."""
    shape = 1.0 + clicks.astype(np.float64)
    return (
        shape / rate,
        gammaincinv(shape, TAIL) / rate,
        gammaincinv(shape, 1 - TAIL) / rate,
    )


def _by_pair(evidence: Evidence, weights: Floats) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Query, document, impressions, clicks and weighted impressions, where anything was shown."""
    own = evidence.select(evidence.impressions > 0)
    weights = weights[evidence.impressions > 0]
    pairs, place = np.unique(own.pair, return_inverse=True)
    impressions, clicks, weighted = (
        np.bincount(place, weights=values, minlength=len(pairs))
        for values in (
            own.impressions,
            np.minimum(own.clicks, own.impressions),
            own.impressions * weights,
        )
    )
    return (
        pairs >> 32,
        pairs & 0xFFFFFFFF,
        impressions.astype(np.int64),
        clicks.astype(np.int64),
        weighted.astype(np.float64),
    )
