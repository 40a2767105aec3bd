"""What Celery runs; each a thin cover over one service."""

from celery import shared_task
from django.utils import timezone

from judgments.accounts.expired_sessions import clear_sessions
from judgments.accounts.retention import TASK as CLEAR_OLD
from judgments.accounts.retention import clear_old
from judgments.audit.seals import TASK as SEAL_AUDIT
from judgments.audit.seals import seal_entries
from judgments.jobs.services import TASK, work_jobs
from judgments.messages.sending import send_due
from judgments.messages.services import TASK as SEND_MESSAGES
from judgments.versions.parts import TASK as TAKE_BACK
from judgments.versions.parts import take_back


@shared_task(name=TASK, ignore_result=True)
def work_jobs_task() -> None:
    """Do the long jobs that are due."""
    work_jobs(spawn=True)


@shared_task(name=TAKE_BACK, ignore_result=True)
def take_back_rows(list_id: int) -> None:
    """Delete what an import that was killed left in a list."""
    take_back(list_id)


@shared_task(name="judgments.clear_sessions", ignore_result=True)
def clear_expired_sessions() -> None:
    """Delete sessions that have expired."""
    clear_sessions(at=timezone.now())


@shared_task(name=CLEAR_OLD, ignore_result=True)
def clear_old_records() -> None:
    """Delete what is kept for a time only."""
    clear_old(at=timezone.now())


@shared_task(name=SEAL_AUDIT, ignore_result=True)
def seal_audit(after: int) -> None:
    """Seal what was written to the audit log since this seal."""
    seal_entries(after=after, at=timezone.now())


@shared_task(name=SEND_MESSAGES, ignore_result=True)
def send_messages() -> None:
    """Send what is due in the outbox."""
    send_due(clock=timezone.now)
