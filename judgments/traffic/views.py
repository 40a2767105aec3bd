"""Traffic logs: importing one, and how concentrated it is."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from judgments.jobs.services import submit_job
from judgments.pages.rendering import render_page, sent
from judgments.permissions import NotFound, check_may_lead, get_access
from judgments.rest.uploads import takes_file
from judgments.traffic.forms import TrafficForm
from judgments.traffic.queries import get_frame, get_frame_page, get_traffic_page
from judgments.traffic.services import TrafficRefused, delete_queries
from touchstone.files.table_preview import HEAD, preview_file
from touchstone.sampling.traffic import TRAFFIC_PARTS


@require_safe
def traffic(request: HttpRequest, slug: str) -> HttpResponse:
    """The collection's traffic logs, and the samples drawn of them."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_traffic_page(access=access)
    return render_page(request, "traffic", page, access=access, section="queries")


@takes_file
@require_http_methods(["GET", "POST"])
def traffic_upload(request: HttpRequest, slug: str) -> HttpResponse:
    """A traffic log, which a worker reads."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    form = TrafficForm(*sent(request))
    if request.method == "POST" and form.is_valid():
        names, parts = request.POST.getlist("column"), request.POST.getlist("part")
        job = submit_job(
            access=access,
            kind="import_traffic",
            file=form.cleaned_data["file"],
            params={
                "name": form.cleaned_data["name"],
                "columns": dict(zip(names, parts, strict=False)),
                "retry_page": ["traffic-upload", slug],
            },
            at=timezone.now(),
        )
        return redirect("job", slug, job.public_id)
    return render_page(request, "upload_traffic", access=access, section="queries", form=form)


@require_POST
def traffic_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """What the beginning of a log would be read as: a part of the page."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    file = request.FILES.get("file")
    if file is None:
        raise NotFound("file")
    result = preview_file(file.read(HEAD), TRAFFIC_PARTS, name=str(file.name))
    return render(
        request,
        "judgments/_columns.html",
        {"found": result, "parts": TRAFFIC_PARTS, "kind": "traffic"},
    )


@require_POST
def traffic_delete(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Delete the queries of a log."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    frame = get_frame(access=access, number=number)
    try:
        delete_queries(access=access, frame=frame, at=timezone.now())
    except TrafficRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"The queries of {frame.name} were deleted.")
    return redirect("traffic-frame", slug, number)


@require_safe
def traffic_frame(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """How concentrated a traffic log is, and which strata cuts make of it."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_frame_page(access=access, number=number, cuts=request.GET.get("cuts"))
    return render_page(request, "traffic_frame", page, access=access, section="queries")
