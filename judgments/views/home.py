"""The first page."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from judgments.selectors.home import get_home_page
from judgments.views.rendering import render_page, signed_in


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The collections that one is in."""
    return render_page(request, "home", get_home_page(viewer=signed_in(request)))
