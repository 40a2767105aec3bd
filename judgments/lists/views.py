"""Judgment lists: their versions, what differs between them, and what a lead does with them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from judgments.jobs.services import submit_job
from judgments.lists import history as versions
from judgments.lists import queries, services
from judgments.lists.changed_documents import count_changed
from judgments.lists.exports import get_export_page
from judgments.lists.forms import (
    AcceptingReleaseForm,
    LearningForm,
    ListForm,
    QrelsForm,
    ReleaseForm,
    RevertForm,
)
from judgments.lists.label_quality import get_verdict
from judgments.lists.queries import cite
from judgments.pages.downloads import as_download
from judgments.pages.refusing import RefusalsAsMessages
from judgments.pages.rendering import posted, render_page, sent
from judgments.permissions import check_may_lead, get_access
from judgments.rate_limits import costly
from judgments.rest.uploads import takes_file
from touchstone.errors import DomainError
from touchstone.files.learning import read_features
from touchstone.files.ratings import TREC, get_format
from touchstone.scales import Scale


@require_safe
def lists(request: HttpRequest, slug: str) -> HttpResponse:
    """The collection's lists."""
    access = get_access(viewer=request.user, slug=slug)
    page = queries.get_lists_page(access=access, shows_archived="archived" in request.GET)
    return render_page(request, "lists", page, access=access, section="lists")


@require_http_methods(["GET", "POST"])
def list_create(request: HttpRequest, slug: str) -> HttpResponse:
    """A new list."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    form = ListForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            made = services.create_list(access=access, at=timezone.now(), **form.cleaned_data)
        except DomainError as error:
            form.add_error("slug", error.message)
        else:
            return redirect("list", slug, made.slug)
    return render_page(request, "list_create", access=access, section="lists", form=form)


@require_safe
def list_page(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """A list and its versions."""
    access = get_access(viewer=request.user, slug=slug)
    page = queries.get_list_page(access=access, slug=list_slug, page=request.GET.get("page", ""))
    judgment_list = queries.get_list(access=access, slug=list_slug)
    return render_page(
        request,
        "list",
        page,
        access=access,
        section="lists",
        judgment_list=judgment_list,
        changed=count_changed(judgment_list),
    )


@takes_file
@require_http_methods(["GET", "POST"])
def list_import(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Qrels into a list, which a worker reads."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    judgment_list = queries.get_list(access=access, slug=list_slug)
    form = QrelsForm(*sent(request), scale=Scale.from_json(judgment_list.scale))
    if request.method == "POST" and form.is_valid():
        params = {
            "list": list_slug,
            "reason": form.cleaned_data["reason"],
            "create": form.cleaned_data["create"],
            "format": form.cleaned_data["format"],
            "signals": form.cleaned_data["signals"],
        }
        job = submit_job(
            access=access,
            kind="import_qrels",
            file=form.cleaned_data["file"],
            params=params,
            at=timezone.now(),
        )
        return redirect("job", slug, job.public_id)
    return render_page(
        request, "list_import", judgment_list, access=access, section="lists", form=form
    )


@require_safe
def version(request: HttpRequest, slug: str, list_slug: str, name: str) -> HttpResponse:
    """A version: what it holds and what it changed."""
    access = get_access(viewer=request.user, slug=slug)
    page = versions.get_version_page(
        access=access,
        slug=list_slug,
        name=name,
        kind=request.GET.get("kind", ""),
        qid=request.GET.get("query", ""),
        page=request.GET.get("page", ""),
    )
    cited = [
        cite(
            access=access,
            list_slug=page.list_slug,
            list_name=page.list_name,
            release=row,
            url=request.build_absolute_uri(
                reverse("version", args=[slug, page.list_slug, row.name])
            ),
        )
        for row in page.releases
    ]
    return render_page(request, "version", page, access=access, section="lists", cited=cited)


@require_safe
def diff(request: HttpRequest, slug: str, list_slug: str, before: str, after: str) -> HttpResponse:
    """What differs between two versions or releases."""
    access = get_access(viewer=request.user, slug=slug)
    page = versions.get_diff_page(
        access=access,
        slug=list_slug,
        before=before,
        after=after,
        kind=request.GET.get("kind", ""),
        qid=request.GET.get("query", ""),
        page=request.GET.get("page", ""),
    )
    return render_page(request, "diff", page, access=access, section="lists")


@require_safe
def compare(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The form that asks for two versions leads here, and on to their differences."""
    access = get_access(viewer=request.user, slug=slug)
    judgment_list = queries.get_list(access=access, slug=list_slug)
    names = [request.GET.get(key, "").strip() for key in ("before", "after")]
    for name in names:
        queries.find_version_number(judgment_list=judgment_list, name=name)
    return redirect("diff", slug, list_slug, *names)


