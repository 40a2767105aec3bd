"""Runs: uploading one, its file, withdrawing it."""

import time
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.pages.rendering import render_page
from evaluation.rankings.files import MEDIA_TYPE, file_name_of, write_run
from evaluation.runs.forms import RunForm
from evaluation.runs.queries import get_run
from evaluation.runs.ranker_pages import list_ranker_choices
from evaluation.runs.services import withdraw_run
from judgments.jobs.services import submit_job
from judgments.models import Job
from judgments.pages.refusing import RefusalsAsMessages
from judgments.pages.rendering import sent
from judgments.permissions import Access, check_may_upload_runs, get_access
from judgments.rest.uploads import takes_file
from touchstone.measures.wording import answers_words


@takes_file
@require_http_methods(["GET", "POST"])
def run_upload(request: HttpRequest, slug: str) -> HttpResponse:
    """A run file, which a worker reads; the answer to a small one is the run itself."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    rankers = list_ranker_choices(access=access)
    chosen = {"ranker": request.GET.get("ranker", "")}
    form = RunForm(*sent(request), rankers=rankers, initial=chosen)
    if request.method == "POST" and form.is_valid():
        job = _submit(access, form.cleaned_data)
        if job.total_units <= SMALL:
            _wait(job)
        return _to_run(request, slug, job)
    return render_page(request, "run_upload", rankers, access=access, section="rankers", form=form)


@require_safe
def run_file(request: HttpRequest, slug: str, public_id: UUID) -> StreamingHttpResponse:
    """A run as a TREC file."""
    access = get_access(viewer=request.user, slug=slug)
    result = get_run(access=access, public_id=public_id)
    response = StreamingHttpResponse(write_run(run=result), content_type=MEDIA_TYPE)
    response["Content-Disposition"] = content_disposition_header(True, file_name_of(result))
    return response


@require_POST
def run_withdraw(request: HttpRequest, slug: str, public_id: UUID) -> HttpResponse:
    """Take a run off every leaderboard."""
    access = get_access(viewer=request.user, slug=slug)
    result = get_run(access=access, public_id=public_id)
    with RefusalsAsMessages(request):
        withdraw_run(access=access, run=result, at=timezone.now())
        messages.success(request, f"{result.name} withdrawn.")
    return redirect("ranker", slug, result.ranker.slug)


def _submit(access: Access, data: dict[str, Any]) -> Job:
    upload = reverse("run-upload", args=[access.collection.slug])
    return submit_job(
        access=access,
        kind="import_run",
        file=data["file"],
        params={
            "ranker": data["ranker"],
            "name": data["name"],
            **{field: data[field] for field in ("create", "parameters", "commit", "tags")},
            "order": "rank" if data["by_rank"] else "score",
            "retry_url": f"{upload}?ranker={data['ranker']}",
        },
        at=timezone.now(),
    )


def _wait(job: Job) -> None:
    """Until the job has ended, as long as that is soon: no page of progress for a blink."""
    begun = time.monotonic()
    while job.state in (Job.State.QUEUED, Job.State.RUNNING):
        patience = TO_BEGIN if job.state == Job.State.QUEUED else TO_END
        if time.monotonic() - begun > patience:
            return
        time.sleep(STEP)
        job.refresh_from_db(fields=["state", "result"])


def _to_run(request: HttpRequest, slug: str, job: Job) -> HttpResponse:
    """On to the run where it is there, else to the job, which says what it waits for."""
    if job.state != Job.State.DONE:
        return redirect("job", slug, job.public_id)
    name, result = job.params["name"], job.result
    told = answers_words(result["queries"], result["collection_queries"])
    remarks = " ".join(("", *result["remarks"]))
    if result["created"]:
        messages.success(request, f"{name} uploaded.{f' It {told}.' if told else ''}{remarks}")
    else:
        messages.info(request, f"{result['note']}{remarks}")
    return redirect(*job.result["next_page"])


SMALL: Final = 4 * 1024 * 1024  # bytes: a run that is read in about a second


STEP: Final = 0.05  # seconds between two looks at a small job


TO_BEGIN: Final = 0.4  # seconds; by then an idle worker has the job


TO_END: Final = 2.0
