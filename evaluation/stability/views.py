"""How stable an order of runs is."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from evaluation.pages.rendering import answer_page
from evaluation.runs.selection import RunsFilters, runs_filters_of
from evaluation.stability.pages import StabilityPage, get_stability_page
from evaluation.stability.services import announce
from judgments.models import SetLook
from judgments.pages.rates import costly
from judgments.permissions import get_access


@costly
@never_cache
@require_safe
def stability(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The order of some runs, or of a leaderboard, among other queries and labels.

    A part of a comparison's page too, so that both are one look at a held-out set.
    """
    access = get_access(viewer=request.user, slug=slug)

    def page(filters: RunsFilters) -> StabilityPage:
        found = get_stability_page(access=access, slug=list_slug, filters=filters)
        announce(found.stability)
        return found

    return answer_page(
        request,
        "stability",
        lambda: page(runs_filters_of(request.GET)),
        lambda: page(RunsFilters()),
        access=access,
        section="leaderboard",
        part="_stability",
        look=SetLook.Page.COMPARISON,
    )
