"""Measures that ask of a document only whether it is relevant, or only whether it is judged.

Sources: Buckley & Voorhees 2005 (the definitions of trec_eval); P divides by k even where fewer
documents are shown, R and AP by all relevant documents of the query, unless told otherwise.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.measures.counting import running_sums
from touchstone.measures.definition import Measure
from touchstone.measures.discounts import FloatArray
from touchstone.measures.ndcg import at_rank, reach
from touchstone.measures.rankings import (
    BoolArray,
    GradedRankings,
    IntArray,
    averaged,
    quotients,
    shown,
)

NumberArray = npt.NDArray[np.number]


def binary(measures: Sequence[Measure], threshold: int, rankings: GradedRankings) -> FloatArray:
    """The values, (n, n_measures), of the measures of `BINARY` with one threshold.

    threshold: the lowest level that counts as relevant.
    rankings: as the measures see them.
    """
    result = Found(rankings, max(threshold, 1), reach(measures, rankings))
    columns = [_VALUES[measure.family](measure, result) for measure in measures]
    return np.stack(columns, axis=1)


@dataclass(frozen=True)
class Found:
    """What these measures share of one batch, each made when it is first asked for.

    threshold: the lowest relevant level, 1 or more. width: how many ranks are looked at.
    """

    rankings: GradedRankings
    threshold: int
    width: int

    @cached_property
    def relevant(self) -> BoolArray:
        """Which ranks hold a relevant document."""
        return np.asarray(self.rankings.levels[:, : self.width] >= self.threshold, bool)

    @cached_property
    def hits(self) -> NumberArray:
        """How many relevant documents stand at the ranks up to each."""
        return _summed(self.rankings.levels >= self.threshold, self.rankings, self.width)

    @cached_property
    def all_relevant(self) -> IntArray:
        """How many relevant documents each query has."""
        count: IntArray = self.rankings.judged[:, self.threshold - 1 :].sum(axis=1)
        return count

    @cached_property
    def returned_relevant(self) -> IntArray:
        """How many relevant documents each whole ranking has."""
        count: IntArray = np.count_nonzero(self.rankings.levels >= self.threshold, axis=1)
        return count

    @cached_property
    def precision(self) -> FloatArray:
        """The precision at every relevant document, summed from the first rank to each."""
        return running_sums(self.relevant * self.precision_at_ranks)

    @property
    def precision_at_ranks(self) -> FloatArray:
        """The precision at every rank."""
        return np.asarray(self.hits / np.arange(1, self.width + 1), np.float64)

    @cached_property
    def reciprocal(self) -> FloatArray:
        """1 / the rank of the first relevant document; 0 where there is none."""
        if self.width == 0:
            return np.zeros(len(self.rankings))
        first = self.relevant.argmax(axis=1)
        result = self.relevant[np.arange(len(first)), first]
        return np.where(result, 1.0 / (first + 1), 0.0)


def divisor(measure: Measure, result: Found) -> NumberArray:
    """What they divide by that do; a query for which it is 0 has the value 0."""
    if measure.family == "P" and measure.denominator == "k":
        return np.full(len(result.rankings), measure.cutoff or 1)
    if measure.family in ("P", "SetP"):
        return shown(measure, result.rankings)
    if measure.denominator == "returned":
        return at_rank(result.hits, measure.cutoff)
    if measure.denominator == "returned_cutoff":
        return np.minimum(result.returned_relevant, measure.cutoff or 0)
    if measure.denominator == "cutoff":
        return np.minimum(result.all_relevant, measure.cutoff or 0)
    return result.all_relevant


def judged_share(measures: Sequence[Measure], rankings: GradedRankings) -> FloatArray:
    """Judged@k and Unjudged@k: of the documents shown, fewer than k perhaps, which share is."""
    columns = [quotients(*judged_counts(measure, rankings)) for measure in measures]
    return np.stack(columns, axis=1)


def judged_counts(measure: Measure, rankings: GradedRankings) -> tuple[NumberArray, IntArray]:
    """How many of the documents shown for each query are judged (or are not), and how many are."""
    width = reach([measure], rankings)
    judged = at_rank(_summed(rankings.levels > 0, rankings, width), measure.cutoff)
    every = shown(measure, rankings)
    return (every - judged if measure.family == "Unjudged" else judged), every


def _summed(result: BoolArray, rankings: GradedRankings, width: int) -> NumberArray:
    """How many of the ranks up to each; where ties are averaged, how many are to be expected."""
    if rankings.ties is None:
        return running_sums(result[:, :width], np.int32)
    return running_sums(averaged(result, rankings.ties)[:, :width])


def _share(measure: Measure, result: Found) -> FloatArray:
    return quotients(at_rank(result.hits, measure.cutoff), divisor(measure, result))


def _r_precision(measure: Measure, result: Found) -> FloatArray:
    n_relevant = result.all_relevant
    if result.width == 0:
        return np.zeros(len(n_relevant))
    last = np.clip(n_relevant, 1, result.width) - 1
    return quotients(result.hits[np.arange(len(last)), last], n_relevant)


def _set_f(measure: Measure, result: Found) -> FloatArray:
    hits = at_rank(result.hits, None)
    precision = quotients(hits, result.rankings.lengths)
    recall = quotients(hits, result.all_relevant)
    return quotients(2 * precision * recall, precision + recall)


def _hit(measure: Measure, result: Found) -> FloatArray:
    return (at_rank(result.hits, measure.cutoff) > 0).astype(np.float64)


def _reciprocal_rank(measure: Measure, result: Found) -> FloatArray:
    if measure.cutoff is None:
        return result.reciprocal
    return np.where(result.reciprocal >= 1.0 / measure.cutoff, result.reciprocal, 0.0)


def _average_precision(measure: Measure, result: Found) -> FloatArray:
    return quotients(at_rank(result.precision, measure.cutoff), divisor(measure, result))


_VALUES: Final[dict[str, Callable[[Measure, Found], FloatArray]]] = {
    "P": _share,
    "R": _share,
    "Rprec": _r_precision,
    "SetP": _share,
    "SetR": _share,
    "SetF": _set_f,
    "Hit": _hit,
    "RR": _reciprocal_rank,
    "AP": _average_precision,
}
BINARY: Final = frozenset(_VALUES)
