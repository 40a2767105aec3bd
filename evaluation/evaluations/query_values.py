"""Every query's value of one run, computed on demand and cached by (run, version)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.sums import RunSize, chunks, judged_queries
from evaluation.models import Run
from evaluation.rankings.queries import list_answered, load_answers, load_rankings
from judgments.collections.query_metadata import get_query_traits
from judgments.models import JudgmentList
from judgments.storage.caches import get_or_compute
from judgments.versions.judgment_cache import get_all_judged
from judgments.versions.queries import Judged
from touchstone.measures.answers import judge_answers
from touchstone.measures.averages import Groups, averages, plain_averages, reads_traits, sums_of
from touchstone.measures.defaults import judged_beside
from touchstone.measures.definition import Measure
from touchstone.measures.engine import Values, evaluate_batch
from touchstone.measures.exact import exact_sums
from touchstone.measures.grades import Grades
from touchstone.measures.scoring import KEPT_QUERIES, STORED_ORDER, Ids, StoredJudgments, score
from touchstone.measures.wording import answers_words
from touchstone.statistics.intervals import half_interval

KEPT: Final = 24 * 3600  # seconds


@dataclass(frozen=True, slots=True, eq=False)
class QueryValues:
    """One run's value for every query of a version that is judged; five arrays of one length.

    query_ids: ascending. values: 0 where not counted. counted: the query is in the mean.
    judged: the share of what is shown that is judged. shown: how many documents are looked at,
    as far as the measure's cutoff; 0 where the run has no answer.
    """

    query_ids: Ids
    values: npt.NDArray[np.float64]
    counted: npt.NDArray[np.bool_]
    judged: npt.NDArray[np.float64]
    shown: Ids

    def __len__(self) -> int:
        return len(self.query_ids)

    def within(self, query_ids: Sequence[int]) -> "QueryValues":
        """Only those of some queries."""
        own = np.isin(self.query_ids, np.array(query_ids, np.int64))
        return self.rows(np.flatnonzero(own))

    def updated(self, other: "QueryValues") -> "QueryValues":
        """With the values that `other` has of some of the queries."""
        places = np.searchsorted(self.query_ids, other.query_ids)
        values, counted, judged = self.values.copy(), self.counted.copy(), self.judged.copy()
        values[places], counted[places], judged[places] = other.values, other.counted, other.judged
        return replace(self, values=values, counted=counted, judged=judged)

    def rows(self, places: npt.NDArray[np.intp]) -> "QueryValues":
        """Some of the queries, in the order of `places`."""
        return QueryValues(
            self.query_ids[places],
            self.values[places],
            self.counted[places],
            self.judged[places],
            self.shown[places],
        )


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean, its standard error and its queries.

    judged: the mean share of judged documents, over the queries that the run answers; None where
    it answers none. answered: how many it answers, of so many (`of`) queries.
    """

    value: float | None
    error: float | None
    queries: int
    judged: float | None
    answered: int
    of: int

    @property
    def half(self) -> float | None:
        """Half of the interval of 95 %, as a leaderboard has it."""
        return half_interval(self.error, self.queries)

    @property
    def answers_words(self) -> str:
        """How many queries the run answers; "" where it answers all."""
        return answers_words(self.answered, self.of)


def get_query_values(
    *, run: Run, judgment_list: JudgmentList, version: int, measure: Measure
) -> QueryValues:
    """The values at a version, best known from the cache: neither run nor version ever changes."""
    name = _cache_name(run, judgment_list, version, measure)
    return get_or_compute(
        name, QueryValues, KEPT, lambda: _compute(run, judgment_list, version, measure)
    )


