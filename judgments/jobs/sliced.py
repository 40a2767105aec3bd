"""Work in slices: its next job, and its end."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from judgments.jobs.services import queue_job
from judgments.models import Collection, Job
from judgments.models.sliced import SlicedWork


def queue_slice(
    work: SlicedWork,
    *,
    collection: Collection,
    kind: str,
    params: dict[str, Any],
    units: int,
    at: datetime,
) -> None:
    """Queue the job that does what is left. In a transaction."""
    work.job = queue_job(
        collection=collection, by=work.created_by, kind=kind, params=params, at=at, units=units
    )
    work.save(update_fields=["job"])


def end(work: SlicedWork, *, state: str, problem: str, at: datetime) -> bool:
    """End what runs; False if it has ended already."""
    running_qs = type(work)._default_manager.filter(pk=work.pk, state=SlicedWork.State.RUNNING)
    return bool(running_qs.update(state=state, problem=problem, ended_at=at))


def end_abandoned(work_qs: "QuerySet[Any]", *, at: datetime) -> None:
    """End the work whose job failed: its worker stopped again and again."""
    abandoned_qs = work_qs.filter(state=SlicedWork.State.RUNNING, job__state=Job.State.FAILED)
    for work in abandoned_qs.select_related("job"):
        problem = str(work.job.result.get("message", ""))
        end(work, state=SlicedWork.State.FAILED, problem=problem, at=at)
