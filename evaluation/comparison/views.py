"""Comparing runs."""

from dataclasses import replace
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from evaluation.comparison.queries import CompareFilters, get_comparison
from evaluation.comparison.rank_changes import get_moved_documents
from evaluation.comparison.significance import (
    CORRECTIONS,
    SignificanceGroups,
    get_significance_groups,
)
from evaluation.comparison.significance_files import DOWNLOADS
from evaluation.comparison.unjudged import get_open_values
from evaluation.evaluations.measure_set_services import choose_test
from evaluation.pages.rendering import answer_page
from evaluation.runs.choices import list_choices, list_run_options
from evaluation.runs.selection import ChosenRuns, RunsFilters, runs_filters_of
from evaluation.set_looks.services import count_look
from evaluation.stability.queries import get_stability_of
from evaluation.stability.services import enqueue
from judgments.lists.changed_documents import count_changed
from judgments.lists.queries import get_list
from judgments.models import SetLook
from judgments.pages.downloads import as_download
from judgments.pages.paging import paged
from judgments.permissions import Access, NotFound, check_may_lead, get_access
from judgments.rate_limits import costly
from judgments.samples.origins import find_origins
from judgments.versions.click_grades import count_click_grades
from judgments.versions.machine_grades import count_machine_grades
from judgments.versions.takes import takes_at
from touchstone.errors import DomainError
from touchstone.files.parquet import can_write_parquet
from touchstone.statistics.named_tests import TESTS

VALUES_FILES: Final = {"csv": "CSV"} | ({"parquet": "Parquet"} if can_write_parquet() else {})
QUERIES_SHOWN: Final = 10  # on a page of documents that moved


@costly
@require_safe
def compare(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Two or more runs on a list: differences, how sure they are, and on which queries."""
    access = get_access(viewer=request.user, slug=slug)

    def page(filters: CompareFilters) -> dict[str, Any]:
        result = get_comparison(access=access, slug=list_slug, filters=filters)
        stability = get_stability_of(result.chosen)
        enqueue(stability)
        pinned = result.baseline.name if filters.baseline and result.baseline else ""
        origins = find_origins(judgment_list=result.chosen.list) if result.chosen.is_head else None
        more = {"stability": stability, "asked": filters, "pinned": pinned, "origins": origins}
        shown = {"list_id": result.chosen.list.pk, "version": result.chosen.version}
        clicks, machines = count_click_grades(**shown), count_machine_grades(**shown)
        more |= {"click_grades": clicks, "machine_grades": machines}
        more["grades_from"] = takes_at(**shown)
        if result.chosen.is_head:
            more["changed"] = count_changed(result.chosen.list)
        return {"page": result, **_choices(access, result.chosen), **more}

    return answer_page(
        request,
        "compare",
        lambda: page(filters_of(request.GET)),
        lambda: page(CompareFilters()),
        access=access,
        section="leaderboard",
        look=SetLook.Page.COMPARISON,
        tests=TESTS,
        values_files=VALUES_FILES,
    )


@costly
@require_safe
def moved(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The documents that moved between two runs, query by query."""
    access = get_access(viewer=request.user, slug=slug)

    def page() -> dict[str, Any]:
        result = get_moved_documents(
            access=access,
            slug=list_slug,
            filters=runs_filters_of(request.GET),
            cut=paged(request.GET.get("page", ""), QUERIES_SHOWN),
        )
        return {"page": result, **_choices(access, result.chosen)}

    return answer_page(
        request,
        "moved",
        page,
        lambda: None,
        access=access,
        section="leaderboard",
        look=SetLook.Page.DOCUMENTS,
    )


@costly
@require_safe
def groups(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Significance groups of the runs of the whole leaderboard."""
    access = get_access(viewer=request.user, slug=slug)

    def page(parameters: QueryDict) -> dict[str, Any]:
        result = _groups(access, list_slug, parameters)
        choices = list_choices(
            judgment_list=result.chosen.list,
            version=result.chosen.version,
            asked=result.chosen.asked,
        )
        return {"page": result, "choices": choices}

    return answer_page(
        request,
        "groups",
        lambda: page(request.GET),
        lambda: page(QueryDict()),
        access=access,
        section="leaderboard",
        look=SetLook.Page.COMPARISON,
        corrections=CORRECTIONS,
        files=DOWNLOADS.values(),
    )


@costly
@require_safe
def groups_file(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The same as a file."""
    access = get_access(viewer=request.user, slug=slug)
    form = DOWNLOADS.get(request.GET.get("format", ""))
    if form is None:
        raise NotFound("format")
    try:
        result = _groups(access, list_slug, request.GET)
    except NotFound:
        raise
    except DomainError as error:
        messages.error(request, error.message)
        return redirect("compare-groups", slug, list_slug)
    count_look(access=access, sets=result.sets, page=SetLook.Page.BOARD_FILE, at=timezone.now())
    name = f"{slug}-{list_slug}-{result.version}-groups.{form.extension}"
    return as_download(form.write(result), media_type=form.media_type, file_name=name)


def _groups(access: Access, list_slug: str, parameters: QueryDict) -> SignificanceGroups:
    return get_significance_groups(
        access=access,
        slug=list_slug,
        filters=replace(runs_filters_of(parameters), runs=()),
        correction=parameters.get("correction", ""),
    )


@costly
@require_POST
def compare_test(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Another test for the comparisons of a list."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    judgment_list = get_list(access=access, slug=list_slug)
    test = request.POST.get("test", "")
    try:
        choose_test(access=access, judgment_list=judgment_list, test=test, at=timezone.now())
    except DomainError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Test saved for this list.")
    return redirect("compare", slug, list_slug)


@costly
@require_safe
def unjudged(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """What the documents that no one has judged leave open."""
    access = get_access(viewer=request.user, slug=slug)

    def page(filters: RunsFilters) -> dict[str, Any]:
        result = get_open_values(access=access, slug=list_slug, filters=filters)
        return {"page": result, **_choices(access, result.chosen)}

    return answer_page(
        request,
        "unjudged",
        lambda: page(runs_filters_of(request.GET)),
        lambda: page(RunsFilters()),
        access=access,
        section="leaderboard",
        look=SetLook.Page.UNJUDGED,
    )


def _choices(access: Access, chosen: ChosenRuns) -> dict[str, Any]:
    names = [one.name for one in chosen.compared]
    return {
        "choices": list_choices(
            judgment_list=chosen.list, version=chosen.version, asked=chosen.asked
        ),
        "options": list_run_options(access=access, chosen=names),
    }


def filters_of(parameters: QueryDict) -> CompareFilters:
    """What an address asks for."""
    return CompareFilters(
        **vars(runs_filters_of(parameters)),
        baseline=parameters.get("baseline", ""),
        against=parameters.get("against", ""),
        test=parameters.get("test", ""),
    )
