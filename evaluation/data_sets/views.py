"""Pages of data sets: all of them, a new one, one with its time line."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.data_sets.forms import DataSetForm
from evaluation.data_sets.queries import (
    get_data_set,
    get_data_set_page,
    get_evaluation,
    list_data_sets,
)
from evaluation.data_sets.services import (
    register_data_set,
    retire_data_set,
    schedule_data_set,
    start_evaluation,
    stop_evaluation,
)
from evaluation.live_rankers.forms import ScheduleForm
from evaluation.live_rankers.schedules import ScheduleRefused
from evaluation.pages.rendering import render_page
from judgments.pages.refusing import RefusalsAsMessages
from judgments.pages.rendering import posted
from judgments.permissions import Access, NotFound, check_may_upload_runs, get_access
from touchstone.errors import DomainError


@require_safe
def data_sets(request: HttpRequest, slug: str) -> HttpResponse:
    """The data sets of a collection."""
    access = get_access(viewer=request.user, slug=slug)
    page = list_data_sets(access=access)
    return render_page(request, "data_sets", page, access=access, section="rankers")


@require_http_methods(["GET", "POST"])
def data_set_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Register a data set; its first files are read before it is."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    page = list_data_sets(access=access)
    form = DataSetForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            made = register_data_set(
                access=access,
                name=form.cleaned_data["name"],
                columns=form.to_columns(),
                at=timezone.now(),
            )
        except NotFound:
            raise
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"{made.name} registered. Evaluate it, or set a schedule.")
            return redirect("data-set", slug, made.slug)
    return render_page(
        request,
        "data_set_new",
        page,
        access=access,
        section="rankers",
        status=400 if form.errors else 200,
        form=form,
    )


@require_safe
def data_set(request: HttpRequest, slug: str, data_set_slug: str) -> HttpResponse:
    """A data set: the time line of a measure and a segment, and its evaluations."""
    access = get_access(viewer=request.user, slug=slug)
    return _render(request, access, data_set_slug)


@require_POST
def data_set_evaluate(request: HttpRequest, slug: str, data_set_slug: str) -> HttpResponse:
    """Begin an evaluation."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    own = get_data_set(access=access, slug=data_set_slug)
    with RefusalsAsMessages(request):
        start_evaluation(access=access, data_set=own, at=timezone.now())
    return redirect("data-set", slug, data_set_slug)


@require_POST
def data_set_stop(
    request: HttpRequest, slug: str, data_set_slug: str, public_id: UUID
) -> HttpResponse:
    """End an evaluation without figures."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    own = get_evaluation(access=access, slug=data_set_slug, public_id=public_id)
    with RefusalsAsMessages(request):
        stop_evaluation(access=access, evaluation=own, at=timezone.now())
        messages.success(request, "Evaluation stopped.")
    return redirect("data-set", slug, data_set_slug)


@require_POST
def data_set_schedule(request: HttpRequest, slug: str, data_set_slug: str) -> HttpResponse:
    """Other times at which evaluations begin."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    own = get_data_set(access=access, slug=data_set_slug)
    form = ScheduleForm(request.POST)
    if form.is_valid():
        try:
            schedule_data_set(access=access, data_set=own, at=timezone.now(), **form.cleaned_data)
        except ScheduleRefused as error:
            form.add_error(error.field, error.message)
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Schedule saved.")
            return redirect("data-set", slug, data_set_slug)
    return _render(request, access, data_set_slug, form)


@require_POST
def data_set_retire(request: HttpRequest, slug: str, data_set_slug: str) -> HttpResponse:
    """Evaluate a data set no more."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    own = get_data_set(access=access, slug=data_set_slug)
    with RefusalsAsMessages(request):
        retire_data_set(access=access, data_set=own, at=timezone.now())
        messages.success(request, f"{own.name} retired. Its figures stay at this address.")
    return redirect("data-sets", slug)


def _render(
    request: HttpRequest, access: Access, slug: str, form: ScheduleForm | None = None
) -> HttpResponse:
    page = get_data_set_page(
        access=access,
        slug=slug,
        measure=request.GET.get("measure", ""),
        segment=request.GET.get("segment", ""),
    )
    schedule = {"cron": page.data_set.cron, "time_zone": page.data_set.time_zone}
    return render_page(
        request,
        "data_set",
        page,
        access=access,
        section="rankers",
        status=400 if form is not None else 200,
        form=form or ScheduleForm(initial=schedule),
    )
