"""The canaries of a data set."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from evaluation.canaries.services import CanaryRefused
from evaluation.data_set_canaries.forms import DataSetCanaryForm
from evaluation.data_set_canaries.queries import get_data_set_canaries, get_data_set_canary
from evaluation.data_set_canaries.services import (
    create_data_set_canary,
    retire_data_set_canary,
)
from evaluation.pages.rendering import render_page
from judgments.pages.refusing import RefusalsAsMessages
from judgments.pages.rendering import posted
from judgments.permissions import check_may_upload_runs, get_access


@require_http_methods(["GET", "POST"])
def data_set_canaries(request: HttpRequest, slug: str, data_set_slug: str) -> HttpResponse:
    """What is watched, what was found, and a form for more."""
    access = get_access(viewer=request.user, slug=slug)
    if request.method == "POST":
        check_may_upload_runs(access)
    page = get_data_set_canaries(access=access, slug=data_set_slug)
    form = DataSetCanaryForm(posted(request), page=page)
    if request.method == "POST" and form.is_valid():
        try:
            create_data_set_canary(
                access=access, data_set=page.data_set, at=timezone.now(), **form.to_canary()
            )
        except CanaryRefused as error:
            form.add_error(error.field, error.message)
        else:
            messages.success(request, "Canary created. It looks at the next evaluation.")
            return redirect("data-set-canaries", slug, data_set_slug)
    return render_page(
        request,
        "data_set_canaries",
        page,
        access=access,
        section="rankers",
        status=400 if form.errors else 200,
        form=form,
    )


@require_POST
def data_set_canary_retire(
    request: HttpRequest, slug: str, data_set_slug: str, canary_id: int
) -> HttpResponse:
    """Watch no more."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    canary = get_data_set_canary(access=access, slug=data_set_slug, canary_id=canary_id)
    with RefusalsAsMessages(request):
        retire_data_set_canary(access=access, canary=canary, at=timezone.now())
        messages.success(request, "Canary retired.")
    return redirect("data-set-canaries", slug, data_set_slug)
