"""A comparison of runs without the labels of each annotator."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.leave_one_out.queries import get_without_each
from annotation.pages.rendering import render_page
from evaluation.public import count_look, runs_filters_of
from judgments.models import SetLook
from judgments.pages.rendering import is_part
from judgments.permissions import NotFound, get_access
from judgments.rate_limits import costly
from touchstone.errors import DomainError


@costly
@never_cache
@require_safe
def without(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The compared runs without each annotator, as a page or as a part of the comparison's."""
    access = get_access(viewer=request.user, slug=slug)
    try:
        page = get_without_each(access=access, slug=list_slug, filters=runs_filters_of(request.GET))
    except NotFound:
        raise
    except DomainError as error:
        messages.error(request, error.message)
        return redirect("compare", slug, list_slug)
    look = SetLook.Page.COMPARISON
    looks = count_look(access=access, sets=page.chosen.sets, page=look, at=timezone.now())
    return render_page(
        request,
        "_without" if is_part(request) else "without",
        page,
        access=access,
        section="leaderboard",
        looks=looks,
        address=request.GET.urlencode(),
    )
