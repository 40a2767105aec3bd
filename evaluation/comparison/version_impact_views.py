"""What another version of a list did to runs."""

from functools import partial
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from evaluation.comparison.version_impact import get_effect, get_run_moves
from evaluation.pages.rendering import answer_page
from judgments.lists.queries import HEAD
from judgments.models import SetLook
from judgments.pages.paging import paged
from judgments.permissions import get_access, may_see_people
from judgments.rate_limits import costly

QUERIES_SHOWN: Final = 20  # on a page


@costly
@require_safe
def effect(
    request: HttpRequest, slug: str, list_slug: str, before: str, after: str
) -> HttpResponse:
    """How far every run moved between two versions; a part of the pages of both."""
    access = get_access(viewer=request.user, slug=slug)
    page = partial(get_effect, access=access, slug=list_slug, before=before, after=after)
    return answer_page(
        request,
        "effect",
        lambda: page(measure=request.GET.get("measure", "")),
        lambda: page(measure=""),
        access=access,
        section="leaderboard",
        part="_effect",
    )


@costly
@require_safe
def run_moves(request: HttpRequest, slug: str, public_id: UUID) -> HttpResponse:
    """Why a run's value changed: the queries, and the grades that moved them."""
    access = get_access(viewer=request.user, slug=slug)
    page = partial(
        get_run_moves,
        access=access,
        public_id=public_id,
        slug=request.GET.get("list", ""),
        before=request.GET.get("before", ""),
        after=request.GET.get("after", "") or HEAD,
        measure=request.GET.get("measure", ""),
        cut=paged(request.GET.get("page", ""), QUERIES_SHOWN),
        saved_set=request.GET.get("set", ""),
        side=request.GET.get("side", ""),
    )
    return answer_page(
        request,
        "run_moves",
        page,
        lambda: None,
        access=access,
        section="leaderboard",
        look=SetLook.Page.MOVES,
        shows_people=may_see_people(access),
    )
