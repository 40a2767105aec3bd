"""Runs by the clicks of a log."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from evaluation.click_estimates.queries import MOST_K, USUAL_K, get_click_estimates
from evaluation.pages.rendering import render_page
from judgments.permissions import get_access
from judgments.rate_limits import costly


@costly
@require_safe
def click_rankers(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """What a log's clicks say of the newest run of every ranker."""
    access = get_access(viewer=request.user, slug=slug)
    asked = request.GET.get("k", "")
    k = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 4 else USUAL_K
    page = get_click_estimates(access=access, number=number, k=min(max(k, 1), MOST_K))
    chosen = next((row for row in page.runs if row.run == request.GET.get("run")), None)
    return render_page(
        request,
        "click_rankers",
        page,
        access=access,
        section="queries",
        chosen=chosen or (page.runs[0] if page.runs else None),
        most_k=MOST_K,
    )
