"""Reading jobs: their pages, and whether one waits for a worker."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet

from judgments.jobs.progress import in_this_process
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


def find_oldest_due_job(now: datetime) -> datetime | None:
    """When the job that waits longest was submitted."""
    job = due_jobs(now).first()
    return job.created_at if job else None


def get_job(*, access: Access, public_id: UUID) -> Job:
    """A job of the collection: one's own, or any if one leads it."""
    jobs = Job.objects.filter(collection=access.collection, public_id=public_id)
    if not (access.is_lead or access.is_admin):
        jobs = jobs.filter(created_by=access.user)
    job = jobs.first()
    if job is None:
        raise NotFound("job")
    return job


NO_WORKER = timedelta(seconds=10)
TITLES = {
    "import_queries": "Upload of queries",
    "import_documents": "Upload of documents",
    "import_qrels": "Import of qrels",
    "import_run": "Upload of a run",
    "import_labels": "Import of labels",
    "import_pictures": "Upload of pictures",
    "find_pictures": "Looking for pictures in documents",
    "fetch_pictures": "Fetching pictures",
    "grade_by_machine": "Grading by a machine judge",
    "judge_pairs": "Labelling by a machine judge",
    "take_snapshot": "Snapshot of a live ranker",
    "import_vectors": "Import of query vectors",
    "choose_rule": "Aggregating labels by a rule",
    "import_traffic": "Import of traffic",
    "import_clicks": "Import of clicks",
    "import_interleaving": "Import of an interleaving log",
    "grade_by_clicks": "Grading by clicks",
    "draw_sample": "Drawing a sample",
    "draw_for_people": "Drawing queries for people",
    "change_plan": "Aggregating labels by a changed plan",
}


@dataclass(frozen=True)
class Problem:
    """A broken rule as components/problems.html shows it."""

    where: str
    rule: str
    excerpt: str = ""


NAMED: Final = 9  # lines that have the same wrong with them, besides the first


@dataclass(frozen=True)
class JobPage:
    """How far a job is. share: of the file that has been read, or of the work, 0 to 1.

    message: why it failed. note: what to know of what it did.
    """

    title: str
    file_name: str
    state: str
    share: float
    message: str
    note: str
    problems: list[Problem]
    more_problems: int
    counts: list[tuple[str, int]]
    is_ended: bool
    lacks_worker: bool
    created_at: datetime

    @property
    def percent(self) -> int:
        return int(100 * self.share)


def show_job(job: Job, now: datetime) -> JobPage:
    """The job as its page shows it."""
    problems = gathered((one["line"], one["message"]) for one in job.problems)
    return JobPage(
        title=TITLES.get(job.kind, "Background job"),
        file_name=job.file_name,
        state=Job.State(job.state).label,
        share=_share(job),
        message=str(job.result.get("message", "")),
        note=" ".join(filter(None, (job.result.get("note"), *job.result.get("remarks", ())))),
        problems=problems,
        more_problems=int(job.result.get("problem_count", 0)) - len(job.problems),
        counts=_counts(job.result),
        is_ended=job.state in (Job.State.DONE, Job.State.FAILED),
        lacks_worker=job.state == Job.State.QUEUED
        and now - max(job.created_at, job.not_before or job.created_at) > NO_WORKER,
        created_at=job.created_at,
    )


def gathered(found: Iterable[tuple[int, str]]) -> list[Problem]:
    """Broken rules as they are shown: what is said of many lines is said once, with the lines.

    found: the line and what is wrong with it, in the order of the file.
    """
    lines: dict[str, list[int]] = {}
    for line, message in found:
        lines.setdefault(message, []).append(line)
    return [_problem(of, message) for message, of in lines.items()]


def _problem(lines: list[int], message: str) -> Problem:
    first, *others = lines
    if not others:
        return Problem(where=f"line {first}", rule=message)
    named = ", ".join(str(line) for line in others[:NAMED])
    more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
    return Problem(
        where=f"{len(lines)} lines", rule=f"{message.rstrip('.')}. Lines {first}, {named}{more}."
    )


def _share(job: Job) -> float:
    if job.state == Job.State.DONE:
        return 1.0
    done = max(job.done_units, in_this_process.get(job.pk, 0))
    # all read is not yet all written
    return min(done / job.total_units, 0.99) if job.total_units else 0.0


def _counts(result: dict[str, Any]) -> list[tuple[str, int]]:
    """The whole numbers of a result, "new_queries" as "new queries"."""
    return [
        (name.replace("_", " "), value)
        for name, value in result.items()
        if type(value) is int and name != "problem_count"
    ]
