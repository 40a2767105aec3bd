"""The page of a collection's pictures, and the pictures themselves."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from judgments.pages.downloads import as_kept
from judgments.pages.rendering import is_part, posted, render_page, sent
from judgments.permissions import Access, check_may_lead, get_access
from judgments.pictures import queries, services
from judgments.pictures.encoding import MEDIA_TYPE
from judgments.pictures.forms import FieldsForm, FilesForm
from judgments.rest.uploads import takes_file
from touchstone.errors import DomainError


@require_http_methods(["GET", "HEAD", "POST"])
def pictures(request: HttpRequest, slug: str) -> HttpResponse:
    """Which fields hold pictures, and their progress; a lead chooses the fields."""
    access = get_access(viewer=request.user, slug=slug)
    state = queries.get_pictures_state(access=access)
    if request.method == "POST":
        check_may_lead(access)
    elif is_part(request):
        response = render_page(request, "_pictures_state", state, access=access)
        patch_vary_headers(response, ["HX-Request"])
        return response
    suggested = queries.suggest_fields(access=access) if access.is_lead else ()
    form = FieldsForm(posted(request), chosen=state.fields, suggested=suggested)
    if request.method == "POST" and form.is_valid():
        try:
            services.choose_fields(access=access, fields=form.chosen_sizes(), at=timezone.now())
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Picture fields saved.")
            return redirect("pictures", slug)
    return _render(request, access, state, form, FilesForm())


@takes_file
@require_POST
def pictures_upload(request: HttpRequest, slug: str) -> HttpResponse:
    """An archive of picture files, which a worker stores."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    files = FilesForm(*sent(request))
    if files.is_valid():
        job = services.upload_files(
            access=access, file=files.cleaned_data["file"], at=timezone.now()
        )
        return redirect("job", slug, job.public_id)
    state = queries.get_pictures_state(access=access)
    fields = FieldsForm(chosen=state.fields, suggested=queries.suggest_fields(access=access))
    return _render(request, access, state, fields, files)


@require_POST
def pictures_fetch(request: HttpRequest, slug: str) -> HttpResponse:
    """Try refused pictures again."""
    access = get_access(viewer=request.user, slug=slug)
    count = services.fetch_again(access=access, at=timezone.now())
    if count:
        messages.success(request, f"Fetching again: {count:,} picture{'s' if count != 1 else ''}.")
    return redirect("pictures", slug)


@require_safe
def picture(request: HttpRequest, slug: str, name: UUID) -> HttpResponse:
    """A stored picture, for those who may read every document."""
    access = get_access(viewer=request.user, slug=slug)
    return as_kept(queries.get_picture(access=access, name=name), media_type=MEDIA_TYPE)


def _render(
    request: HttpRequest,
    access: Access,
    state: queries.PicturesState,
    fields: FieldsForm,
    files: FilesForm,
) -> HttpResponse:
    return render_page(
        request, "pictures", state, access=access, section="documents", form=fields, files=files
    )
