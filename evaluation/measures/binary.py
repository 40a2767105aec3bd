"""Measures that ask of a document only whether it is relevant, or only whether it is judged.

Sources: Buckley & Voorhees 2005 (the definitions of trec_eval); P divides by k even where fewer
documents are shown, R and AP by all relevant documents of the query.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evaluation.measures.definition import Measure
from evaluation.measures.discounts import FloatArray
from evaluation.measures.ndcg import at_rank, reach
from evaluation.measures.rankings import BoolArray, GradedRankings, IntArray, averaged

NumberArray = npt.NDArray[np.number]


def binary(measures: Sequence[Measure], threshold: int, rankings: GradedRankings) -> FloatArray:
    """The values, (n, n_measures), of P, R, Hit, RR and AP with one threshold.

    threshold: the lowest level that counts as relevant.
    rankings: already condensed where the measures say so.
    """
    width = reach(measures, rankings)
    relevant = rankings.levels[:, :width] >= max(threshold, 1)
    hits = _summed(rankings.levels >= max(threshold, 1), rankings, width)
    all_relevant = rankings.judged[:, max(threshold, 1) - 1 :].sum(axis=1)
    families = {measure.family for measure in measures}
    precision = _summed_precision(relevant, hits) if "AP" in families else None
    reciprocal = _reciprocal_ranks(relevant) if "RR" in families else None
    out = np.empty((len(rankings), len(measures)))
    for column, measure in enumerate(measures):
        if measure.family == "AP" and precision is not None:
            value = _shares(at_rank(precision, measure.cutoff), all_relevant)
        elif measure.family == "RR" and reciprocal is not None:
            value = _within(reciprocal, measure.cutoff)
        else:
            value = _counted_hits(measure, at_rank(hits, measure.cutoff), all_relevant)
        out[:, column] = value
    return out


def judged_share(measures: Sequence[Measure], rankings: GradedRankings) -> FloatArray:
    """Judged@k: the share of the shown documents that are judged; of fewer than k, of those."""
    seen = _summed(rankings.levels > 0, rankings, reach(measures, rankings))
    out = np.empty((len(rankings), len(measures)))
    for column, measure in enumerate(measures):
        cutoff = rankings.longest if measure.cutoff is None else measure.cutoff
        shown = np.minimum(rankings.lengths, cutoff)
        out[:, column] = _shares(at_rank(seen, measure.cutoff), shown)
    return out


def _summed(
    found: BoolArray, rankings: GradedRankings, width: int
) -> npt.NDArray[np.int32] | npt.NDArray[np.float64]:
    """How many of the ranks up to each; where ties are averaged, how many are to be expected."""
    if rankings.ties is None:
        return np.cumsum(found[:, :width], axis=1, dtype=np.int32)
    return np.cumsum(averaged(found, rankings.ties)[:, :width], axis=1)


def _counted_hits(measure: Measure, hits: NumberArray, all_relevant: IntArray) -> FloatArray:
    if measure.family == "Hit":
        return (hits > 0).astype(np.float64)
    if measure.family == "P":
        return np.asarray(hits / (measure.cutoff or 1), np.float64)
    return _shares(hits, all_relevant)


def _summed_precision(relevant: BoolArray, hits: NumberArray) -> FloatArray:
    """The precision at every relevant document, summed from the first rank to each."""
    ranks = np.arange(1, relevant.shape[1] + 1)
    return np.cumsum(np.where(relevant, hits / ranks, 0.0), axis=1)


def _reciprocal_ranks(relevant: BoolArray) -> FloatArray:
    """1 / the rank of the first relevant document; 0 where there is none."""
    if relevant.shape[1] == 0:
        return np.zeros(len(relevant))
    first = relevant.argmax(axis=1)
    found = relevant[np.arange(len(relevant)), first]
    return np.where(found, 1.0 / (first + 1), 0.0)


def _within(reciprocal: FloatArray, cutoff: int | None) -> FloatArray:
    if cutoff is None:
        return reciprocal
    return np.where(reciprocal >= 1.0 / cutoff, reciprocal, 0.0)


def _shares(part: NumberArray, whole: IntArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
