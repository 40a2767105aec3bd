"""Comparing runs."""

from functools import partial
from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from evaluation.selectors.compared_runs import RunsFilters, runs_filters_of
from evaluation.selectors.judge_next import asked_of
from evaluation.selectors.pages_compare import CompareFilters, ComparePage, get_compare_page
from evaluation.selectors.pages_judge_next import get_judge_next_page
from evaluation.selectors.pages_moved import get_moved_page
from evaluation.selectors.pages_unjudged import get_unjudged_page
from evaluation.services.leaderboards import choose_test
from evaluation.services.stability import announce
from evaluation.views.rendering import answer_page
from judgments.models import SetLook
from judgments.permissions import check_may_lead, get_access
from judgments.rates import costly
from judgments.selectors.lists import get_list
from judgments.selectors.paging import paged
from touchstone.errors import DomainError

QUERIES_SHOWN: Final = 10  # on a page of documents that moved


@costly
@require_safe
def compare(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Two or more runs on a list: differences, how sure they are, and on which queries."""
    access = get_access(viewer=request.user, slug=slug)

    def page(filters: CompareFilters) -> ComparePage:
        found = get_compare_page(access=access, slug=list_slug, filters=filters)
        announce(found.stability)
        return found

    return answer_page(
        request,
        "compare",
        lambda: page(filters_of(request.GET)),
        lambda: page(CompareFilters()),
        access=access,
        section="leaderboard",
        look=SetLook.Page.COMPARISON,
    )


@costly
@require_safe
def moved(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The documents that moved between two runs, query by query."""
    access = get_access(viewer=request.user, slug=slug)
    page = partial(
        get_moved_page,
        access=access,
        slug=list_slug,
        filters=runs_filters_of(request.GET),
        cut=paged(request.GET.get("page", ""), QUERIES_SHOWN),
    )
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
        messages.success(request, "Runs on this list are compared by this test from now on.")
    return redirect("compare", slug, list_slug)


@costly
@require_safe
def unjudged(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """What the documents that nobody has judged leave open."""
    access = get_access(viewer=request.user, slug=slug)
    page = partial(get_unjudged_page, access=access, slug=list_slug)
    return answer_page(
        request,
        "unjudged",
        lambda: page(filters=runs_filters_of(request.GET)),
        lambda: page(filters=RunsFilters()),
        access=access,
        section="leaderboard",
        look=SetLook.Page.UNJUDGED,
    )


@costly
@require_safe
def judge_next(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The pairs whose labels could change most of what is said of some runs."""
    access = get_access(viewer=request.user, slug=slug)
    page = partial(get_judge_next_page, access=access, slug=list_slug)
    return answer_page(
        request,
        "judge_next",
        lambda: page(asked=asked_of(request.GET)),
        lambda: page(asked=None),
        access=access,
        section="leaderboard",
        look=SetLook.Page.JUDGE_NEXT,
    )


def filters_of(parameters: QueryDict) -> CompareFilters:
    """What an address asks for."""
    return CompareFilters(
        **vars(runs_filters_of(parameters)),
        baseline=parameters.get("baseline", ""),
        against=parameters.get("against", ""),
        test=parameters.get("test", ""),
    )
