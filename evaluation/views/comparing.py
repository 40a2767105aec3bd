"""Comparing runs."""

from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from evaluation.selectors.judge_next import asked_of
from evaluation.selectors.pages_compare import CompareFilters, get_compare_page
from evaluation.selectors.pages_judge_next import get_judge_next_page
from evaluation.selectors.pages_unjudged import UnjudgedFilters, get_unjudged_page
from evaluation.views.rendering import render_page
from judgments.errors import DomainError
from judgments.permissions import NotFound, get_access
from judgments.selectors.lists import HEAD


@require_safe
def compare(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Two or more runs on a list: differences, how sure they are, and on which queries."""
    access = get_access(viewer=request.user, slug=slug)
    refusal, status = "", 200
    try:
        page = get_compare_page(access=access, slug=list_slug, filters=filters_of(request.GET))
    except NotFound:
        raise
    except DomainError as error:
        refusal, status = error.message, 400
        page = get_compare_page(access=access, slug=list_slug, filters=CompareFilters())
    return render_page(
        request,
        "compare",
        page,
        access=access,
        section="leaderboard",
        status=status,
        refusal=refusal,
    )


@require_safe
def unjudged(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """What the documents that nobody has judged leave open."""
    access = get_access(viewer=request.user, slug=slug)
    asked = request.GET
    filters = UnjudgedFilters(
        runs=tuple(name for name in asked.getlist("runs") if name.strip()),
        measure=asked.get("measure", ""),
        version=asked.get("version", "").strip() or HEAD,
        segment=asked.get("segment", ""),
    )
    refusal, status = "", 200
    try:
        page = get_unjudged_page(access=access, slug=list_slug, filters=filters)
    except NotFound:
        raise
    except DomainError as error:
        refusal, status = error.message, 400
        page = get_unjudged_page(access=access, slug=list_slug, filters=UnjudgedFilters())
    return render_page(
        request,
        "unjudged",
        page,
        access=access,
        section="leaderboard",
        status=status,
        refusal=refusal,
    )


@require_safe
def judge_next(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The pairs whose labels could change most of what is said of some runs."""
    access = get_access(viewer=request.user, slug=slug)
    refusal, status = "", 200
    try:
        asked = asked_of(request.GET)
        page = get_judge_next_page(access=access, slug=list_slug, asked=asked)
    except NotFound:
        raise
    except DomainError as error:
        refusal, status = error.message, 400
        page = get_judge_next_page(access=access, slug=list_slug, asked=None)
    return render_page(
        request,
        "judge_next",
        page,
        access=access,
        section="leaderboard",
        status=status,
        refusal=refusal,
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
