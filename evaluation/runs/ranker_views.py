"""Rankers: all of them, one of them, a new one."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.pages.rendering import render_page
from evaluation.runs.forms import RankerForm, TagsForm
from evaluation.runs.ranker_pages import get_ranker_page, get_rankers_page
from evaluation.runs.rankers import change_tags, create_ranker
from judgments.pages.rendering import posted
from judgments.permissions import check_may_upload_runs, get_access
from touchstone.errors import DomainError


@require_safe
def rankers(request: HttpRequest, slug: str) -> HttpResponse:
    """The rankers of a collection, each with its newest run."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_rankers_page(
        access=access, sort=request.GET.get("sort", ""), page=request.GET.get("page", "")
    )
    return render_page(request, "rankers", page, access=access, section="rankers")


@require_http_methods(["GET", "POST"])
def ranker_create(request: HttpRequest, slug: str) -> HttpResponse:
    """A new ranker; its first run comes next."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    form = RankerForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            made = create_ranker(access=access, at=timezone.now(), **form.cleaned_data)
        except DomainError as error:
            form.add_error("slug", error.message)
        else:
            messages.success(request, f"{made.name} registered. Upload its first run.")
            return redirect(f"{reverse('run-upload', args=[slug])}?ranker={made.slug}")
    return render_page(request, "ranker_create", access=access, section="rankers", form=form)


@require_safe
def ranker(request: HttpRequest, slug: str, ranker_slug: str) -> HttpResponse:
    """A ranker and its runs, the newest first."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_ranker_page(
        access=access,
        slug=ranker_slug,
        list_slug=request.GET.get("list", ""),
        page=request.GET.get("page", ""),
        measure=request.GET.get("measure", ""),
    )
    return render_page(request, "ranker", page, access=access, section="rankers")


@require_POST
def ranker_tags(request: HttpRequest, slug: str, ranker_slug: str) -> HttpResponse:
    """Other tags for a ranker."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_upload_runs(access)
    form = TagsForm(request.POST)
    if form.is_valid():
        change_tags(
            access=access,
            at=timezone.now(),
            ranker_slug=ranker_slug,
            tags=form.cleaned_data["tags"],
        )
        messages.success(request, "Tags saved.")
    else:
        for problem in form.errors["tags"]:
            messages.error(request, str(problem))
    return redirect("ranker", slug, ranker_slug)
