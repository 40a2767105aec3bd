"""What every page of this room shares."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from judgments.navigation import navigation
from judgments.permissions import Access


def render_page(
    request: HttpRequest,
    template: str,
    page: object = None,
    *,
    access: Access,
    section: str,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    """The template with `page`, the collection's tabs and what the viewer may do."""
    context = {"page": page, "access": access, "navigation": navigation(access, section=section)}
    return render(request, f"evaluation/{template}.html", context | more, status=status)


def is_part(request: HttpRequest) -> bool:
    """Whether a page asks for a part of itself."""
    return request.headers.get("HX-Request") == "true"
