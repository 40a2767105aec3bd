"""What another version of a list did to runs."""

from functools import partial
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from evaluation.selectors.moves import get_effect, get_moves_page
from evaluation.views.rendering import is_part, render_page
from judgments.errors import DomainError
from judgments.permissions import NotFound, get_access
from judgments.selectors.lists import HEAD


@require_safe
def effect(
    request: HttpRequest, slug: str, list_slug: str, before: str, after: str
) -> HttpResponse:
    """How far every run moved between two versions; a part of the pages of both."""
    access = get_access(viewer=request.user, slug=slug)
    measure, refusal, status = request.GET.get("measure", ""), "", 200
    find = partial(get_effect, access=access, slug=list_slug, before=before, after=after)
    try:
        page = find(measure=measure)
    except NotFound:
        raise
    except DomainError as error:
        refusal, status = error.message, 400
        page = find(measure="")
    response = render_page(
        request,
        "_effect" if is_part(request) else "effect",
        page,
        access=access,
        section="leaderboard",
        status=status,
        refusal=refusal,
    )
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_safe
def run_moves(request: HttpRequest, slug: str, public_id: UUID) -> HttpResponse:
    """Why a run's value changed: the queries, and the grades that moved them."""
    access = get_access(viewer=request.user, slug=slug)
    after = request.GET.get("after", "") or HEAD
    try:
        page = get_moves_page(
            access=access,
            public_id=public_id,
            slug=request.GET.get("list", ""),
            before=request.GET.get("before", ""),
            after=after,
            measure=request.GET.get("measure", ""),
            page=request.GET.get("page", ""),
        )
    except NotFound:
        raise
    except DomainError as error:
        return render_page(
            request,
            "run_moves",
            access=access,
            section="leaderboard",
            status=400,
            refusal=error.message,
        )
    return render_page(request, "run_moves", page, access=access, section="leaderboard")
