"""Computing corrected evaluations in a worker."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from evaluation.corrected.due import DueCorrection, is_of, list_due
from evaluation.corrected.figures import MeansOrReason, compute_means, to_json
from evaluation.corrected.population import get_population
from evaluation.evaluations.measure_sets import measures_of
from evaluation.models import CorrectedEvaluation, MeasureSet, Run
from judgments.live import announce, board_topic
from judgments.models import SamplePlan
from judgments.storage.bulk import insert_rows
from judgments.versions.machine_sources import get_machine_grades, judge_of
from touchstone.statistics.corrected import CorrectionRefusedError

AT_ONCE: Final = 20  # runs that are computed and stored together


def correct_means(*, plan_id: int, at: datetime) -> int:
    """Evaluate the runs that wait for a correction by a sample's people; how many there were.

    Takes no lock: every worker computes the same, and the unique key lets the first write.
    Evaluations of the same plan at other versions, or by other labels or revisions, are deleted
    then.
    """
    plan = SamplePlan.objects.select_related("list__collection", "frame").get(pk=plan_id)
    return sum(_correct(due, at) for due in list_due(plan, at=at))


def _correct(due: DueCorrection, at: datetime) -> int:
    plan, source = due.plan, due.source
    for start in range(0, len(due.runs), AT_ONCE):
        runs = due.runs[start : start + AT_ONCE]
        result = means_of_runs(
            plan=plan,
            version=due.version,
            source_key=source.key,
            runs=runs,
            measure_set=due.measure_set,
        )
        same = (plan.pk, due.version, source.key, due.measure_set.pk, due.basis)
        rows = [
            (run.pk, *same, json.dumps(to_json(own)), at)
            for run, own in zip(runs, result, strict=True)
        ]
        columns = (
            "run_id", "plan_id", "version", "source", "measure_set_id", "basis", "means",
            "computed_at",
        )  # fmt: skip
        insert_rows(CorrectedEvaluation, columns, rows, ignore_conflicts=True)
    judge = judge_of(source.key)
    older = CorrectedEvaluation.objects.filter(
        plan=plan,
        source__startswith=f"{judge}.",
        version__lte=due.version,
        run__in=[run.pk for run in due.runs],
    )
    older.exclude(is_of(plan, due.version, source, due.basis)).delete()
    announce(board_topic(plan.list_id))
    return len(due.runs)


def means_of_runs(
    *,
    plan: SamplePlan,
    version: int,
    source_key: str,
    runs: Sequence[Run],
    measure_set: MeasureSet,
) -> list[list[MeansOrReason]]:
    """For each run and measure of the set, by the machine's labels as they are now."""
    measures = measures_of(measure_set)
    grades = get_machine_grades(plan.list_id, source_key)
    try:
        population = get_population(plan, version, grades)
    except CorrectionRefusedError as error:
        return [[MeansOrReason.of_refusal(error.message)] * len(measures) for _ in runs]
    return compute_means(
        judgment_list=plan.list, population=population, runs=runs, measures=measures
    )
