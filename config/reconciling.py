"""Doing at once what the workers would do: all that is due, in all apps."""

import time
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Final

import annotation.due
import evaluation.evaluations.due
from annotation.consolidation.services import consolidate
from annotation.gold.checking import check_labels
from evaluation.evaluations.refreshing import refresh_evaluations, retry_failed
from judgments.jobs.queries import is_job_due
from judgments.jobs.services import work_jobs
from judgments.models import JudgmentList
from judgments.versions.parts import take_back

ROUNDS: Final = 10_000
Clock = Callable[[], datetime]


def reconcile(*, lists: Collection[JudgmentList], with_jobs: bool, clock: Clock) -> list[str]:
    """Work until nothing is due on these lists; what was done, a sentence each.

    with_jobs: uploads that wait for a worker too. What failed too often is retried.
    """
    names = {judgment_list.pk: str(judgment_list) for judgment_list in lists}
    for list_id in names:
        retry_failed(list_id=list_id)
    done: list[str] = []
    for _ in range(ROUNDS):
        before = len(done)
        done += [f"{names[pk]}: an unfinished import removed" for pk in names if take_back(pk)]
        if with_jobs and is_job_due(clock()):
            done.append(f"{work_jobs()} jobs done")
        due = [pk for pk in annotation.due.list_due_lists() if pk in names]
        done += [said for pk in due for said in _consolidate(pk, names[pk], clock)]
        due = [pk for pk in evaluation.evaluations.due.list_due_lists(at=clock()) if pk in names]
        done += [said for pk in due for said in _refresh(pk, names[pk], clock)]
        if len(done) == before:
            break
    return done


def _consolidate(list_id: int, name: str, clock: Clock) -> list[str]:
    checked = check_labels(list_id=list_id, at=clock())
    said = [f"{name}: {checked} labels checked against gold"] if checked else []
    result = consolidate(list_id=list_id, at=clock())
    if result.wait_seconds > 0:
        time.sleep(result.wait_seconds)
        result = consolidate(list_id=list_id, at=clock())
    if not result.pairs:
        return said
    version = f", version {result.version.number}" if result.version else ""
    return [*said, f"{name}: {result.pairs} pairs aggregated{version}"]


def _refresh(list_id: int, name: str, clock: Clock) -> list[str]:
    result = refresh_evaluations(list_id=list_id, at=clock())
    said = [
        f"{name}: {failure.name} can't be evaluated: {failure.problem}"
        for failure in evaluation.evaluations.due.list_failures(list_id=list_id)
        if failure.run_id in result.failed
    ]
    if result.evaluated:
        said.append(
            f"{name}: {result.evaluated} runs evaluated at version {result.version}, "
            + f"{result.from_scratch} of them from scratch"
        )
    return said
