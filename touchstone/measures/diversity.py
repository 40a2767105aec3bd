"""Measures of rankings that should cover a query's subtopics: alpha-nDCG and ERR-IA, as ndeval.

What a document gains falls with each earlier one about the same subtopic. Documents that tie stand
by id, ascending, as ndeval has them (trec_eval: descending).
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from touchstone.files.subtopics import SubtopicQrels
from touchstone.files.trec import RunFile
from touchstone.measures.errors import MeasureError
from touchstone.measures.exact import counts, exact_sums, means, standard_errors
from touchstone.measures.files import FileValues
from touchstone.measures.ordering import rank_order
from touchstone.measures.parameters import LARGEST_CUTOFF

ALPHA: Final = 0.5
_NAME: Final = re.compile(
    r"(?P<family>alpha_nDCG|ERR_IA)(?:\(alpha=(?P<alpha>[0-9.]+)\))?(?:@(?P<cutoff>[0-9]{1,9}))?"
)
Subtopics = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class DiversityMeasure:
    """alpha: how much less the next document about a subtopic gains, from 0 to 1."""

    family: Literal["alpha_nDCG", "ERR_IA"]
    cutoff: int
    alpha: float = ALPHA


def is_diversity(name: str) -> bool:
    """Whether a name is meant to be one of these measures."""
    return name.startswith(("alpha_nDCG", "ERR_IA"))


def parse_diversity(name: str) -> DiversityMeasure:
    """The measure of a name as ir_measures writes it, such as alpha_nDCG(alpha=0.3)@20.

    Raises MeasureError for any other.
    """
    result = _NAME.fullmatch(name)
    if result is None or result["cutoff"] is None:
        message = f"{name[:60]} is not a measure with subtopics; example: alpha_nDCG@20"
        raise MeasureError(message)
    cutoff = int(result["cutoff"])
    if not 1 <= cutoff <= LARGEST_CUTOFF:
        raise MeasureError(f"{name}: the cutoff must be a whole number from 1 to {LARGEST_CUTOFF}")
    try:
        alpha = float(result["alpha"] or ALPHA)
    except ValueError:
        alpha = math.nan
    if not 0 <= alpha <= 1:
        raise MeasureError(f"{name}: alpha must be from 0 to 1")
    return DiversityMeasure(
        "alpha_nDCG" if result["family"] == "alpha_nDCG" else "ERR_IA", cutoff, alpha
    )


def diversity_value(measure: DiversityMeasure, ranked: Sequence[str], relevant: Subtopics) -> float:
    """The value of one query; 0 where nothing is relevant.

    ranked: its documents, best first. relevant: the subtopics of each relevant document.
    alpha_nDCG: Σ gain / log2(rank + 1), divided by the same of the ideal ranking, which takes the
    document that gains most at each rank (of several, the last by id).
    ERR_IA: Σ gain / rank, divided by the same of documents that are each about all subtopics.
    Source: Clarke et al. 2008; Chapelle et al. 2011; ndeval of TREC's Web tracks.
    """
    subtopics = frozenset[str]().union(*relevant.values())
    if not subtopics:
        return 0.0
    own = _gains(measure, (relevant.get(document, frozenset()) for document in ranked))
    if measure.family == "ERR_IA":
        most = _gains(measure, [subtopics] * measure.cutoff)
        return _discounted(own, "rank") / _discounted(most, "rank")
    ideal = _gains(measure, _ideal(measure, relevant))
    return _discounted(own, "log2") / _discounted(ideal, "log2")


def evaluate_diversity(
    qrels: SubtopicQrels, run: RunFile, measures: Sequence[DiversityMeasure]
) -> FileValues:
    """The values of every measure for one run, over all judged queries; a missing one counts 0."""
    ranked: dict[str, list[str]] = {}
    for query, documents, scores in run.rankings():
        order = rank_order(documents, scores, ties="docid_asc", precision="float64")
        ranked[query] = [documents[position] for position in order.tolist()]
    queries = tuple(qrels.relevant)
    values = np.array(
        [
            [diversity_value(own, ranked.get(query, ()), qrels.relevant[query]) for own in measures]
            for query in queries
        ]
    )
    counted = np.ones(values.shape, bool)
    sums = exact_sums(values, counted)
    return FileValues(
        run=run.name,
        query_ids=queries,
        values=values,
        counted=counted,
        means=tuple(means(sums)),
        standard_errors=tuple(standard_errors(sums)),
        counts=tuple(counts(sums)),
    )


def _gains(measure: DiversityMeasure, documents: Iterable[frozenset[str]]) -> list[float]:
    """What each document down to the cutoff gains, by its subtopics."""
    seen: dict[str, int] = {}
    result: list[float] = []
    for subtopics in documents:
        if len(result) == measure.cutoff:
            break
        result.append(math.fsum((1 - measure.alpha) ** seen.get(one, 0) for one in subtopics))
        for one in subtopics:
            seen[one] = seen.get(one, 0) + 1
    return result


def _ideal(measure: DiversityMeasure, relevant: Subtopics) -> Iterable[frozenset[str]]:
    """The subtopics of the documents of the greedy ideal ranking."""
    left = dict(sorted(relevant.items(), reverse=True))
    worth: dict[str, float] = {}
    for _ in range(min(measure.cutoff, len(left))):
        best = max(left, key=lambda one: math.fsum(worth.get(own, 1.0) for own in left[one]))
        subtopics = left.pop(best)
        for one in subtopics:
            worth[one] = worth.get(one, 1.0) * (1 - measure.alpha)
        yield subtopics


def _discounted(gains: Sequence[float], discount: Literal["rank", "log2"]) -> float:
    return math.fsum(
        gain / (rank if discount == "rank" else math.log2(rank + 1))
        for rank, gain in enumerate(gains, 1)
    )
