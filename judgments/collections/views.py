"""Collections: making one, its first page, and files into it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from judgments.collections.forms import CollectionForm, UploadForm
from judgments.collections.overview import get_overview_page
from judgments.collections.services import create_collection
from judgments.jobs.services import submit_job
from judgments.pages.rendering import posted, render_page, sent, signed_in
from judgments.permissions import NotFound, check_may_lead, get_access, may_create_collection
from judgments.rest.uploads import takes_file
from touchstone.errors import DomainError


@require_http_methods(["GET", "POST"])
def collection_create(request: HttpRequest) -> HttpResponse:
    """A new collection, which its maker leads."""
    if not may_create_collection(signed_in(request)):
        raise NotFound
    form = CollectionForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            made = create_collection(by=signed_in(request), at=timezone.now(), **form.cleaned_data)
        except DomainError as error:
            form.add_error("slug", error.message)
        else:
            messages.success(request, f"{made.name} created. You are its lead.")
            return redirect("collection", made.slug)
    return render_page(request, "collection_create", form=form)


@require_safe
def collection(request: HttpRequest, slug: str) -> HttpResponse:
    """What is in a collection, and what to do next."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_overview_page(access=access)
    return render_page(request, "collection", page, access=access, section="overview")


@takes_file
@require_http_methods(["GET", "POST"])
def upload(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """A file of queries or documents (`kind`), which a worker reads."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    form = UploadForm(*sent(request))
    if request.method == "POST" and form.is_valid():
        job = submit_job(
            access=access,
            kind=f"import_{kind}",
            file=form.cleaned_data["file"],
            params={},
            at=timezone.now(),
        )
        return redirect("job", slug, job.public_id)
    return render_page(
        request, f"upload_{kind}", access=access, section=kind, form=form, status=200
    )
