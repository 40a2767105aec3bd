"""The estimates of a list's runs from its samples, with what machine judges add."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.corrected.drawing import request_draw
from evaluation.corrected.forms import DrawForm
from evaluation.corrected.planning import DrawFilters, get_draw_page
from evaluation.corrected.queries import get_estimates_and_corrections
from evaluation.evaluations.queries import FilterRefused
from evaluation.pages.rendering import answer_page, render_page
from evaluation.samples.queries import SampleFilters
from judgments.pages.rendering import posted
from judgments.permissions import get_access
from judgments.versions.click_grades import count_click_grades
from judgments.versions.machine_grades import count_machine_grades
from judgments.versions.takes import takes_at
from touchstone.errors import DomainError


@never_cache
@require_safe
def estimates(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Every run's means, estimated from a sample and corrected by machine judges."""
    access = get_access(viewer=request.user, slug=slug)

    def page(filters: SampleFilters) -> dict[str, Any]:
        result = get_estimates_and_corrections(access=access, slug=list_slug, filters=filters)
        shown = {"list_id": result.list.pk, "version": result.list.head}
        clicks, machines = count_click_grades(**shown), count_machine_grades(**shown)
        own = {"click_grades": clicks, "machine_grades": machines}
        return {"page": result, "grades_from": takes_at(**shown), **own}

    asked = SampleFilters(
        request.GET.get("sample", ""),
        request.GET.get("measure", ""),
        request.GET.get("post_stratified") == "true",
    )
    return answer_page(
        request,
        "estimates",
        lambda: page(asked),
        lambda: page(SampleFilters()),
        access=access,
        section="leaderboard",
        part="_estimates",
    )


@require_http_methods(["GET", "POST"])
def draw_for_people(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """How many queries people judge for an interval, and drawing them."""
    access = get_access(viewer=request.user, slug=slug)
    problem = ""
    try:
        filters = DrawFilters(request.GET.get("judge", ""), request.GET.get("half", "").strip())
        page = get_draw_page(access=access, slug=list_slug, filters=filters)
    except FilterRefused as error:
        problem, page = error.message, get_draw_page(access=access, slug=list_slug)
    form = DrawForm(posted(request), wanted=page.n)
    if request.method == "POST" and page.source and form.is_valid():
        try:
            job = request_draw(
                access=access,
                judgment_list=page.list,
                key=page.source.key,
                n=form.cleaned_data["n"],
                seed=form.cleaned_data["seed"],
                at=timezone.now(),
            )
        except DomainError as error:
            form.add_error("n", error.message)
        else:
            return redirect("job", slug, job.public_id)
    return render_page(
        request,
        "draw_for_people",
        page,
        access=access,
        section="leaderboard",
        status=400 if problem else 200,
        form=form,
        refusal=problem,
    )
