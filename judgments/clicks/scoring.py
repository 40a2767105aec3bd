"""Scores of a log's pairs, beside people's grades of the same pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from judgments.clicks.applications import StoredApplication
from judgments.clicks.packing import Ints, StoredEvidence
from touchstone.clicks.people import (
    BinnedAgreement,
    Preferences,
    binned_agreement,
    preference_auc,
    rank_correlation,
)
from touchstone.clicks.scores import (
    Floats,
    PairScores,
    coec_scores,
    ctr_scores,
    examined_scores,
)
from touchstone.statistics.clustered import Estimate

EXAMINED: Final = "examined"
COEC: Final = "coec"
CTR: Final = "ctr"
SCORES: Final = {
    EXAMINED: "Clicks over examined impressions",
    COEC: "COEC",
    CTR: "CTR (naive)",
}
ALL_PAIRS: Final = "all_pairs"
FEWEST_IMPRESSIONS: Final = 10
FEWEST_QUERIES: Final = 10
SEED: Final = 0

Grades = Mapping[tuple[int, int], int]  # places on the scale, by (query, document)


@dataclass(frozen=True)
class Scored:
    """Pairs of the collection with their scores. query, document: primary keys."""

    query: Ints
    document: Ints
    impressions: Ints
    clicks: Ints
    score: Floats
    low: Floats
    high: Floats

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True)
class Agreement:
    """How scores agree with people's grades. pairs, queries: that have both."""

    pairs: int
    queries: int
    auc: Preferences | None
    tau: tuple[Estimate, int] | None
    binned: BinnedAgreement | None


def main_application(applications: Sequence[StoredApplication]) -> int:
    """The code of the application that has most result pages."""
    return max(range(len(applications)), key=lambda code: applications[code].pages)


def known_examination(
    application: StoredApplication, known: Sequence[float] | None
) -> list[float | None]:
    """Of each position: what is known, or else what AllPairs estimates; None where it refuses."""
    if known is not None:
        return list(known)
    return [point.examination for point in application.curves.get(ALL_PAIRS, ())]


def scored(
    kind: str, stored: StoredEvidence, examination: Sequence[float | None], *, fewest: int
) -> Scored:
    """The scores of a kind, of pairs that the collection has.

    stored: of one application: its result pages for EXAMINED, its events for the others.
    fewest: impressions that a pair needs.
    """
    own = stored.evidence
    if kind == EXAMINED:
        result = examined_scores(own, examination)
    else:
        result = coec_scores(own) if kind == COEC else ctr_scores(own)
    return _known(stored, result, fewest)


def _known(stored: StoredEvidence, found: PairScores, fewest: int) -> Scored:
    query, document = stored.queries[found.query], stored.documents[found.document]
    keep = (query > 0) & (document > 0) & (found.impressions >= fewest)
    return Scored(
        query[keep],
        document[keep],
        found.impressions[keep],
        found.clicks[keep],
        found.score[keep],
        found.low[keep],
        found.high[keep],
    )


def agreement(
    found: Scored, grades: Grades, values: Sequence[float], *, bins: bool = True
) -> Agreement:
    """How scores agree with people.

    values: of the scale, ascending. bins: also learn grades from half of the queries, and judge
    them on the other.
    """
    pairs = zip(found.query.tolist(), found.document.tolist(), strict=True)
    places = np.array([grades.get(pair, -1) for pair in pairs], dtype=np.int64)
    both = places >= 0
    query, score, step = found.query[both], found.score[both], places[both]
    own = np.asarray(values, np.float64)[step]
    return Agreement(
        pairs=len(step),
        queries=len(np.unique(query)),
        auc=preference_auc(query, score, own) if len(step) else None,
        tau=rank_correlation(query, score, own) if len(step) else None,
        binned=binned_agreement(query, score, step, values, seed=SEED)
        if bins and len(step)
        else None,
    )
