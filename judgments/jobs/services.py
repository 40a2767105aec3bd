"""Long work: submitted by a page, done by a worker, its state a row that anyone may ask for."""

import logging
import os
import subprocess
import sys
import uuid
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.core.files.base import File
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from judgments.jobs.heartbeats import ATTEMPTS, GAVE_UP, beating
from judgments.jobs.kinds import get_handler, is_heavy
from judgments.jobs.progress import in_this_process
from judgments.jobs.queries import due_jobs
from judgments.models import Collection, Job, User
from judgments.permissions import Access
from judgments.stopping import process_ends
from judgments.waking import wake
from touchstone.errors import DomainError, NotNow
from touchstone.files.errors import FileRefused

logger = logging.getLogger(__name__)

TASK = "judgments.work_jobs"
PULSE = 5.0
BACK_OFF = (5, 20, 60, 180)  # seconds before each further attempt
NOT_NOW = timedelta(seconds=10)
UPLOADS = 500  # cleared in one round
AT_ONCE = 100  # jobs that one wake-up does; the sweep wakes again


class JobLost(DomainError):
    """Another worker has taken the job over; what this one did must not count."""

    def __init__(self) -> None:
        super().__init__("job_lost", "Another worker has taken this job over.")


class Claim:
    """One worker's claim to one job; what the handler gets (see judgments.jobs.kinds.Work)."""

    def __init__(self, job: Job, token: uuid.UUID) -> None:
        self.job_id: int = job.pk
        self.kind: str = job.kind
        self.token = token
        self.collection_id: int = job.collection_id
        self.created_by_id: int | None = job.created_by_id
        self.params: dict[str, Any] = job.params
        self.file_name: str = job.file_name
        self._job = job
        self._own = Job.objects.filter(pk=job.pk, token=token, state=Job.State.RUNNING)
        self.finished = False

    def open(self) -> BinaryIO:
        return cast(BinaryIO, self._job.file.open("rb"))

    def progress(self, done: int) -> None:
        in_this_process[self.job_id] = done

    def finish(self, result: dict[str, Any]) -> None:
        self._end(Job.State.DONE, result=result, done_units=F("total_units"))
        self.finished = True

    def fail(self, message: str, problems: list[dict[str, Any]], total: int) -> None:
        result = {"message": message, "problem_count": total}
        self._end(Job.State.FAILED, result=result, problems=problems)

    def put_back(self, message: str) -> None:
        """After something that may pass: try again later, or give up after the last attempt."""
        if self._job.attempts >= ATTEMPTS:
            self.fail(message, [], 0)
            return
        wait = timedelta(seconds=BACK_OFF[self._job.attempts - 1])
        self._own.update(
            state=Job.State.QUEUED,
            token=None,
            heartbeat_at=None,
            not_before=timezone.now() + wait,
        )

    def put_off(self) -> None:
        """After a refusal for now: try again soon. That is no attempt, for nothing was wrong."""
        self._own.update(
            state=Job.State.QUEUED,
            token=None,
            heartbeat_at=None,
            not_before=timezone.now() + NOT_NOW,
            attempts=F("attempts") - 1,
        )

    def beat(self) -> None:
        done = in_this_process.get(self.job_id)  # none where another process does the job
        values = {} if done is None else {"done_units": done}
        self._own.update(heartbeat_at=timezone.now(), **values)

    def _end(self, state: str, **values: Any) -> None:
        if not self._own.update(state=state, finished_at=timezone.now(), **values):
            raise JobLost


def submit_job(
    *,
    access: Access,
    kind: str,
    file: "File[bytes] | None",
    params: dict[str, Any],
    at: datetime,
    units: int = 0,
) -> Job:
    """Queue long work and wake a worker. The caller has checked that the viewer may ask for it.

    units: of what the handler reports as done; of a file, its bytes.
    """
    return queue_job(
        collection=access.collection,
        by=access.user,
        kind=kind,
        file=file,
        params=params,
        at=at,
        units=units,
    )


def queue_job(
    *,
    collection: Collection,
    by: User | None,
    kind: str,
    at: datetime,
    params: dict[str, Any],
    file: "File[bytes] | None" = None,
    units: int = 0,
) -> Job:
    """As `submit_job`, for work that follows from other work. by: who began that."""
    get_handler(kind)
    with transaction.atomic():
        job = Job(
            collection=collection,
            kind=kind,
            params=params,
            created_at=at,
            created_by=by,
            total_units=units,
        )
        if file is not None:
            job.file_name = (file.name or "")[-255:]
            job.total_units = file.size
            # the uploader's file name never reaches the disk
            job.file.save(f"{job.public_id}", file, save=False)
        job.save()
        wake(TASK)
    return job


