"""What every page of annotation shares."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers

from annotation.pages.keys import KeyedGrade
from judgments.pages.navigation import navigation
from judgments.pages.rendering import is_part
from judgments.permissions import Access
from judgments.templatetags.touchstone import ramp_step


def render_page(
    request: HttpRequest,
    template: str,
    page: object = None,
    *,
    access: Access,
    section: str = "campaigns",
    **more: Any,
) -> HttpResponse:
    """The template with `page`, under the collection's tab of campaigns or another section's.

    The same address may answer with a part, which has no tabs: hence the header.
    """
    context = {"page": page, "access": access, "slug": access.collection.slug} | more
    if not is_part(request):
        context["navigation"] = navigation(access, section=section)
    response = render(request, f"annotation/{template}.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


def with_steps(grades: Iterable[KeyedGrade]) -> list[tuple[KeyedGrade, str]]:
    """Each grade with its colour."""
    every = tuple(grades)
    return [(grade, f"g{ramp_step(grade.position, len(every))}") for grade in every]
