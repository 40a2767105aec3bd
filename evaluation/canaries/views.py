"""The canaries of a live ranker."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from evaluation.canaries.forms import CanaryForm
from evaluation.canaries.page_parts import list_parts
from evaluation.canaries.queries import CanariesPage, get_canaries_page, get_canary
from evaluation.canaries.services import CanaryRefused, create_canary, retire_canary
from evaluation.models import Run
from evaluation.pages.rendering import render_page
from judgments.pages.rendering import posted
from judgments.permissions import Access, check_may_upload_runs, get_access


@require_http_methods(["GET", "POST"])
def canaries(request: HttpRequest, slug: str, ranker_slug: str) -> HttpResponse:
    """What is watched, its time line, and a form for more."""
    access = get_access(viewer=request.user, slug=slug)
    if request.method == "POST":
        check_may_upload_runs(access)
    page = get_canaries_page(access=access, slug=ranker_slug)
    form = CanaryForm(posted(request), page=page)
    if request.method == "POST" and form.is_valid():
        try:
            _create(access, page, form.cleaned_data)
        except CanaryRefused as error:
            form.add_error(error.field, error.message)
        else:
            messages.success(request, "Canary created. It looks at the next snapshot.")
            return redirect("canaries", slug, ranker_slug)
    return render_page(
        request,
        "canaries",
        page,
        access=access,
        section="rankers",
        status=400 if form.errors else 200,
        form=form,
        parts=list_parts(slug, ranker_slug),
    )


def _create(access: Access, page: CanariesPage, data: dict[str, Any]) -> None:
    chosen_sets = {one.slug: one for one in page.sets}
    create_canary(
        access=access,
        ranker=page.ranker,
        judgment_list=next(one for one in page.lists if one.slug == data["judgment_list"]),
        measure=data["measure"],
        saved_set=chosen_sets.get(data["saved_set"]),
        baseline=Run.objects.select_related("ranker").get(public_id=data["baseline"]),
        margin=data["margin"],
        coverage_margin=data["coverage_margin"] / 100,
        latency_limit=data["latency_limit"],
        in_a_row=data["in_a_row"],
        floor=data["floor"],
        rules=data["rules"].splitlines(),
        at=timezone.now(),
    )


@require_POST
def canary_retire(
    request: HttpRequest, slug: str, ranker_slug: str, canary_id: int
) -> HttpResponse:
    """Watch no more."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    canary = get_canary(access=access, slug=ranker_slug, canary_id=canary_id)
    try:
        retire_canary(access=access, canary=canary, at=timezone.now())
    except CanaryRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Canary retired.")
    return redirect("canaries", slug, ranker_slug)