def work_jobs(*, spawn: bool = False) -> int:
    """Do all jobs that are due, one after the other, until the process was told to end; how many
    claims were taken.

    spawn: give heavy ones a process of their own.
    """
    claims = 0
    while claims < AT_ONCE and not process_ends.is_set():
        claim = _claim(timezone.now())
        if claim is None:
            break
        if spawn and is_heavy(claim.kind):
            _spawn(claim)
        else:
            _take(claim)
        claims += 1
    return claims


def work_claimed(job_id: int, token: uuid.UUID) -> None:
    """Do a job that another process has claimed for this one; nothing if the claim was lost."""
    job = Job.objects.filter(pk=job_id, token=token, state=Job.State.RUNNING).first()
    if job is not None:
        _take(Claim(job, token))


def _spawn(claim: Claim) -> None:
    """Do a job in a process of its own, and wait for it.

    So it shares neither the interpreter's lock with threads that answer pages, nor their priority.
    It ends with this process, when its standard input does.
    """
    command = [sys.executable, "-m", "judgments.jobs.child", str(claim.job_id), str(claim.token)]
    # clients of logs are compared by Python's hashes: under a key that ends with the process
    environment = os.environ | {"PYTHONHASHSEED": "random"}
    with (
        _beating(claim),
        subprocess.Popen(  # noqa: S603  (this project's own program)
            command, cwd=settings.BASE_DIR, env=environment, stdin=subprocess.PIPE
        ) as child,
    ):
        status = child.wait()
    if status:
        logger.error("the process of job %s ended with status %s", claim.job_id, status)
        claim.put_back("The process that did this job ended unexpectedly. See the server log.")


def _beating(claim: Claim) -> AbstractContextManager[None]:
    return beating(claim.beat, every=PULSE, name=f"job {claim.job_id}")


def _claim(now: datetime) -> Claim | None:
    """Take the oldest due job; the attempt is counted before the work, so crashing counts too."""
    for job in due_jobs(now)[:10]:
        token = uuid.uuid4()
        seen = Job.objects.filter(pk=job.pk, state=job.state, token=job.token)
        if job.attempts >= ATTEMPTS:
            seen.update(
                state=Job.State.FAILED,
                finished_at=now,
                result={"message": GAVE_UP, "problem_count": 0},
            )
            continue
        claimed = seen.update(
            state=Job.State.RUNNING,
            token=token,
            heartbeat_at=now,
            attempts=F("attempts") + 1,
            done_units=0,
        )
        if claimed:
            job.attempts += 1
            return Claim(job, token)
    return None


def _take(claim: Claim) -> None:
    try:
        with _beating(claim):
            get_handler(claim._job.kind)(claim)
        if not claim.finished:
            claim.finish({})
    except JobLost:
        logger.warning("job %s was taken over by another worker", claim.job_id)
        return
    except FileRefused as refusal:
        problems = [
            {"line": p.line, "column": p.column, "rule": p.rule, "message": p.message}
            for p in refusal.problems
        ]
        _fail(claim, refusal.message, problems, refusal.total)
    except NotNow:
        claim.put_off()
        return
    except DomainError as refusal:
        _fail(claim, refusal.message, [], 0)
    except Exception:
        logger.exception("job %s failed in attempt %s", claim.job_id, claim._job.attempts)
        claim.put_back("An unexpected error occurred. See the server log.")
        return
    finally:
        in_this_process.pop(claim.job_id, None)
    _forget_file(claim._job)


def _fail(claim: Claim, message: str, problems: list[dict[str, Any]], total: int) -> None:
    try:
        claim.fail(message, problems, total)
    except JobLost:
        logger.warning("job %s was taken over by another worker", claim.job_id)


def clear_uploads() -> int:
    """Delete what is left of uploads whose job has ended: it gave up, or was stopped meanwhile."""
    ended_qs = Job.objects.filter(state__in=(Job.State.DONE, Job.State.FAILED)).exclude(file="")
    left = list(ended_qs.order_by("pk")[:UPLOADS])
    for job in left:
        _forget_file(job)
    return len(left)


def _forget_file(job: Job) -> None:
    """An upload is not kept once its job has ended."""
    if job.file:
        job.file.close()
        job.file.delete(save=False)  # which empties the field
        Job.objects.filter(pk=job.pk).update(file="")