def get_mean(
    *, found: QueryValues, judgment_list: JudgmentList, version: int, measure: Measure
) -> Mean:
    """The mean as a leaderboard has it: exact for any order of the queries."""
    groups = None
    if reads_traits([measure]):
        traits = get_query_traits(
            list_id=judgment_list.pk, version=version, query_ids=found.query_ids.tolist()
        )
        own = [traits[query_id] for query_id in found.query_ids.tolist()]
        groups = Groups.of([one.weight for one in own], [one.segment for one in own])
    sums = sums_of([measure], found.values[:, None], found.counted[:, None], groups)
    (mean,) = averages([measure], sums)
    answered = found.shown > 0
    (judged,) = plain_averages(exact_sums(found.judged[:, None], answered[:, None]))
    return Mean(
        mean.value, mean.error, mean.n, judged.value, int(np.count_nonzero(answered)), len(found)
    )


def _compute(run: Run, judgment_list: JudgmentList, version: int, measure: Measure) -> QueryValues:
    judged = get_all_judged(list_id=judgment_list.pk, version=version)
    query_ids = np.unique(judged.query_ids)
    if measure.queries not in KEPT_QUERIES:  # some that no one judged are in the mean as well
        query_ids = np.union1d(query_ids, list_answered(run_ids=[run.pk]))
    return values_under(
        run=run,
        judged=judged,
        query_ids=query_ids,
        grades=grades_of(judgment_list),
        measure=measure,
    )


def values_under(
    *, run: Run, judged: Judged, query_ids: Ids, grades: Grades, measure: Measure
) -> QueryValues:
    """A run's values for some queries under these judgments, whichever version has them."""
    measures = [measure, judged_beside(measure)]
    parts = [_nothing()]
    size = RunSize(run.pk, run.row_count, run.query_count)
    by_chunk = _stored_order if measure.ordering == STORED_ORDER else _other_order
    for chunk in chunks(query_ids, [size]):
        own = judged_queries(judged, chunk, grades)
        result, shown = by_chunk(run, measures, own, grades)
        if measure.cutoff is not None:
            shown = np.minimum(shown, measure.cutoff)
        values, counted = result.values, result.counted
        parts.append(QueryValues(chunk, values[:, 0], counted[:, 0], values[:, 1], shown))
    return _joined(parts)


def _stored_order(
    run: Run, measures: Sequence[Measure], own: StoredJudgments, grades: Grades
) -> tuple[Values, Ids]:
    """The values of some queries, and how long each one's ranking is."""
    rankings = load_rankings(run_ids=[run.pk], query_ids=own.query_ids.tolist())
    result = score(measures, grades, own, rankings, n_runs=1)
    shown = np.zeros(len(own), np.int64)
    shown[rankings.query_rows] = rankings.ranked.lengths()
    return Values(result.values[0], result.counted[0]), shown


def _other_order(
    run: Run, measures: Sequence[Measure], own: StoredJudgments, grades: Grades
) -> tuple[Values, Ids]:
    """The same where the measure reads rankings in another order than the stored one."""
    answers = load_answers(run_id=run.pk, query_ids=own.query_ids.tolist())
    graded = judge_answers(answers, own.judgments, measures[0].ordering, n_grades=len(grades.codes))
    return evaluate_batch(measures, graded, grades), np.array(list(map(len, answers)), np.int64)


def _nothing() -> QueryValues:
    ids, values = np.zeros(0, np.int64), np.zeros(0)
    return QueryValues(ids, values, np.zeros(0, bool), values, ids)


def _joined(parts: list[QueryValues]) -> QueryValues:
    return QueryValues(
        np.concatenate([part.query_ids for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.counted for part in parts]),
        np.concatenate([part.judged for part in parts]),
        np.concatenate([part.shown for part in parts]),
    )


def _cache_name(run: Run, judgment_list: JudgmentList, version: int, measure: Measure) -> str:
    parts = (
        str(run.public_id),
        str(judgment_list.pk),
        str(version),
        repr(grades_of(judgment_list)),
        f"{measure.name} {measure.revision}",
    )
    return "values:2:" + hashlib.sha256("\n".join(parts).encode()).hexdigest()
