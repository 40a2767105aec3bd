"""Why one ranking has the value it has: what every rank contributes, the ideal beside it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.measures.definition import Measure
from evaluation.measures.discounts import divisors
from evaluation.measures.engine import evaluate_batch
from evaluation.measures.grades import Grades
from evaluation.measures.ndcg import Ideals, at_rank, cumulated, discounted, gains, ranked_gains
from evaluation.measures.rankings import GradedRankings, averaged
from evaluation.measures.views import kept_ranks, seen, seen_grades


@dataclass(frozen=True)
class RankedDocument:
    """A document that was returned. grade: its value; None where it is not judged."""

    doc_id: str
    grade: float | None


@dataclass(frozen=True)
class Rank:
    """One rank. document: None behind the end of the ranking.

    contribution: what the rank adds: to DCG (the gain divided by the discount), or, for measures
    other than nDCG, to the value. The columns about gains are None for those.
    """

    rank: int
    document: RankedDocument | None
    contribution: float
    gain: float | None = None
    discount: float | None = None
    ideal_gain: float | None = None
    ideal_contribution: float | None = None


@dataclass(frozen=True)
class Explanation:
    """One measure of one query. counted: whether the query is in the mean.

    dcg, ideal_dcg: None for measures other than nDCG.
    """

    measure: Measure
    value: float
    counted: bool
    ranks: tuple[Rank, ...]
    dcg: float | None = None
    ideal_dcg: float | None = None


def explain(
    measure: Measure, doc_ids: Sequence[str], rankings: GradedRankings, grades: Grades
) -> Explanation:
    """Takes one measure of one query apart.

    doc_ids: the returned documents in rank order. rankings: that one ranking, uncut.
    Raises what `evaluate_batch` raises.
    """
    if len(rankings) != 1 or rankings.levels.shape[1] != len(doc_ids):
        raise ValueError("one whole ranking is explained at a time")
    values = evaluate_batch([measure], rankings, grades)
    view, own_grades = seen(measure, rankings, grades), seen_grades(measure, grades)
    kept = kept_ranks(measure, rankings, grades)[0]
    judged = rankings.levels[0][kept] > 0
    shown = [doc_id for doc_id, keep in zip(doc_ids, kept.tolist(), strict=True) if keep]
    documents = _documents(measure, shown, judged.tolist(), view, own_grades)
    value, counted = float(values.values[0, 0]), bool(values.counted[0, 0])
    if measure.family != "nDCG":
        return Explanation(measure, value, counted, _shares(measure, documents, view, own_grades))
    return Explanation(measure, value, counted, *_gained(measure, documents, view, own_grades))


def _documents(
    measure: Measure,
    shown: Sequence[str],
    judged: Sequence[bool],
    view: GradedRankings,
    grades: Grades,
) -> list[RankedDocument]:
    """The documents that the measure sees, in order, as far as its cutoff."""
    levels = view.levels[0, : len(shown)].tolist()
    return [
        RankedDocument(doc_id, grades.values[level - 1] if known and level else None)
        for doc_id, known, level in zip(shown, judged, levels, strict=True)
    ][: measure.cutoff]


def _gained(
    measure: Measure, documents: Sequence[RankedDocument], view: GradedRankings, grades: Grades
) -> tuple[tuple[Rank, ...], float, float]:
    """The ranks of the ranking and its ideal, the DCG, and the ideal DCG."""
    level_gains = gains(measure, grades)
    own = ranked_gains(level_gains, view, len(documents))
    ideals = Ideals([measure], level_gains, view)
    ideal = ideals.rows(measure)
    if measure.ideal_depth == "returned":
        ideal = ideal[:, : int(view.lengths[0])]
    ideal = ideal[:, : int(np.flatnonzero(ideal[0]).max(initial=-1)) + 1]
    depth = max(len(documents), ideal.shape[1])
    columns = (
        own,
        discounted(own, measure),
        ideal,
        discounted(ideal, measure),
        divisors(measure, depth)[None, :],
    )
    # Behind the end of the ranking, or of the ideal, nothing is gained.
    padded = [np.pad(row[0], (0, depth - row.shape[1])).tolist() for row in columns]
    ranks = tuple(
        Rank(
            rank=place + 1,
            document=documents[place] if place < len(documents) else None,
            contribution=contribution,
            gain=gain,
            discount=discount,
            ideal_gain=ideal_gain,
            ideal_contribution=ideal_contribution,
        )
        for place, (gain, contribution, ideal_gain, ideal_contribution, discount) in enumerate(
            zip(*padded, strict=True)
        )
    )
    dcg = float(at_rank(cumulated(own, measure), measure.cutoff)[0])
    return ranks, dcg, float(ideals.dcg(measure)[0])


def _shares(
    measure: Measure,
    documents: Sequence[RankedDocument],
    view: GradedRankings,
    grades: Grades,
) -> tuple[Rank, ...]:
    """What each rank adds to a measure that counts relevant or judged documents."""
    threshold = 1 if measure.family == "Judged" else max(grades.at_least(measure.rel), 1)
    found = view.levels >= threshold
    weights = found if view.ties is None else averaged(found, view.ties)
    hits = weights[0, : len(documents)].astype(np.float64)
    all_relevant = int(view.judged[0, threshold - 1 :].sum())
    so_far = np.cumsum(hits).tolist()
    return tuple(
        Rank(
            place + 1,
            document,
            hit and hit * _share(measure, place + 1, so_far[place], all_relevant, len(documents)),
        )
        for place, (document, hit) in enumerate(zip(documents, hits.tolist(), strict=True))
    )


def _share(measure: Measure, rank: int, hits: float, all_relevant: int, shown: int) -> float:
    """What a hit at this rank, the `hits`-th, adds."""
    share = {
        "P": 1 / (measure.cutoff or shown),
        "R": 1 / max(all_relevant, 1),
        "AP": hits / rank / max(all_relevant, 1),
        "Judged": 1 / shown,
    }
    if measure.family == "Hit":
        return float(hits == 1)
    if measure.family == "RR":
        return 1 / rank if hits == 1 else 0.0
    return share[measure.family]
