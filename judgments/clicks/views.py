"""Click logs: importing one, its ledger, position bias and pairs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from judgments.clicks.forms import ClicksForm
from judgments.clicks.queries import get_log_page, get_pairs_page, list_logs
from judgments.jobs.services import submit_job
from judgments.pages.rendering import render_page, sent
from judgments.permissions import check_may_lead, get_access
from judgments.rest.uploads import takes_file


@require_safe
def click_logs(request: HttpRequest, slug: str) -> HttpResponse:
    """The collection's click logs."""
    access = get_access(viewer=request.user, slug=slug)
    logs = list_logs(access=access)
    return render_page(request, "clicks", access=access, section="queries", logs=logs)


@takes_file
@require_http_methods(["GET", "POST"])
def clicks_upload(request: HttpRequest, slug: str) -> HttpResponse:
    """A click log, which a worker reads."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    form = ClicksForm(*sent(request))
    if request.method == "POST" and form.is_valid():
        params = dict(form.cleaned_data)
        job = submit_job(
            access=access,
            kind="import_clicks",
            file=params.pop("file"),
            params=params | {"retry_page": ["clicks-upload", slug]},
            at=timezone.now(),
        )
        return redirect("job", slug, job.public_id)
    return render_page(request, "upload_clicks", access=access, section="queries", form=form)


@require_safe
def click_log(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """What became of a log's records, and its position bias."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_log_page(access=access, number=number)
    return render_page(request, "click_log", page, access=access, section="queries")


@require_safe
def click_pairs(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """What the pairs of a log got."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_pairs_page(
        access=access, number=number, query_id=request.GET.get("query", "").strip()
    )
    return render_page(request, "click_pairs", page, access=access, section="queries")