@require_safe
def qrels(request: HttpRequest, slug: str, list_slug: str, name: str) -> HttpResponse:
    """A version's grades as a file: qrels, whose digest a release has, or `?format=`."""
    access = get_access(viewer=request.user, slug=slug)
    judgment_list = queries.get_list(access=access, slug=list_slug)
    number = queries.find_version_number(judgment_list=judgment_list, name=name)
    try:
        form = get_format(request.GET.get("format", TREC))
        content = queries.get_judgment_file(judgment_list=judgment_list, number=number, form=form)
    except DomainError as error:
        messages.error(request, error.message)
        return redirect("export", slug, list_slug, name)
    file_name = f"{slug}-{list_slug}-{name}.{form.extension}"
    media_type = f"{form.media_type}; charset=utf-8"
    return as_download(content, media_type=media_type, file_name=file_name)


@costly
@takes_file
@require_http_methods(["GET", "HEAD", "POST"])
def export(request: HttpRequest, slug: str, list_slug: str, name: str) -> HttpResponse:
    """The formats that a version can be had in; with features, as what a ranker learns from."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_export_page(access=access, slug=list_slug, name=name)
    form = LearningForm(*sent(request))
    if request.method != "POST" or not form.is_valid():
        return render_page(request, "export", page, access=access, section="lists", form=form)
    file, kind = form.cleaned_data["features"], form.cleaned_data["format"]
    try:
        content = queries.get_learning_file(
            judgment_list=queries.get_list(access=access, slug=list_slug),
            number=page.number,
            kind=kind,
            features=read_features(file, name=file.name),
        )
    except DomainError as error:
        form.add_error("features", error.message)
        return render_page(request, "export", page, access=access, section="lists", form=form)
    file_name = f"{slug}-{list_slug}-{name}-{kind}.zip"
    return as_download(content, media_type="application/zip", file_name=file_name)


@require_http_methods(["GET", "POST"])
def release(request: HttpRequest, slug: str, list_slug: str, number: int) -> HttpResponse:
    """Give a version a name."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    judgment_list = queries.get_list(access=access, slug=list_slug)
    result = queries.get_version(judgment_list=judgment_list, name=str(number))
    verdict = get_verdict(access, list_slug)
    form_class = AcceptingReleaseForm if verdict and verdict.is_bad else ReleaseForm
    form = form_class(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            services.release_version(
                access=access,
                at=timezone.now(),
                judgment_list=judgment_list,
                number=number,
                **form.cleaned_data,
            )
        except DomainError as error:
            # the verdict may have changed since the form was shown
            form.add_error(None if error.code == "not_good_enough" else "name", error.message)
        else:
            messages.success(
                request, f"Version {number} is released as {form.cleaned_data['name']}."
            )
            return redirect("version", slug, list_slug, number)
    return render_page(
        request, "release", result, access=access, section="lists", form=form, verdict=verdict
    )


@require_http_methods(["GET", "POST"])
def revert(request: HttpRequest, slug: str, list_slug: str, number: int) -> HttpResponse:
    """Make a new version that holds what an old one held."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    judgment_list = queries.get_list(access=access, slug=list_slug)
    result = queries.get_version(judgment_list=judgment_list, name=str(number))
    form = RevertForm(posted(request))
    if request.method == "POST" and form.is_valid():
        with RefusalsAsMessages(request):
            made = services.revert_version(
                access=access,
                at=timezone.now(),
                judgment_list=judgment_list,
                number=number,
                reason=form.cleaned_data["reason"],
            )
            if made is None:
                messages.info(request, "The newest version already has these grades.")
            else:
                messages.success(
                    request, f"Version {made.number} restores the grades of version {number}."
                )
        return redirect("list", slug, list_slug)
    return render_page(request, "revert", result, access=access, section="lists", form=form)
