"""Computing in a worker what samples say of runs."""

import json
from datetime import datetime
from typing import Final

from evaluation.evaluations.measure_sets import measures_of
from evaluation.models import SampleEvaluation
from evaluation.samples.drawn import get_drawn
from evaluation.samples.due import find_due
from evaluation.samples.figures import compute_readings, count_judged, to_json
from judgments.storage.bulk import insert_rows

AT_ONCE: Final = 50  # runs that are computed and stored together


def evaluate_sample(*, plan_id: int, at: datetime) -> int:
    """Evaluate the runs that wait for it by a sample; how many there were.

    Takes no lock: whoever computes computes the same, and the unique key lets the first write.
    Evaluations at older versions of the same plan are deleted once newer ones are there.
    """
    due = find_due(plan_id)
    if due is None:
        return 0
    drawn = get_drawn(due.plan)
    judged = count_judged(drawn, due.version)
    measures = measures_of(due.measure_set)
    for start in range(0, len(due.runs), AT_ONCE):
        runs = due.runs[start : start + AT_ONCE]
        found = compute_readings(drawn=drawn, version=due.version, runs=runs, measures=measures)
        rows = [
            (run.pk, plan_id, due.version, due.measure_set.pk, judged, json.dumps(to_json(own)), at)
            for run, own in zip(runs, found, strict=True)
        ]
        columns = (
            "run_id", "plan_id", "version", "measure_set_id", "judged", "readings", "computed_at",
        )  # fmt: skip
        insert_rows(SampleEvaluation, columns, rows, ignore_conflicts=True)
    older = SampleEvaluation.objects.filter(
        plan=plan_id, version__lt=due.version, run__in=[run.pk for run in due.runs]
    )
    older.delete()
    return len(due.runs)
