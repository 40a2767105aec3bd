"""Three means of runs by every measure: from the rankings, people's grades and a machine's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evaluation.corrected.population import Population
from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.sums import Board, RunSize, compute_values
from evaluation.models import Run
from judgments.models import JudgmentList
from judgments.storage.serialization import from_plain, to_plain
from judgments.versions.queries import Judged
from touchstone.measures.definition import Measure
from touchstone.measures.scoring import counts_zero_results
from touchstone.statistics.corrected import CorrectionRefusedError
from touchstone.statistics.three_means import ThreeMeans, three_means

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
NOT_PLAIN: Final = "only plain means over queries can be corrected, not means by weight or segment"


@dataclass(frozen=True)
class MeansOrReason:
    """Three means of a run; or refused: why there are none, a sentence without its full stop."""

    means: ThreeMeans | None
    refused: str

    @classmethod
    def of_refusal(cls, reason: str) -> "MeansOrReason":
        """None, for this reason."""
        return cls(None, reason)


@dataclass(frozen=True, eq=False)
class BothValues:
    """Of some runs and measures, (n_runs, n_queries, n_measures): human of people's queries, judge
    of all. counted: which values are in the measure's mean."""

    human: Floats
    human_counted: Flags
    judge: Floats
    judge_counted: Flags


def compute_both(
    *,
    judgment_list: JudgmentList,
    population: Population,
    runs: Sequence[Run],
    measures: Sequence[Measure],
) -> BothValues:
    """The values of each query by people's grades, and by the machine's."""
    board = Board(judgment_list.pk, tuple(measures), grades_of(judgment_list))
    sizes = [RunSize(run.pk, run.row_count, run.query_count) for run in runs]

    def values(judged: Judged, query_ids: npt.NDArray[np.int64]) -> tuple[Floats, Flags]:
        own = np.isin(judged.query_ids, query_ids)
        some = Judged(judged.query_ids[own], judged.document_ids[own], judged.grades[own])
        result = compute_values(board=board, judged=some, runs=sizes, query_ids=query_ids.tolist())
        is_empty = np.isin(query_ids, population.empty)[:, None]
        as_zero = is_empty & np.array([counts_zero_results(one) for one in measures])[None, :]
        counted = result.counted | as_zero[None, :, :]
        return np.where(result.counted, result.values, 0.0), counted

    return BothValues(
        *values(population.by_people, population.people),
        *values(population.by_machine, population.query_ids),
    )


def compute_means(
    *,
    judgment_list: JudgmentList,
    population: Population,
    runs: Sequence[Run],
    measures: Sequence[Measure],
) -> list[list[MeansOrReason]]:
    """For each run and measure."""
    both = compute_both(
        judgment_list=judgment_list, population=population, runs=runs, measures=measures
    )
    return [
        [_means(both, population, run, place, measure) for place, measure in enumerate(measures)]
        for run in range(len(runs))
    ]


def compute_differences(
    *,
    judgment_list: JudgmentList,
    population: Population,
    baseline: Run,
    others: Sequence[Run],
    measure: Measure,
) -> list[MeansOrReason]:
    """For each other run, of the difference from the baseline query by query."""
    both = compute_both(
        judgment_list=judgment_list,
        population=population,
        runs=[baseline, *others],
        measures=[measure],
    )
    differences = BothValues(
        both.human[1:] - both.human[:1],
        both.human_counted[1:] & both.human_counted[:1],
        both.judge[1:] - both.judge[:1],
        both.judge_counted[1:] & both.judge_counted[:1],
    )
    return [_means(differences, population, run, 0, measure) for run in range(len(others))]


def _means(
    both: BothValues, population: Population, run: int, place: int, measure: Measure
) -> MeansOrReason:
    at = (run, slice(None), place)
    if measure.average != "macro":
        return MeansOrReason.of_refusal(NOT_PLAIN)
    outside = np.count_nonzero(~both.human_counted[at]), np.count_nonzero(~both.judge_counted[at])
    if any(outside):
        return MeansOrReason.of_refusal(
            f"{outside[0]:,} queries by people’s grades and {outside[1]:,} by the machine’s are "
            "not in this measure’s mean, and each query needs a value by both"
        )
    try:
        found = three_means(both.human[at], both.judge[at], population.drawn)
    except CorrectionRefusedError as error:
        return MeansOrReason.of_refusal(error.message)
    return MeansOrReason(found, "")


def to_json(means: Sequence[MeansOrReason]) -> list[Any]:
    """As they are stored."""
    return [to_plain(one) for one in means]


def from_json(stored: Sequence[Any]) -> list[MeansOrReason]:
    """What `to_json` was given."""
    return [from_plain(MeansOrReason, one) for one in stored]
