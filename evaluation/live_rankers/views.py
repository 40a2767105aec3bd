"""Live rankers: how one is asked, its schedule, its snapshots."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.live_rankers.configuration import Configuration, ConfigurationRefused
from evaluation.live_rankers.forms import (
    ConfigurationForm,
    ScheduleForm,
    VectorsForm,
    initial_of,
    preset_choices,
    preset_configuration,
)
from evaluation.live_rankers.presets import PRESETS
from evaluation.live_rankers.queries import (
    LivePage,
    get_live_page,
    get_snapshot,
    get_snapshot_page,
)
from evaluation.live_rankers.schedules import ScheduleRefused
from evaluation.live_rankers.services import (
    configure,
    remove_secret,
    set_schedule,
    start_snapshot,
    stop_snapshot,
)
from evaluation.live_rankers.trying import Tried, try_query
from evaluation.live_rankers.vectors import submit_vectors
from evaluation.pages.rendering import render_page
from evaluation.runs.queries import get_ranker
from judgments.pages.refusing import RefusalsAsMessages
from judgments.pages.rendering import is_part, posted
from judgments.permissions import Access, NotFound, check_may_upload_runs, get_access
from judgments.rate_limits import costly
from judgments.rest.uploads import takes_file
from touchstone.errors import DomainError


@require_safe
def live_ranker(request: HttpRequest, slug: str, ranker_slug: str) -> HttpResponse:
    """How a ranker is asked, and its snapshots."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_live_page(access=access, slug=ranker_slug, page=request.GET.get("page", ""))
    return _render_live(request, access, page)


def _render_live(
    request: HttpRequest, access: Access, page: LivePage, form: ScheduleForm | None = None
) -> HttpResponse:
    source = page.source
    if form is None and source is not None:
        form = ScheduleForm(initial={"cron": source.cron, "time_zone": source.time_zone})
    return render_page(
        request,
        "live",
        page,
        access=access,
        section="rankers",
        status=400 if form is not None and form.errors else 200,
        form=form,
        presets=preset_choices(),
        vectors_form=VectorsForm(),
    )


@costly
@sensitive_post_parameters("secret")
@require_http_methods(["GET", "POST"])
def live_edit(request: HttpRequest, slug: str, ranker_slug: str) -> HttpResponse:
    """Another revision of how a ranker is asked; or one query, asked as the form says."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    page = get_live_page(access=access, slug=ranker_slug, page="")
    form = ConfigurationForm(posted(request), initial=_initial(request, page))
    tried = None
    if request.method == "POST" and form.is_valid():
        secret = form.cleaned_data["secret"]
        try:
            if "try" in request.POST:
                tried = _try(request, access, page, form, secret)
            else:
                revision = configure(
                    access=access,
                    ranker=page.ranker,
                    configuration=form.to_configuration(),
                    secret=secret,
                    at=timezone.now(),
                )
                messages.success(request, f"Saved. Revision {revision.number} is asked now.")
                return redirect("live", slug, ranker_slug)
        except ConfigurationRefused as error:
            form.add_error(error.field if error.field in form.fields else None, error.message)
        except NotFound:
            raise
        except DomainError as error:
            form.add_error(None, error.message)
    return render_page(
        request,
        "live_edit",
        page,
        access=access,
        section="rankers",
        form=form,
        tried=tried,
        try_qid=request.POST.get("qid", ""),
    )


def _initial(request: HttpRequest, page: LivePage) -> dict[str, object]:
    """The preset that is asked for; else the newest revision, else a preset to begin with."""
    preset = PRESETS.get(request.GET.get("preset", ""))
    if preset is None and page.configuration is not None:
        return initial_of(page.configuration)
    configuration: Configuration = preset_configuration(preset or PRESETS["http"])
    return initial_of(configuration)


def _try(
    request: HttpRequest, access: Access, page: LivePage, form: ConfigurationForm, secret: str
) -> Tried:
    return try_query(
        access=access,
        ranker=page.ranker,
        configuration=form.to_configuration(),
        secret=secret,
        qid=request.POST.get("qid", "").strip(),
    )


@require_POST
def live_schedule(request: HttpRequest, slug: str, ranker_slug: str) -> HttpResponse:
    """Other times at which snapshots begin."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    ranker = get_ranker(access=access, slug=ranker_slug)
    form = ScheduleForm(request.POST)
    if form.is_valid():
        try:
            set_schedule(
                access=access,
                ranker=ranker,
                cron=form.cleaned_data["cron"],
                time_zone=form.cleaned_data["time_zone"] or "UTC",
                at=timezone.now(),
            )
        except ScheduleRefused as error:
            form.add_error(error.field, error.message)
        else:
            messages.success(request, "Schedule saved.")
            return redirect("live", slug, ranker_slug)
    return _render_live(
        request, access, get_live_page(access=access, slug=ranker_slug, page=""), form
    )


@takes_file
@require_POST
def vectors_upload(request: HttpRequest, slug: str, ranker_slug: str) -> HttpResponse:
    """Vectors of the ranker's queries, which a worker imports."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    ranker = get_ranker(access=access, slug=ranker_slug)
    form = VectorsForm(request.POST, request.FILES)
    if not form.is_valid():
        messages.error(request, str(form.errors["file"][0]))
        return redirect("live", slug, ranker_slug)
    job = submit_vectors(
        access=access, ranker=ranker, file=form.cleaned_data["file"], at=timezone.now()
    )
    return redirect("job", slug, job.public_id)


@require_POST
def secret_remove(request: HttpRequest, slug: str, ranker_slug: str) -> HttpResponse:
    """Erase the stored secret."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    ranker = get_ranker(access=access, slug=ranker_slug)
    with RefusalsAsMessages(request):
        remove_secret(access=access, ranker=ranker, at=timezone.now())
        messages.success(request, "Secret removed.")
    return redirect("live", slug, ranker_slug)


@require_POST
def snapshot_start(request: HttpRequest, slug: str, ranker_slug: str) -> HttpResponse:
    """Ask all queries now."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    ranker = get_ranker(access=access, slug=ranker_slug)
    with RefusalsAsMessages(request):
        started = start_snapshot(access=access, ranker=ranker, at=timezone.now())
        return redirect("snapshot", slug, ranker_slug, started.public_id)
    return redirect("live", slug, ranker_slug)


@require_safe
def snapshot(request: HttpRequest, slug: str, ranker_slug: str, public_id: UUID) -> HttpResponse:
    """How far a snapshot is; then its outcomes."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_snapshot_page(
        access=access, slug=ranker_slug, public_id=public_id, page=request.GET.get("page", "")
    )
    template = "_snapshot" if is_part(request) else "snapshot"
    response = render_page(request, template, page, access=access, section="rankers")
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_POST
def snapshot_stop(
    request: HttpRequest, slug: str, ranker_slug: str, public_id: UUID
) -> HttpResponse:
    """Ask no more queries."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    result = get_snapshot(access=access, slug=ranker_slug, public_id=public_id)
    with RefusalsAsMessages(request):
        stop_snapshot(access=access, snapshot=result, at=timezone.now())
        messages.success(request, "Snapshot stopped.")
    return redirect("snapshot", slug, ranker_slug, public_id)
