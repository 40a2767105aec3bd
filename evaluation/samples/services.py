"""Computing in a worker what samples say of runs; queries for which rankers return nothing."""

import json
from datetime import datetime
from typing import Final

from django.db.models import Q

from evaluation.evaluations.measure_sets import measures_of
from evaluation.models import SampleEvaluation
from evaluation.samples.drawn import get_counted, get_drawn, list_unanswered
from evaluation.samples.due import find_due
from evaluation.samples.figures import compute_readings, to_json
from judgments.live import announce, board_topic
from judgments.models import SamplePlan
from judgments.permissions import Access, check_may_lead
from judgments.samples.services import SampleRefused, record_zero_results
from judgments.storage.bulk import insert_rows

AT_ONCE: Final = 50  # runs that are computed and stored together


def evaluate_sample(*, plan_id: int, at: datetime) -> int:
    """Evaluate the runs that wait for it by a sample; how many there were.

    Takes no lock: every worker computes the same, and the unique key lets the first write.
    Evaluations at older versions of the same plan, or on another basis, are deleted then.
    """
    due = find_due(plan_id)
    if due is None:
        return 0
    drawn = get_drawn(due.plan)
    counted = get_counted(drawn, due.version)
    measures = measures_of(due.measure_set)
    for start in range(0, len(due.runs), AT_ONCE):
        runs = due.runs[start : start + AT_ONCE]
        result = compute_readings(drawn=drawn, counted=counted, runs=runs, measures=measures)
        same = (plan_id, due.version, due.measure_set.pk, counted.n_judged, due.basis)
        rows = [
            (run.pk, *same, json.dumps(to_json(own)), at)
            for run, own in zip(runs, result, strict=True)
        ]
        columns = (
            "run_id", "plan_id", "version", "measure_set_id", "judged", "basis", "readings",
            "computed_at",
        )  # fmt: skip
        insert_rows(SampleEvaluation, columns, rows, ignore_conflicts=True)
    current = Q(version=due.version, basis=due.basis)
    older = SampleEvaluation.objects.filter(
        ~current, plan=plan_id, version__lte=due.version, run__in=[run.pk for run in due.runs]
    )
    older.delete()
    announce(board_topic(due.plan.list_id))
    return len(due.runs)


def count_as_without_results(*, access: Access, plan: SamplePlan, at: datetime) -> int:
    """Count the drawn queries for which no run has a document as empty rankings; for leads.

    Returns how many there are. plan: with its list. Raises SampleRefused where there is none.
    """
    check_may_lead(access)
    query_ids = list_unanswered(plan)
    if not query_ids:
        message = "All queries are judged or have results, or no run has been uploaded for them."
        raise SampleRefused("none_unanswered", message)
    record_zero_results(access=access, plan=plan, query_ids=query_ids, at=at)
    return len(query_ids)
