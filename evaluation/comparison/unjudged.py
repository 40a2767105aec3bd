"""What the documents that nobody has judged leave open of a run's value."""

import hashlib
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.query_values import KEPT, QueryValues, get_query_values
from evaluation.evaluations.sums import RunSize, chunks, judged_queries
from evaluation.rankings.queries import load_rankings
from evaluation.runs.selection import ComparedRun
from judgments.models import JudgmentList
from judgments.storage.caches import get_or_compute
from judgments.versions.judgment_cache import get_all_judged
from touchstone.measures.bounds import ndcg_bounds
from touchstone.measures.definition import Measure
from touchstone.measures.discounts import divisors
from touchstone.measures.grades import Grades
from touchstone.measures.ndcg import gains
from touchstone.measures.rankings import judge_rankings
from touchstone.measures.scoring import STORED_ORDER, Ids
from touchstone.statistics.resampling import FloatArray

# Measures that a better grade of a document shown never lowers: the best grade is the best case.
RISING: Final = frozenset({"P", "Hit", "RR", "RBP"})
DEEPEST: Final = 100
PATIENCE: Final = 0.8  # p of the residual beside measures that have none of their own


@dataclass(frozen=True)
class Unjudged:
    """A run's mean under every assumption about what nobody has judged.

    zeros: it gains nothing. condensed: it is taken out of the ranking. low, high: the least and
    the most that the run's own documents can make of it, whatever their grades; None where the
    measure is not bounded. residual: of RBP, the share of a reader's attention that goes to
    unjudged documents and what is beyond the ranking.
    name, label: as addresses and as pages call it. judged: the mean share of judged documents.
    documents: unjudged ones shown, over all queries.
    """

    name: str
    label: str
    queries: int
    zeros: float | None
    condensed: float | None
    low: float | None
    high: float | None
    residual: float | None
    judged: float | None
    documents: int


def get_unjudged(
    *, compared: ComparedRun, judgment_list: JudgmentList, version: int, measure: Measure
) -> Unjudged:
    """What is open of a compared run, over the queries that it is compared on."""

    def mean_of(other: Measure | None) -> float | None:
        if other is None:
            return None
        return _mean(_rows(compared, judgment_list, version, other))

    own = compared.values
    found = _bounds(compared, judgment_list, version, measure)
    low, high = (None, None) if found is None else (_over(own, found[0]), _over(own, found[1]))
    counted = own.counted
    open_documents = ((1 - own.judged) * own.shown)[counted].sum() if len(own) else 0.0
    residual = Measure(family="RBPResidual", cutoff=measure.cutoff, p=_patience(measure))
    return Unjudged(
        name=compared.name,
        label=compared.label,
        queries=compared.mean.queries,
        zeros=compared.mean.value,
        condensed=mean_of(_changed(measure, unjudged="condensed")),
        low=low,
        high=high,
        residual=mean_of(residual),
        judged=compared.mean.judged,
        documents=round(float(open_documents)),
    )


def can_be_bounded(measure: Measure, grades: Grades) -> bool:
    """Whether the lowest and the highest value are known."""
    if measure.unjudged != "zero" or measure.ordering != STORED_ORDER:
        return False
    if measure.family in RISING:
        return True
    if measure.family != "nDCG":
        return False
    plain = Measure(
        family="nDCG",
        cutoff=measure.cutoff,
        gain=measure.gain,
        discount=measure.discount,
        b=measure.b,
    )
    rises = bool((np.diff(gains(measure, grades)[1:]) >= 0).all())
    return measure == plain and rises and 0 < (measure.cutoff or 0) <= DEEPEST


def _patience(measure: Measure) -> float:
    return measure.p if measure.family == "RBP" else PATIENCE


def _changed(measure: Measure, *, unjudged: str) -> Measure | None:
    """The measure with another rule for unjudged documents; None where it has none."""
    if measure.unjudged != "zero" or "unjudged" not in measure.kind.parameters:
        return None
    return replace(measure, unjudged=unjudged)


def _bounds(
    compared: ComparedRun, judgment_list: JudgmentList, version: int, measure: Measure
) -> tuple[FloatArray, FloatArray] | None:
    """The lowest and highest value of each of the compared queries."""
    if not can_be_bounded(measure, grades_of(judgment_list)):
        return None
    if measure.family in RISING:
        top = grades_of(judgment_list).values[-1]
        best = replace(measure, unjudged="prior", prior=float(top))
        return compared.values.values, _rows(compared, judgment_list, version, best).values
    name = _cache_name(compared, judgment_list, version, measure)
    return get_or_compute(
        name,
        tuple[FloatArray, FloatArray],
        KEPT,
        lambda: _ndcg_bounds(compared, judgment_list, version, measure),
    )


def _ndcg_bounds(
    compared: ComparedRun, judgment_list: JudgmentList, version: int, measure: Measure
) -> tuple[FloatArray, FloatArray]:
    grades, run = grades_of(judgment_list), compared.run
    cutoff = measure.cutoff or DEEPEST
    judged = get_all_judged(list_id=judgment_list.pk, version=version)
    parts = []
    for chunk in chunks(
        compared.values.query_ids, [RunSize(run.pk, run.row_count, run.query_count)]
    ):
        own = judged_queries(judged, chunk, grades)
        rankings = load_rankings(run_ids=[run.pk], query_ids=chunk.tolist())
        graded = judge_rankings(
            rankings.ranked.documents,
            rankings.ranked.lengths(),
            own.judgments,
            n_grades=len(grades.codes),
            queries=rankings.query_rows,
            width=cutoff,
        )
        found = ndcg_bounds(
            gains=gains(measure, grades)[1:],
            weights=1 / divisors(measure, cutoff),
            levels=graded.levels,
            lengths=graded.lengths,
            judged=graded.judged,
        )
        both = np.zeros((2, len(chunk)))
        both[:, rankings.query_rows] = found
        parts.append(both)
    low, high = np.concatenate(parts, axis=1) if parts else np.zeros((2, 0))
    return low, high


def _rows(
    compared: ComparedRun, judgment_list: JudgmentList, version: int, measure: Measure
) -> QueryValues:
    """The run's values of another measure, for the queries that it is compared on."""
    found = get_query_values(
        run=compared.run, judgment_list=judgment_list, version=version, measure=measure
    )
    own: Ids = compared.values.query_ids
    return found.rows(np.flatnonzero(np.isin(found.query_ids, own)))


def _mean(found: QueryValues) -> float | None:
    return _over(found, found.values)


def _over(found: QueryValues, values: FloatArray) -> float | None:
    return float(values[found.counted].mean()) if found.counted.any() else None


def _cache_name(
    compared: ComparedRun, judgment_list: JudgmentList, version: int, measure: Measure
) -> str:
    parts = (
        str(compared.run.public_id),
        str(judgment_list.pk),
        str(version),
        repr(grades_of(judgment_list)),
        f"{measure.name} {measure.revision}",
        hashlib.sha256(compared.values.query_ids.tobytes()).hexdigest(),
    )
    return "bounds:1:" + hashlib.sha256("\n".join(parts).encode()).hexdigest()
