"""The Rosetta pages: every dialect's number for a run, and every dialect's order of a list."""

from collections.abc import Callable
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from evaluation.selectors.pages_rosetta import (
    ListRosettaPage,
    RosettaFilters,
    RunRosettaPage,
    get_list_rosetta_page,
    get_run_rosetta_page,
)
from evaluation.views.rendering import is_part, render_page
from judgments.errors import DomainError
from judgments.permissions import Access, NotFound, get_access


@require_safe
def run_rosetta(request: HttpRequest, slug: str, public_id: UUID) -> HttpResponse:
    """A run's nDCG as every tool would print it."""
    access = get_access(viewer=request.user, slug=slug)

    def page(filters: RosettaFilters) -> RunRosettaPage:
        return get_run_rosetta_page(access=access, public_id=public_id, filters=filters)

    return _answer(request, access, "run_rosetta", "rankers", page)


@require_safe
def list_rosetta(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The order of a list's runs under every preset; an open page asks on until all are there."""
    access = get_access(viewer=request.user, slug=slug)

    def page(filters: RosettaFilters) -> ListRosettaPage:
        return get_list_rosetta_page(access=access, slug=list_slug, filters=filters)

    template = "_orders" if is_part(request) else "list_rosetta"
    response = _answer(request, access, template, "leaderboard", page)
    patch_vary_headers(response, ["HX-Request"])
    return response


def filters_of(parameters: QueryDict) -> RosettaFilters:
    """What an address asks for."""
    return RosettaFilters(
        list_slug=parameters.get("list", ""),
        version=parameters.get("version", "").strip(),
        cutoff=parameters.get("k", ""),
    )


def _answer(
    request: HttpRequest,
    access: Access,
    template: str,
    section: str,
    page: Callable[[RosettaFilters], object],
) -> HttpResponse:
    """The page as asked for, or the usual one with what was wrong."""
    refusal, status = "", 200
    try:
        found = page(filters_of(request.GET))
    except NotFound:
        raise
    except DomainError as error:
        refusal, status = error.message, 400
        found = page(RosettaFilters())
    return render_page(
        request, template, found, access=access, section=section, status=status, refusal=refusal
    )
