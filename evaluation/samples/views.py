"""The estimates of a list's runs from its samples."""

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from evaluation.pages.rendering import answer_page
from evaluation.runs.choices import list_run_options, offered_measures
from evaluation.samples.planning import PlanFilters, get_plan_page
from evaluation.samples.services import count_as_without_results
from judgments.permissions import get_access
from judgments.rate_limits import costly
from judgments.samples.designs import PER_SEARCH
from judgments.samples.queries import get_plan
from judgments.samples.services import SampleRefused


@costly
@require_safe
def plan_sample(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """What a detectable difference, or a month's labels, takes of a sample."""
    access = get_access(viewer=request.user, slug=slug)

    def page(filters: PlanFilters) -> dict[str, Any]:
        result = get_plan_page(access=access, slug=list_slug, filters=filters, now=timezone.now())
        names = [one.name for one in result.compared]
        return {
            "page": result,
            "currency": settings.CURRENCY,
            "options": list_run_options(access=access, chosen=names),
            "measures": offered_measures(result.list, result.asked_measure),
        }

    asked = request.GET
    filters = PlanFilters(
        frame=asked.get("frame", ""),
        cuts=asked.get("cuts"),
        measure=asked.get("measure", ""),
        runs=tuple(name for name in asked.getlist("runs") if name.strip()),
        target=asked.get("target", PER_SEARCH),
        cost=asked.get("cost", "").strip(),
        price=asked.get("price", "").strip(),
        difference=asked.get("difference", "").strip(),
        labels=asked.get("labels", "").strip(),
    )
    return answer_page(
        request,
        "plan_sample",
        lambda: page(filters),
        lambda: page(PlanFilters()),
        access=access,
        section="leaderboard",
    )


@require_POST
def sample_zero_results(
    request: HttpRequest, slug: str, list_slug: str, number: int
) -> HttpResponse:
    """Count the drawn queries for which no run has a document as queries without results."""
    access = get_access(viewer=request.user, slug=slug)
    plan = get_plan(access=access, list_slug=list_slug, number=number)
    try:
        count = count_as_without_results(access=access, plan=plan, at=timezone.now())
    except SampleRefused as error:
        messages.error(request, error.message)
    else:
        one = "1 query counts" if count == 1 else f"{count:,} queries count"
        messages.success(request, f"{one} as without results. Estimates are being recomputed.")
    address = reverse("estimates", args=[slug, list_slug])
    return redirect(f"{address}?{urlencode({'sample': number})}")
