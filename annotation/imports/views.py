"""Labels from elsewhere, in a file that a worker reads."""

import secrets

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.guidelines.queries import list_lists
from annotation.imports.forms import LabelImportForm
from annotation.pages.rendering import render_page
from judgments.jobs.services import submit_job
from judgments.permissions import check_may_lead, get_access
from judgments.rest.uploads import takes_file


@takes_file
@require_http_methods(["GET", "POST"])
def labels_import(request: HttpRequest, slug: str) -> HttpResponse:
    """Say which file, which campaign and who is who; the job's page tells how it goes."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    lists = list_lists(access=access)
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    form = LabelImportForm(*sent, lists=lists, initial={"judgment_list": request.GET.get("list")})
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        params = {
            "list": said["judgment_list"].slug,
            "campaign": said["campaign"],
            "names": said["names"],
            "create": said["create"],
            "seed": secrets.randbits(62),
            "retry_url": reverse("labels-import", args=[slug]),
        }
        job = submit_job(
            access=access, kind="import_labels", file=said["file"], params=params, at=timezone.now()
        )
        return redirect("job", slug, job.public_id)
    return render_page(request, "labels_import", access=access, form=form, lists=lists)
