"""Why one ranking has the value it has: what every rank contributes, the ideal beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from touchstone.measures.binary import Found, divisor, judged_counts
from touchstone.measures.browsing import err_terms, satisfactions, weights
from touchstone.measures.definition import Measure
from touchstone.measures.discounts import FloatArray, divisors
from touchstone.measures.engine import evaluate_batch
from touchstone.measures.formulas import formula, ndcg_formula
from touchstone.measures.grades import Grades
from touchstone.measures.ndcg import Ideals, at_rank, cumulated, discounted, gains, ranked_gains
from touchstone.measures.preference import bpref_terms, inferred_ap_terms
from touchstone.measures.rankings import BoolArray, GradedRankings, averaged
from touchstone.measures.views import kept_ranks, seen, seen_grades


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

    formula: how the value comes about, in words and numbers.
    dcg, ideal_dcg: None for measures other than nDCG.
    """

    measure: Measure
    value: float
    counted: bool
    ranks: tuple[Rank, ...]
    formula: str
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
        ranks = _shares(measure, documents, view, own_grades)
        told = formula(measure, view, own_grades, [rank.contribution for rank in ranks])
        return Explanation(measure, value, counted, ranks, told)
    ranks, dcg, ideal_dcg = _gained(measure, documents, view, own_grades)
    told = ndcg_formula(measure, view, dcg, ideal_dcg)
    return Explanation(measure, value, counted, ranks, told, dcg, ideal_dcg)


def value_of(
    rankings_in: Callable[[tuple[str, str]], GradedRankings], grades: Grades
) -> Callable[[Measure], float]:
    """A function that gives the value of any definition for one ranking, in the mean or not.

    rankings_in: that one ranking, whole, in the order of a rule (`Measure.ordering`).
    """
    by_ordering: dict[tuple[str, str], GradedRankings] = {}

    def value(measure: Measure) -> float:
        if measure.ordering not in by_ordering:
            by_ordering[measure.ordering] = rankings_in(measure.ordering)
        counted = replace(measure, queries="all", average="macro")
        result = evaluate_batch([counted], by_ordering[measure.ordering], grades)
        return float(result.values[0, 0])

    return value


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
            rank=position + 1,
            document=documents[position] if position < len(documents) else None,
            contribution=contribution,
            gain=gain,
            discount=discount,
            ideal_gain=ideal_gain,
            ideal_contribution=ideal_contribution,
        )
        for position, (gain, contribution, ideal_gain, ideal_contribution, discount) in enumerate(
            zip(*padded, strict=True)
        )
    )
    dcg = float(at_rank(cumulated(own, measure), measure.cutoff)[0])
    return ranks, dcg, float(ideals.dcg(measure).by_row[0])


def _shares(
    measure: Measure,
    documents: Sequence[RankedDocument],
    view: GradedRankings,
    grades: Grades,
) -> tuple[Rank, ...]:
    """What each rank adds to a measure other than nDCG, what is behind the end included."""
    contributions = _contributions(measure, view, grades)[0].tolist()[: measure.cutoff]
    ranks = [
        Rank(position + 1, document, contribution)
        for position, (document, contribution) in enumerate(
            zip(documents, contributions[: len(documents)], strict=True)
        )
    ]
    if measure.family == "RBPResidual":
        ranks.append(Rank(len(documents) + 1, None, measure.p ** len(documents)))
    return tuple(ranks)


def _contributions(measure: Measure, view: GradedRankings, grades: Grades) -> FloatArray:
    """What every rank adds, (1, width), for any cutoff."""
    threshold = max(grades.at_least(measure.rel), 1)
    width = view.levels.shape[1]
    if measure.family in ("Judged", "Unjudged"):
        _, every = judged_counts(measure, view)
        judged = _weights(view.levels > 0, view)
        own = judged if measure.family == "Judged" else 1.0 - judged
        return np.asarray(own / max(1, int(every[0])), np.float64)
    if measure.family in ("Bpref", "infAP"):
        terms = bpref_terms if measure.family == "Bpref" else inferred_ap_terms
        all_relevant = int(view.judged[0, threshold - 1 :].sum())
        return np.asarray(terms(threshold, grades, view) / max(1, all_relevant), np.float64)
    if measure.family == "ERR":
        return err_terms(satisfactions(measure, grades), view, width)
    if measure.family == "NumRet":
        return np.ones((1, width))
    if measure.family in ("RBP", "RBPResidual"):
        counts = view.levels >= threshold if measure.family == "RBP" else view.levels == 0
        return np.where(counts, weights(measure.p, width), 0.0)
    return _of_relevant(measure, view, threshold)


def _of_relevant(measure: Measure, view: GradedRankings, threshold: int) -> FloatArray:
    """What ranks add to the measures that count relevant documents."""
    width = view.levels.shape[1]
    result = Found(view, threshold, width)
    ranks = np.arange(1, width + 1)
    first = result.relevant & (result.hits == 1)
    if measure.family == "Hit":
        return np.asarray(first, np.float64)
    if measure.family == "RR":
        return np.where(first, 1.0 / ranks, 0.0)
    by = float(divisor(measure, result)[0])
    if measure.family == "SetF":
        by = (float(result.all_relevant[0]) + float(view.lengths[0])) / 2
    own = np.divide(_weights(result.relevant, view), max(1.0, by))
    if measure.family == "Rprec":
        return np.where(ranks <= int(result.all_relevant[0]), own, 0.0)
    return own * result.precision_at_ranks if measure.family == "AP" else own


def _weights(result: BoolArray, view: GradedRankings) -> FloatArray:
    return result.astype(np.float64) if view.ties is None else averaged(result, view.ties)
