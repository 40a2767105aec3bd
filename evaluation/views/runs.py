"""Runs: uploading one, looking at it query by query, taking it back."""

import time
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.forms.runs import RunForm
from evaluation.selectors.pages_query_results import get_query_results_page
from evaluation.selectors.pages_rankers import list_ranker_choices
from evaluation.selectors.pages_run_query import get_run_query_page
from evaluation.selectors.pages_runs import get_run_page
from evaluation.selectors.run_files import MEDIA_TYPE, file_name_of, write_run
from evaluation.selectors.run_views import RunFilters
from evaluation.selectors.runs import get_run
from evaluation.services.runs import withdraw_run
from evaluation.views.rendering import answer_page, render_page
from judgments.models import Job, SetLook
from judgments.permissions import Access, NotFound, check_may_upload_runs, get_access
from judgments.rest.uploads import takes_file
from judgments.selectors.paging import paged
from judgments.services.jobs import submit_job
from judgments.views.rendering import sent
from touchstone.errors import DomainError
from touchstone.measures.wording import answers_words

SMALL: Final = 4 * 1024 * 1024  # bytes: a run that is read in about a second
STEP: Final = 0.05  # seconds between two looks at a small job
TO_BEGIN: Final = 0.4  # seconds; by then an idle worker has the job
TO_END: Final = 2.0


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
def run(request: HttpRequest, slug: str, public_id: UUID) -> HttpResponse:
    """A run, and every query's value in it."""
    access = get_access(viewer=request.user, slug=slug)
    page = partial(get_run_page, access=access, public_id=public_id)
    return answer_page(
        request,
        "run",
        lambda: page(filters=filters_of(request.GET), cut=paged(request.GET.get("page", ""))),
        lambda: page(filters=RunFilters(), cut=paged("")),
        access=access,
        section="rankers",
        look=SetLook.Page.RUN,
    )


@require_safe
def run_query(request: HttpRequest, slug: str, public_id: UUID, qid: str) -> HttpResponse:
    """What a run returned for one query, and what each rank is worth."""
    access = get_access(viewer=request.user, slug=slug)
    page = partial(get_run_query_page, access=access, public_id=public_id, qid=qid)
    return answer_page(
        request,
        "run_query",
        lambda: page(
            filters=filters_of(request.GET),
            page=request.GET.get("page", ""),
            whole=request.GET.get("ranks") == "all",
        ),
        lambda: page(filters=RunFilters(), page=""),
        access=access,
        section="rankers",
    )


@require_safe
def run_file(request: HttpRequest, slug: str, public_id: UUID) -> StreamingHttpResponse:
    """A run as a TREC file."""
    access = get_access(viewer=request.user, slug=slug)
    found = get_run(access=access, public_id=public_id)
    response = StreamingHttpResponse(write_run(run=found), content_type=MEDIA_TYPE)
    response["Content-Disposition"] = content_disposition_header(True, file_name_of(found))
    return response


@require_POST
def run_withdraw(request: HttpRequest, slug: str, public_id: UUID) -> HttpResponse:
    """Take a run off every leaderboard."""
    access = get_access(viewer=request.user, slug=slug)
    found = get_run(access=access, public_id=public_id)
    try:
        withdraw_run(access=access, run=found, at=timezone.now())
    except NotFound:
        raise
    except DomainError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{found.name} is withdrawn.")
    return redirect("ranker", slug, found.ranker.slug)


def filters_of(parameters: QueryDict) -> RunFilters:
    """What an address asks for."""
    return RunFilters(
        list_slug=parameters.get("list", ""),
        version=parameters.get("version", "").strip(),
        measure=" ".join(parameters.getlist("measures")).strip() or parameters.get("measure", ""),
        segment=parameters.get("segment", ""),
        set=parameters.get("set", ""),
        sort=parameters.get("sort", ""),
    )


def _submit(access: Access, data: dict[str, Any]) -> Job:
    upload = reverse("run-upload", args=[access.collection.slug])
    return submit_job(
        access=access,
        kind="import_run",
        file=data["file"],
        params={
            "ranker": data["ranker"],
            "name": data["name"],
            "create": data["create"],
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
    if result["created"]:
        messages.success(request, f"{name} is uploaded.{f' It {told}.' if told else ''}")
    else:
        messages.info(request, job.result["note"])
    return redirect(job.result["next_url"])


@require_safe
def query_results(request: HttpRequest, slug: str, qid: str) -> HttpResponse:
    """What every ranker shows for one query, side by side."""
    access = get_access(viewer=request.user, slug=slug)
    asked = {name: request.GET.get(name, "") for name in ("list", "version", "depth")}
    page = partial(
        get_query_results_page,
        access=access,
        qid=qid,
        list_slug=asked["list"],
        version=asked["version"],
    )
    runs = [own for own in request.GET.getlist("runs") if own]
    return answer_page(
        request,
        "query_results",
        lambda: page(runs=runs, depth=asked["depth"]),
        lambda: page(runs=[], depth=""),
        access=access,
        section="queries",
    )
