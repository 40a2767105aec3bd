"""Pages of comparisons of data sets: all of one, and the differences of one of them."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.data_set_comparisons.forms import ComparisonForm
from evaluation.data_set_comparisons.queries import (
    get_comparison,
    get_comparison_page,
    get_comparisons_page,
)
from evaluation.data_set_comparisons.services import start_comparison
from evaluation.data_sets.queries import get_data_set
from evaluation.data_sets.services import stop_evaluation
from evaluation.pages.rendering import render_page
from judgments.pages.refusing import RefusalsAsMessages
from judgments.pages.rendering import posted
from judgments.permissions import NotFound, check_may_upload_runs, get_access
from touchstone.errors import DomainError


@require_http_methods(["GET", "POST"])
def data_set_comparisons(request: HttpRequest, slug: str, data_set_slug: str) -> HttpResponse:
    """The comparisons of a data set, and a form for one more."""
    access = get_access(viewer=request.user, slug=slug)
    if request.method == "POST":
        check_may_upload_runs(access)
    page = get_comparisons_page(access=access, slug=data_set_slug)
    form = ComparisonForm(posted(request), others=page.others)
    if request.method == "POST" and form.is_valid():
        other = get_data_set(access=access, slug=form.cleaned_data["other"])
        try:
            made = start_comparison(
                access=access, data_set=page.data_set, other=other, at=timezone.now()
            )
        except NotFound:
            raise
        except DomainError as error:
            form.add_error("other", f"{error.message.rstrip('.')}.")
        else:
            return redirect("data-set-comparison", slug, data_set_slug, made.public_id)
    return render_page(
        request,
        "data_set_comparisons",
        page,
        access=access,
        section="rankers",
        status=400 if form.errors else 200,
        form=form,
    )


@require_safe
def data_set_comparison(
    request: HttpRequest, slug: str, data_set_slug: str, public_id: UUID
) -> HttpResponse:
    """The paired differences of two data sets, by day and segment."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_comparison_page(
        access=access,
        slug=data_set_slug,
        public_id=public_id,
        measure=request.GET.get("measure", ""),
    )
    return render_page(request, "data_set_comparison", page, access=access, section="rankers")


@require_POST
def data_set_comparison_stop(
    request: HttpRequest, slug: str, data_set_slug: str, public_id: UUID
) -> HttpResponse:
    """End a comparison without figures."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    own = get_comparison(access=access, slug=data_set_slug, public_id=public_id)
    with RefusalsAsMessages(request):
        stop_evaluation(access=access, evaluation=own, at=timezone.now())
        messages.success(request, "Comparison stopped.")
    return redirect("data-set-comparison", slug, data_set_slug, public_id)
