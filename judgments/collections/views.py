"""Collections: making one, its first page, and files into it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from judgments.collections.forms import CollectionForm, UploadForm
from judgments.collections.overview import get_overview_page
from judgments.collections.services import create_collection
from judgments.jobs.services import submit_job
from judgments.pages.rendering import posted, render_page, sent, signed_in
from judgments.permissions import (
    NotFound,
    check_may_lead,
    get_access,
    may_archive,
    may_create_collection,
)
from judgments.rest.uploads import takes_file
from touchstone.errors import DomainError
from touchstone.files.table_columns import DOCUMENT_PARTS, QUERY_PARTS
from touchstone.files.table_preview import HEAD, preview_file

PARTS = {"queries": QUERY_PARTS, "documents": DOCUMENT_PARTS}


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
    return render_page(
        request,
        "collection",
        page,
        access=access,
        section="overview",
        may_archive=may_archive(access),
    )


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
            params={"columns": _chosen_columns(request)},
            at=timezone.now(),
        )
        return redirect("job", slug, job.public_id)
    return render_page(
        request, f"upload_{kind}", access=access, section=kind, form=form, kind=kind, status=200
    )


@require_POST
def upload_preview(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """What the beginning of a file would be read as, and which column is what: a part of a page."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    file, parts = request.FILES.get("file"), PARTS[kind]
    if file is None:
        raise NotFound("file")
    result = preview_file(file.read(HEAD), parts, name=str(file.name), columns={})
    return render(
        request, "judgments/_columns.html", {"found": result, "parts": parts, "kind": kind}
    )


def _chosen_columns(request: HttpRequest) -> dict[str, str]:
    """The part that a person chose for each column; nothing where none was shown."""
    names, chosen = request.POST.getlist("column"), request.POST.getlist("part")
    return dict(zip(names, chosen, strict=False))
