"""Runs: uploading one, looking at it query by query, taking it back."""

from functools import partial
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from evaluation.diagnosis.query_page import get_run_query_page
from evaluation.diagnosis.query_results import get_query_results_page
from evaluation.diagnosis.run_page import get_run_page
from evaluation.diagnosis.selection import RunFilters
from evaluation.pages.rendering import answer_page
from judgments.models import SetLook
from judgments.pages.paging import paged
from judgments.permissions import get_access


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
