"""How stable an order of runs is."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from evaluation.pages.rendering import answer_page
from evaluation.runs.choices import list_choices
from evaluation.runs.selection import RunsFilters, runs_filters_of
from evaluation.stability.queries import get_order_stability
from evaluation.stability.services import enqueue
from judgments.models import SetLook
from judgments.permissions import get_access
from judgments.rate_limits import costly


@costly
@never_cache
@require_safe
def stability(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The order of some runs, or of a leaderboard, among other queries and labels.

    A part of a comparison's page too, so that both are one look at a held-out set.
    """
    access = get_access(viewer=request.user, slug=slug)

    def page(filters: RunsFilters) -> dict[str, Any]:
        result = get_order_stability(access=access, slug=list_slug, filters=filters)
        enqueue(result)
        order = result.order
        choices = list_choices(judgment_list=order.list, version=order.version, asked=order.asked)
        return {"page": result, "stability": result, "choices": choices}

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
