"""The judgments of a list on documents that have changed since."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.changed_documents.forms import ChoiceForm
from annotation.changed_documents.queries import get_changed_page
from annotation.changed_documents.services import choose_for_changed, relabel_changed
from annotation.pages.rendering import render_page
from judgments.lists.queries import get_list
from judgments.permissions import check_may_lead, get_access


@never_cache
@require_safe
def changed_documents(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Which judgments they are, and what can be done."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_changed_page(access=access, slug=list_slug, page=request.GET.get("page", ""))
    return render_page(request, "changed_documents", page, access=access, section="lists")


@require_POST
def changed_relabel(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Request labels on today's texts."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    judgment_list = get_list(access=access, slug=list_slug)
    done = relabel_changed(access=access, judgment_list=judgment_list, at=timezone.now())
    left = f" Not possible or already requested: {done.left:,}." if done.left else ""
    messages.success(request, f"Labels requested: {done.asked:,}.{left}")
    return redirect("changed-documents", slug, list_slug)


@require_POST
def changed_choose(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Keep them, or treat them as unjudged."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    judgment_list = get_list(access=access, slug=list_slug)
    form = ChoiceForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose one of the two.")
        return redirect("changed-documents", slug, list_slug)
    choice = form.cleaned_data["changed_documents"]
    version = choose_for_changed(
        access=access, judgment_list=judgment_list, choice=choice, at=timezone.now()
    )
    made = "" if version is None else f" Version {version.number} was made."
    words = judgment_list.get_changed_documents_display()
    messages.success(request, f"Judgments on changed documents are {words}.{made}")
    return redirect("changed-documents", slug, list_slug)
