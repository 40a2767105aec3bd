"""What the documents that no one has judged leave open of runs' values and their differences."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.queries import SetChoice
from evaluation.evaluations.query_values import KEPT, QueryValues, get_query_values
from evaluation.evaluations.sums import RunSize, chunks, judged_queries
from evaluation.rankings.queries import load_rankings
from evaluation.runs.selection import (
    ChosenRuns,
    ComparedRun,
    RunMean,
    RunsFilters,
    get_chosen_runs,
)
from judgments.models import JudgmentList
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access
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
DEFAULT_P: Final = 0.8  # p of the residual beside measures that have none of their own


@dataclass(frozen=True)
class OpenValue:
    """A run under each assumption about its unjudged documents, over `queries` queries.

    zeros: they gain nothing; condensed: they are removed; low, high: lowest and highest possible
    mean, null if the measure has no known bounds; residual: of RBP, the share of the user's
    attention on them and on ranks after the ranking; documents: number of unjudged documents;
    judged: mean share of judged documents.
    """

    name: str
    queries: int
    zeros: float | None
    condensed: float | None
    low: float | None
    high: float | None
    residual: float | None
    judged: float | None
    documents: int
    run: RunMean = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class OpenDifference:
    """A run against the first: the difference as it is, and what unjudged documents allow.

    low, high: the one run at its least and the other at its most, and the other way round; no
    grades at all can leave that range. None where the measure has no known bounds.
    """

    first: RunMean
    run: RunMean
    difference: float
    low: float | None
    high: float | None

    @property
    def is_settled(self) -> bool:
        """Whether no grade of an unjudged document can turn its sign round."""
        return self.low is not None and self.high is not None and self.low * self.high > 0


@dataclass(frozen=True)
class OpenValues:
    """version: 0 on a list without any.

    On pages, residual_p: the p of the residuals. differences: of every other run from the first.
    """

    version: int
    measure: str
    runs: tuple[OpenValue, ...]
    residual_p: float = field(metadata=ON_PAGES)
    differences: tuple[OpenDifference, ...] = field(metadata=ON_PAGES)
    chosen: ChosenRuns = field(metadata=ON_PAGES)

    @property
    def sets(self) -> SetChoice:
        """The saved sets to choose from."""
        return self.chosen.sets

    @property
    def highest(self) -> float | None:
        """The most that a run can have; None where the measure has no known bounds."""
        return max((one.high for one in self.runs if one.high is not None), default=None)

    @property
    def names(self) -> list[str]:
        """The runs, as addresses name them."""
        return [one.name for one in self.runs]


def get_open_values(*, access: Access, slug: str, filters: RunsFilters) -> OpenValues:
    """What unjudged documents leave open, as an address asks for it.

    Raises MeasureError or FilterRefused for what can't be asked for, NotFound for a version.
    """
    chosen = get_chosen_runs(access=access, slug=slug, filters=filters)
    measure = chosen.asked.measure
    runs = tuple(
        get_open_value(
            compared=one, judgment_list=chosen.list, version=chosen.version, measure=measure
        )
        for one in chosen.compared
    )
    return OpenValues(
        version=chosen.version,
        measure=measure.name,
        runs=runs,
        residual_p=_residual_p(measure),
        differences=_open_differences(runs),
        chosen=chosen,
    )


def _open_differences(runs: Sequence[OpenValue]) -> tuple[OpenDifference, ...]:
    differences = []
    for own in runs[1:]:
        first = runs[0]
        if own.zeros is None or first.zeros is None:
            continue
        low = None if own.low is None or first.high is None else own.low - first.high
        high = None if own.high is None or first.low is None else own.high - first.low
        differences.append(OpenDifference(first.run, own.run, own.zeros - first.zeros, low, high))
    return tuple(differences)


def get_open_value(
    *, compared: ComparedRun, judgment_list: JudgmentList, version: int, measure: Measure
) -> OpenValue:
    """What is open of a compared run, over the queries that it is compared on."""

    def mean_of(other: Measure | None) -> float | None:
        if other is None:
            return None
        return _mean(_rows(compared, judgment_list, version, other))

    own = compared.values
    result = _bounds(compared, judgment_list, version, measure)
    low, high = (None, None) if result is None else (_over(own, result[0]), _over(own, result[1]))
    counted = own.counted
    open_documents = ((1 - own.judged) * own.shown)[counted].sum() if len(own) else 0.0
    residual = Measure(family="RBPResidual", cutoff=measure.cutoff, p=_residual_p(measure))
    return OpenValue(
        name=compared.name,
        queries=compared.mean.queries,
        zeros=compared.mean.value,
        condensed=mean_of(_changed(measure, unjudged="condensed")),
        low=low,
        high=high,
        residual=mean_of(residual),
        judged=compared.mean.judged,
        documents=round(float(open_documents)),
        run=compared.shown,
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


def _residual_p(measure: Measure) -> float:
    return measure.p if measure.family == "RBP" else DEFAULT_P


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
        result = ndcg_bounds(
            gains=gains(measure, grades)[1:],
            weights=1 / divisors(measure, cutoff),
            levels=graded.levels,
            lengths=graded.lengths,
            judged=graded.judged,
        )
        both = np.zeros((2, len(chunk)))
        both[:, rankings.query_rows] = result
        parts.append(both)
    low, high = np.concatenate(parts, axis=1) if parts else np.zeros((2, 0))
    return low, high


def _rows(
    compared: ComparedRun, judgment_list: JudgmentList, version: int, measure: Measure
) -> QueryValues:
    """The run's values of another measure, for the queries that it is compared on."""
    result = get_query_values(
        run=compared.run, judgment_list=judgment_list, version=version, measure=measure
    )
    own: Ids = compared.values.query_ids
    return result.rows(np.flatnonzero(np.isin(result.query_ids, own)))


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
