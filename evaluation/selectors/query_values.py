"""Every query's value of one run, computed when somebody looks, and kept by (run, version)."""

import hashlib
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from django.core.cache import cache

from evaluation.exact import exact_sums, means, standard_errors
from evaluation.measures.defaults import judged_beside
from evaluation.measures.definition import Measure
from evaluation.models import Run
from evaluation.scoring import Ids, score
from evaluation.selectors.measure_sets import grades_of
from evaluation.selectors.rankings import load_rankings
from evaluation.selectors.sums import RunSize, chunks, judged_queries
from judgments.models import JudgmentList
from judgments.selectors import get_judged

KEPT: Final = 24 * 3600  # seconds


@dataclass(frozen=True, slots=True, eq=False)
class QueryValues:
    """One run's value for every judged query of a version; five arrays of one length.

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
    """A mean, its standard error and its queries. judged: the mean share of judged documents."""

    value: float | None
    error: float | None
    queries: int
    judged: float | None


def get_query_values(
    *, run: Run, judgment_list: JudgmentList, version: int, measure: Measure
) -> QueryValues:
    """The values at a version, best known from the cache: neither run nor version ever changes."""
    name = _cache_name(run, judgment_list, version, measure)
    kept: QueryValues | None = cache.get(name)
    if kept is None:
        kept = _compute(run, judgment_list, version, measure)
        cache.set(name, kept, KEPT)
    return kept


def mean_of(found: QueryValues) -> Mean:
    """The mean as a leaderboard has it: exact, whatever the order of the queries."""
    values = np.stack((found.values, found.judged), axis=1)
    counted = np.stack((found.counted, np.ones(len(found), bool)), axis=1)
    sums = exact_sums(values, counted)
    value, judged = means(sums)
    return Mean(value, standard_errors(sums)[0], int(found.counted.sum()), judged)


def _compute(run: Run, judgment_list: JudgmentList, version: int, measure: Measure) -> QueryValues:
    judged = get_judged(list_id=judgment_list.pk, version=version)
    grades = grades_of(judgment_list)
    measures = [measure, judged_beside(measure) or measure]
    parts = [_nothing()]
    size = RunSize(run.pk, run.row_count, run.query_count)
    for chunk in chunks(np.unique(judged.query_ids), [size]):
        rankings = load_rankings(run_ids=[run.pk], query_ids=chunk.tolist())
        own = judged_queries(judged, chunk, grades)
        found = score(measures, grades, own, rankings, n_runs=1)
        shown = np.zeros(len(chunk), np.int64)
        shown[rankings.query_rows] = rankings.ranked.lengths()
        if measure.cutoff is not None:
            shown = np.minimum(shown, measure.cutoff)
        values, counted = found.values[0], found.counted[0]
        parts.append(QueryValues(chunk, values[:, 0], counted[:, 0], values[:, 1], shown))
    return _joined(parts)


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
    return "values:" + hashlib.sha256("\n".join(parts).encode()).hexdigest()
