"""Reading jobs: their pages, and whether one waits for a worker."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q, QuerySet

from judgments.models import Job
from judgments.permissions import Access, NotFound

SILENCE = timedelta(seconds=30)  # after which a worker at a job counts as dead


def due_jobs(now: datetime) -> QuerySet[Job]:
    """Jobs that wait for a worker, or whose worker has fallen silent; oldest first."""
    return Job.objects.filter(
        Q(state=Job.State.QUEUED) & (Q(not_before=None) | Q(not_before__lte=now))
        | Q(state=Job.State.RUNNING, heartbeat_at__lt=now - SILENCE)
    ).order_by("id")


def is_job_due(now: datetime) -> bool:
    """Whether the task `judgments.work_jobs` would find something to do."""
    return due_jobs(now).exists()


def get_job(*, access: Access, public_id: UUID) -> Job:
    """A job of the collection: one's own, or any if one leads it."""
    jobs = Job.objects.filter(collection=access.collection, public_id=public_id)
    if not (access.is_lead or access.is_admin):
        jobs = jobs.filter(created_by=access.user)
    job = jobs.first()
    if job is None:
        raise NotFound("job")
    return job
