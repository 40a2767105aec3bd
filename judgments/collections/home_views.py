"""The first page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from judgments.collections.home import get_home_page
from judgments.models import Role
from judgments.pages.rendering import render_page, signed_in


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The collections that one is in; who only labels is taken to what there is to label.

    `?all` shows the collections to them as well.
    """
    page = get_home_page(viewer=signed_in(request), shows_archived="archived" in request.GET)
    only_labels = {row.role for row in page.collections} == {Role.ANNOTATOR.value}
    if only_labels and not {"all", "archived"} & set(request.GET):
        return redirect("my-campaigns")
    return render_page(request, "home", page)
