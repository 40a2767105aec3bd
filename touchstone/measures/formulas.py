"""A measure's formula with the numbers of one ranking put in, in words."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from touchstone.measures.binary import Found, divisor, judged_counts
from touchstone.measures.definition import Measure
from touchstone.measures.grades import Grades
from touchstone.measures.ndcg import at_rank
from touchstone.measures.rankings import GradedRankings, shown


def formula(
    measure: Measure, view: GradedRankings, grades: Grades, contributions: Sequence[float]
) -> str:
    """How a value other than nDCG's comes about.

    view, grades: the one ranking, whole, as the measure sees it. contributions: what its ranks add.
    """
    told = _FORMULAS[measure.family](measure, view, grades, contributions)
    return told + _rounded(measure)


def ndcg_formula(measure: Measure, view: GradedRankings, dcg: float, ideal_dcg: float) -> str:
    """How an nDCG comes about."""
    if ideal_dcg == 0 or (ideal_dcg < 0 and measure.negative_ideal == "empty"):
        return f"the ideal is 0, {_empty(measure)}"
    if measure.short == "zero" and int(view.lengths[0]) < (measure.cutoff or 0):
        return f"a list of {view.lengths[0]}, shorter than {measure.cutoff}, counts 0"
    quotient = f"{_told(dcg)} / {_told(ideal_dcg)}, DCG by ideal DCG"
    return quotient + _rounded(measure)


def _rounded(measure: Measure) -> str:
    if measure.decimals is None or measure.rounded == "mean":
        return ""
    return f", rounded to {measure.decimals} decimals"


def _empty(measure: Measure) -> str:
    if measure.empty == "skip":
        return "so the query is left out"
    return "which is an error" if measure.empty == "error" else f"which counts {measure.empty:g}"


_Formula = Callable[[Measure, GradedRankings, Grades, Sequence[float]], str]


def _told(number: float) -> str:
    return f"{number:.4f}".rstrip("0").rstrip(".")


def _number(n: float, one: str, many: str) -> str:
    return f"{_told(n)} {one if n == 1 else many}"


def _relevant(n: float) -> str:
    return _number(n, "relevant document", "relevant documents")


def _found(measure: Measure, view: GradedRankings, grades: Grades) -> Found:
    return Found(view, max(grades.at_least(measure.rel), 1), view.levels.shape[1])


def _hits(measure: Measure, result: Found) -> float:
    return float(at_rank(result.hits, measure.cutoff)[0]) if result.width else 0.0


def _among(measure: Measure) -> str:
    return "in the list" if measure.cutoff is None else f"among the first {measure.cutoff}"


def _share(measure: Measure, view: GradedRankings, grades: Grades, _: Sequence[float]) -> str:
    result = _found(measure, view, grades)
    by = int(divisor(measure, result)[0])
    whole = f"by {by}" if measure.family == "P" else f"by all {by}"
    return f"{_relevant(_hits(measure, result))} {_among(measure)}, divided {whole}"


def _r_precision(measure: Measure, view: GradedRankings, grades: Grades, _: Sequence[float]) -> str:
    result = _found(measure, view, grades)
    every = int(result.all_relevant[0])
    hits = int(np.count_nonzero(result.relevant[0, :every]))
    return f"{_relevant(hits)} among the first {every}, as many as there are, divided by {every}"


def _f(measure: Measure, view: GradedRankings, grades: Grades, _: Sequence[float]) -> str:
    result = _found(measure, view, grades)
    returned, every = int(view.lengths[0]), int(result.all_relevant[0])
    return (
        f"twice {_relevant(_hits(measure, result))} in the list, "
        f"divided by the {returned} returned and the {every} relevant ones together"
    )


def _number_returned(_: Measure, view: GradedRankings, __: Grades, ___: Sequence[float]) -> str:
    return f"{_number(int(view.lengths[0]), 'document', 'documents')} returned"


def _first(measure: Measure, view: GradedRankings, grades: Grades, _: Sequence[float]) -> str:
    ranks = np.flatnonzero(_found(measure, view, grades).relevant[0]) + 1
    if not len(ranks) or (measure.cutoff is not None and ranks[0] > measure.cutoff):
        return f"no relevant document {_among(measure)}"
    position = f"the first relevant document is at rank {ranks[0]}"
    return position if measure.family == "Hit" else f"{position}: 1 / {ranks[0]}"


def _average_precision(
    measure: Measure, view: GradedRankings, grades: Grades, _: Sequence[float]
) -> str:
    result = _found(measure, view, grades)
    if measure.empty != 0.0 and not result.all_relevant[0]:
        return f"no document is relevant, {_empty(measure)}"
    hits, by = _hits(measure, result), int(divisor(measure, result)[0])
    total = float(at_rank(result.precision, measure.cutoff)[0]) if result.width else 0.0
    return (
        f"the precisions at {_relevant(hits)} {_among(measure)} sum to {_told(total)}, "
        f"divided by {by}"
    )


def _err(
    measure: Measure, view: GradedRankings, grades: Grades, contributions: Sequence[float]
) -> str:
    stops = sum(1 for own in contributions if own > 0)
    return (
        f"at {_number(stops, 'rank', 'ranks')} {_among(measure)} the search can end: how probably "
        "it ends there and not before, divided by the rank, summed"
    )


def _rbp(measure: Measure, view: GradedRankings, grades: Grades, _: Sequence[float]) -> str:
    result = _found(measure, view, grades)
    hits = int(np.count_nonzero(result.relevant[0, : measure.cutoff]))
    weight = f"{_told(1 - measure.p)} · {measure.p:g}^(rank − 1)"
    return f"{_relevant(hits)} {_among(measure)}, each worth {weight}, summed"


def _residual(
    measure: Measure, view: GradedRankings, grades: Grades, contributions: Sequence[float]
) -> str:
    length = int(shown(measure, view)[0])
    behind = measure.p**length
    unknown = int(np.count_nonzero(view.levels[0, :length] == 0))
    return (
        f"{_told(sum(contributions) - behind)} for {_number(unknown, 'document', 'documents')} not "
        f"judged, and {_told(behind)} for all after rank {length}"
    )


def _preference(
    measure: Measure, view: GradedRankings, grades: Grades, contributions: Sequence[float]
) -> str:
    result = _found(measure, view, grades)
    hits, every = int(np.count_nonzero(result.relevant)), int(result.all_relevant[0])
    what = "inferred precisions" if measure.family == "infAP" else "shares of pairs in order"
    total = sum(contributions) * every
    return f"the {what} at {_relevant(hits)} sum to {_told(total)}, divided by all {every}"


def _judged(measure: Measure, view: GradedRankings, _: Grades, __: Sequence[float]) -> str:
    own, every = judged_counts(measure, view)
    kind = "judged" if measure.family == "Judged" else "not judged"
    return (
        f"{_told(float(own[0]))} {kind}, of {_number(int(every[0]), 'document', 'documents')} shown"
    )


_FORMULAS: Final[dict[str, _Formula]] = {
    "P": _share,
    "R": _share,
    "Rprec": _r_precision,
    "SetP": _share,
    "SetR": _share,
    "SetF": _f,
    "NumRet": _number_returned,
    "Hit": _first,
    "RR": _first,
    "AP": _average_precision,
    "ERR": _err,
    "RBP": _rbp,
    "RBPResidual": _residual,
    "Bpref": _preference,
    "infAP": _preference,
    "Judged": _judged,
    "Unjudged": _judged,
}
