"""The estimates of a list's runs from its samples."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from evaluation.pages.rendering import answer_page
from evaluation.samples.queries import SampleFilters, get_estimates
from judgments.permissions import get_access


@never_cache
@require_safe
def estimates(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Every run's means per query and per search, estimated from a sample."""
    access = get_access(viewer=request.user, slug=slug)

    def page(filters: SampleFilters) -> Any:
        return get_estimates(access=access, slug=list_slug, filters=filters)

    asked = SampleFilters(request.GET.get("sample", ""), request.GET.get("measure", ""))
    return answer_page(
        request,
        "estimates",
        lambda: page(asked),
        lambda: page(SampleFilters()),
        access=access,
        section="leaderboard",
        part="_estimates",
    )
