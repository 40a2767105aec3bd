"""Saved sets of queries."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from judgments.models import SavedSet
from judgments.pages.refusing import RefusalsAsMessages
from judgments.pages.rendering import render_page, sent
from judgments.permissions import (
    check_may_change_set,
    check_may_make_sets,
    get_access,
    may_make_sets,
)
from judgments.rest.uploads import takes_file
from judgments.sets import queries, services
from judgments.sets.forms import SetForm
from touchstone.errors import DomainError
from touchstone.files.errors import FileRefused


@require_safe
def sets(request: HttpRequest, slug: str) -> HttpResponse:
    """The collection's saved sets."""
    access = get_access(viewer=request.user, slug=slug)
    page = queries.get_sets_page(access=access)
    may_make = may_make_sets(access)
    return render_page(request, "sets", page, access=access, section="queries", may_make=may_make)


@require_safe
def saved_set(request: HttpRequest, slug: str, set_slug: str) -> HttpResponse:
    """A set: its queries, and who looked at its numbers."""
    access = get_access(viewer=request.user, slug=slug)
    number = request.GET.get("page", "")
    page = queries.get_set_page(access=access, slug=set_slug, page=number)
    return render_page(request, "set", page, access=access, section="queries")


@takes_file
@require_http_methods(["GET", "POST"])
def set_create(request: HttpRequest, slug: str) -> HttpResponse:
    """A new set."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_make_sets(access)
    form = SetForm(*sent(request), access=access, is_new=True)

    def save() -> SavedSet:
        return services.create_set(access=access, at=timezone.now(), **form.cleaned_data)

    made = _saved(request, form, save)
    if made is not None:
        messages.success(request, f"{made.name} created.")
        return redirect("set", slug, made.slug)
    return render_page(request, "set_form", access=access, section="queries", form=form)


@takes_file
@require_http_methods(["GET", "POST"])
def set_change(request: HttpRequest, slug: str, set_slug: str) -> HttpResponse:
    """Another name, description or other queries for a set."""
    access = get_access(viewer=request.user, slug=slug)
    result = queries.get_set(access=access, slug=set_slug)
    check_may_make_sets(access)
    try:
        check_may_change_set(access, result)
    except DomainError as error:
        messages.error(request, error.message)
        return redirect("set", slug, set_slug)
    known = queries.list_set_ids(set_id=result.pk)
    initial = {
        "name": result.name,
        "description": result.description,
        "is_held_out": result.is_held_out,
    }
    form = SetForm(
        *sent(request),
        access=access,
        known=known if len(known) <= queries.TYPED_AT_MOST else (),
        is_new=False,
        initial=initial,
    )

    def save() -> SavedSet:
        return services.change_set(
            access=access, at=timezone.now(), saved_set=result, **form.cleaned_data
        )

    if _saved(request, form, save) is not None:
        messages.success(request, "Set saved.")
        return redirect("set", slug, set_slug)
    return render_page(request, "set_form", result, access=access, section="queries", form=form)


@require_POST
def set_archive(request: HttpRequest, slug: str, set_slug: str) -> HttpResponse:
    """Offer a set no longer."""
    return _act(request, slug, set_slug, services.archive_set, "Set archived.")


@require_POST
def set_restore(request: HttpRequest, slug: str, set_slug: str) -> HttpResponse:
    """Offer an archived set again."""
    return _act(request, slug, set_slug, services.restore_set, "Set unarchived.")


def _act(
    request: HttpRequest, slug: str, set_slug: str, act: Callable[..., None], said: str
) -> HttpResponse:
    access = get_access(viewer=request.user, slug=slug)
    result = queries.get_set(access=access, slug=set_slug)
    with RefusalsAsMessages(request):
        act(access=access, at=timezone.now(), saved_set=result)
        messages.success(request, said)
    return redirect("set", slug, set_slug)


def _saved(request: HttpRequest, form: SetForm, save: Callable[[], SavedSet]) -> SavedSet | None:
    """What was saved; None for a first look, and where the form says what is wrong."""
    if request.method != "POST" or not form.is_valid():
        return None
    try:
        return save()
    except FileRefused as refused:
        form.refuse(refused)
    except DomainError as error:
        form.add_error("slug" if "slug" in form.fields else None, error.message)
    return None
