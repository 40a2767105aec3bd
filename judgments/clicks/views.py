"""Click logs: importing one, its ledger, position bias and pairs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from judgments.clicks.forms import ClicksForm, ComparisonForm, GradingForm, InterleavingForm
from judgments.clicks.grading import Wish, request_grades
from judgments.clicks.interleaving import get_interleaving, list_interleavings
from judgments.clicks.people import get_people_page
from judgments.clicks.queries import get_log, get_log_page, get_pairs_page, list_logs
from judgments.clicks.scoring import EXAMINED, FEWEST_IMPRESSIONS
from judgments.clicks.services import ClicksRefused
from judgments.jobs.services import submit_job
from judgments.pages.rendering import render_page, sent
from judgments.permissions import check_may_lead, get_access
from judgments.rest.uploads import takes_file


@require_safe
def click_logs(request: HttpRequest, slug: str) -> HttpResponse:
    """The collection's click logs."""
    access = get_access(viewer=request.user, slug=slug)
    return render_page(
        request,
        "clicks",
        access=access,
        section="queries",
        logs=list_logs(access=access),
        experiments=list_interleavings(access=access),
    )


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


@require_http_methods(["GET", "POST"])
def click_people(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """How a log's scores agree with people's grades; posting makes grades of them, for leads."""
    access = get_access(viewer=request.user, slug=slug)
    log = get_log(access=access, number=number)
    grading = None
    if request.method == "POST":
        check_may_lead(access)
        grading = GradingForm(request.POST, access=access)
        if grading.is_valid():
            data = grading.cleaned_data
            try:
                job = request_grades(
                    access=access,
                    log=log,
                    judgment_list=data["target"],
                    basis=data["basis"],
                    wish=Wish(data["score"], data["fewest"]),
                    at=timezone.now(),
                )
            except ClicksRefused as error:
                grading.add_error("target", error.message)
            else:
                return redirect("job", slug, job.public_id)
    asked = ComparisonForm(request.GET, access=access)
    wanted = asked.cleaned_data if asked.is_valid() else {}
    page = get_people_page(
        access=access,
        number=number,
        list_slug=wanted["basis"].slug if wanted else "",
        score=wanted.get("score", EXAMINED),
        fewest=wanted.get("fewest", FEWEST_IMPRESSIONS),
    )
    initial = {"basis": page.basis, "score": page.score, "fewest": page.fewest}
    return render_page(
        request,
        "click_people",
        page,
        access=access,
        section="queries",
        form=asked if wanted else ComparisonForm(initial=initial, access=access),
        grading=grading or GradingForm(initial=initial, access=access),
    )


@takes_file
@require_http_methods(["GET", "POST"])
def interleaving_upload(request: HttpRequest, slug: str) -> HttpResponse:
    """An interleaving log, which a worker reads."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    form = InterleavingForm(*sent(request))
    if request.method == "POST" and form.is_valid():
        params = dict(form.cleaned_data)
        job = submit_job(
            access=access,
            kind="import_interleaving",
            file=params.pop("file"),
            params=params | {"retry_page": ["interleaving-upload", slug]},
            at=timezone.now(),
        )
        return redirect("job", slug, job.public_id)
    return render_page(request, "upload_interleaving", access=access, section="queries", form=form)


@require_safe
def interleaving(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Which of two interleaved rankers users prefer."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_interleaving(access=access, number=number)
    return render_page(request, "interleaving", page, access=access, section="queries")
