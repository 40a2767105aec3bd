"""Archiving and restoring, by buttons on the pages of collections and lists."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from judgments.archiving import services
from judgments.lists.queries import get_list
from judgments.permissions import check_may_archive, check_may_lead, get_access


@require_POST
def collection_archive(request: HttpRequest, slug: str) -> HttpResponse:
    """Hide a collection, which is read-only from then on."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_archive(access)
    _do(request, services.archive_collection, "Archived. It can be restored here.", access=access)
    return redirect("collection", slug)


@require_POST
def collection_restore(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a collection again."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_archive(access)
    _do(request, services.restore_collection, "Restored.", access=access)
    return redirect("collection", slug)


@require_POST
def list_archive(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Hide a list, which is read-only from then on."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    one = get_list(access=access, slug=list_slug)
    done = "Archived. It can be restored here."
    _do(request, services.archive_list, done, access=access, judgment_list=one)
    return redirect("list", slug, list_slug)


@require_POST
def list_restore(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Show a list again."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    one = get_list(access=access, slug=list_slug)
    _do(request, services.restore_list, "Restored.", access=access, judgment_list=one)
    return redirect("list", slug, list_slug)


def _do(request: HttpRequest, service: Callable[..., None], done: str, **values: Any) -> None:
    try:
        service(at=timezone.now(), **values)
    except services.ArchivingRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(request, done)
