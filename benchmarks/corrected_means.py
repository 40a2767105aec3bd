"""CPU time of corrected means while a machine judge is at work on the list.

    python -m benchmarks.corrected_means [--queries 200] [--documents 20] [--runs 8]

On SQLite in a temporary home: people judged 30 drawn queries, a machine all queries but for the
last documents. Every minute workers compute the three means of each run by each measure kept; every
2 seconds the sweep looks for what is due. Prints the median of each, and the share of a core.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from benchmarks.homes import temporary_home

PEOPLE = 30  # queries
STEPS, STEP = 9, 5  # of so many labels each


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--runs", type=int, default=8)
    options = parser.parse_args()
    with temporary_home():
        _measure(options)


def _measure(options: argparse.Namespace) -> None:
    from django.conf import settings
    from django.utils import timezone

    from annotation.models import JudgeCampaign
    from config.sweep import list_due
    from evaluation.corrected.due import WHILE_LABELLING, list_due_plans
    from evaluation.corrected.services import correct_means
    from evaluation.models import CorrectedEvaluation
    from tests.evaluation.corrected.builders import equal, label, machine_grades, make_judged

    judged = make_judged(
        queries=options.queries,
        documents=options.documents,
        runs=options.runs,
        design=equal(PEOPLE),
        labelled=False,
    )
    grades = machine_grades(judged.grades)
    # every query has labels from the beginning, as where a deeper pool is labelled
    pairs = sorted(grades, key=lambda pair: (pair[1].pk, pair[0].pk))
    label(judged, {pair: grades[pair] for pair in pairs[: -STEPS * STEP]})
    JudgeCampaign.objects.update(state=JudgeCampaign.State.RUNNING, ended_at=None)
    looks, computed, whole = [], [], []
    for step in range(STEPS):
        now = timezone.now() + step * 2 * WHILE_LABELLING
        assert list_due_plans(at=now) == [judged.plan.pk]
        computed.append(_cpu(partial(correct_means, plan_id=judged.plan.pk, at=now)))
        later = now + timedelta(seconds=1)
        assert list_due_plans(at=later) == []
        looks.append(_cpu(partial(list_due_plans, at=later)))
        whole.append(_cpu(lambda: list(list_due())))
        rest = pairs[-STEPS * STEP :]
        label(judged, {pair: grades[pair] for pair in rest[step * STEP : (step + 1) * STEP]})
    assert all(one["means"] for one in CorrectedEvaluation.objects.latest("pk").means)
    for name, found, every in (
        ("computing all means", computed, WHILE_LABELLING.total_seconds()),
        ("looking for due means", looks, settings.SWEEP_INTERVAL),
        ("a whole look of the sweep", whole, settings.SWEEP_INTERVAL),
    ):
        seconds = statistics.median(found)
        print(
            f"{name}: {1000 * seconds:.0f} ms every {every:.0f} s, {seconds / every:.2%} of a core"
        )


def _cpu(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


if __name__ == "__main__":
    main()
