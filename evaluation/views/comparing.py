"""Comparing runs."""

from functools import partial

from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from evaluation.selectors.compared_runs import RunsFilters
from evaluation.selectors.judge_next import asked_of
from evaluation.selectors.pages_compare import CompareFilters, get_compare_page
from evaluation.selectors.pages_judge_next import get_judge_next_page
from evaluation.selectors.pages_unjudged import get_unjudged_page
from evaluation.views.rendering import answer_page
from judgments.permissions import get_access
from judgments.selectors.lists import HEAD


@require_safe
def compare(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Two or more runs on a list: differences, how sure they are, and on which queries."""
    access = get_access(viewer=request.user, slug=slug)
    page = partial(get_compare_page, access=access, slug=list_slug)
    return answer_page(
        request,
        "compare",
        lambda: page(filters=filters_of(request.GET)),
        lambda: page(filters=CompareFilters()),
        access=access,
        section="leaderboard",
    )


@require_safe
def unjudged(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """What the documents that nobody has judged leave open."""
    access = get_access(viewer=request.user, slug=slug)
    asked = request.GET
    filters = RunsFilters(
        runs=tuple(name for name in asked.getlist("runs") if name.strip()),
        measure=asked.get("measure", ""),
        version=asked.get("version", "").strip() or HEAD,
        segment=asked.get("segment", ""),
    )
    page = partial(get_unjudged_page, access=access, slug=list_slug)
    return answer_page(
        request,
        "unjudged",
        lambda: page(filters=filters),
        lambda: page(filters=RunsFilters()),
        access=access,
        section="leaderboard",
    )


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
    )


def filters_of(parameters: QueryDict) -> CompareFilters:
    """What an address asks for."""
    return CompareFilters(
        runs=tuple(name for name in parameters.getlist("runs") if name.strip()),
        baseline=parameters.get("baseline", ""),
        against=parameters.get("against", ""),
        measure=parameters.get("measure", ""),
        version=parameters.get("version", "").strip() or HEAD,
        segment=parameters.get("segment", ""),
        test=parameters.get("test", "") or CompareFilters.test,
    )
