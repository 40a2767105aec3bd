"""Samples: drawing one, and what was drawn."""

from typing import Final

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from judgments.pages.downloads import as_download
from judgments.pages.rendering import posted, render_page
from judgments.permissions import check_may_lead, get_access
from judgments.samples.forms import SampleForm
from judgments.samples.queries import get_sample_file, get_sample_page
from judgments.samples.services import request_sample
from judgments.traffic.queries import CUTS, format_cuts, get_concentration, get_frame
from touchstone.errors import DomainError

PLANNED: Final = ("cuts", "spreads", "costs", "budget", "target", "allocation", "judgment_list")


@require_http_methods(["GET", "POST"])
def sample_create(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A design for a sample: shown with its allocation first, drawn by a worker when asked to."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    frame = get_frame(access=access, number=number)
    form = SampleForm(
        posted(request),
        access=access,
        concentration=get_concentration(frame),
        initial=_initial(request.GET),
    )
    if request.method == "POST" and form.is_valid() and "draw" in request.POST:
        data = form.cleaned_data
        try:
            job = request_sample(
                access=access,
                at=timezone.now(),
                frame=frame,
                judgment_list=data["judgment_list"],
                name=data["name"],
                design=data["design"],
                seed=data["seed"],
            )
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            return redirect("job", slug, job.public_id)
    return render_page(request, "sample_create", frame, access=access, section="queries", form=form)


def _initial(asked: QueryDict) -> dict[str, object]:
    """What the form begins with: as the planner's address has it, or the usual."""
    usual: dict[str, object] = {"cuts": format_cuts(CUTS)}
    if "budget" not in asked:
        usual["n"] = 400
    return usual | {name: asked[name] for name in PLANNED if name in asked}


@require_safe
def sample(request: HttpRequest, slug: str, list_slug: str, number: int) -> HttpResponse:
    """How a sample was drawn, and its queries."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_sample_page(
        access=access, list_slug=list_slug, number=number, page=request.GET.get("page", "")
    )
    return render_page(request, "sample", page, access=access, section="queries")


@require_safe
def sample_file(request: HttpRequest, slug: str, list_slug: str, number: int) -> HttpResponse:
    """The drawn queries as CSV."""
    access = get_access(viewer=request.user, slug=slug)
    content = get_sample_file(access=access, list_slug=list_slug, number=number)
    name = f"{slug}-{list_slug}-sample-{number}.csv"
    return as_download(content, media_type="text/csv", file_name=name)
