"""What Celery runs; each a thin cover over one service."""

from celery import shared_task

from judgments.services.jobs import TASK, work_jobs


@shared_task(name=TASK, ignore_result=True)
def work_jobs_task() -> None:
    """Do the long jobs that are due."""
    work_jobs()
