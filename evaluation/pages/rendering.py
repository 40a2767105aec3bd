"""What every page of this app shares."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers

from evaluation.set_looks.services import count_look
from judgments.models import SetLook
from judgments.pages.navigation import navigation
from judgments.pages.rendering import is_part
from judgments.permissions import Access, NotFound
from touchstone.errors import DomainError


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


def answer_page(
    request: HttpRequest,
    template: str,
    asked: Callable[[], Any],
    usual: Callable[[], Any],
    /,
    *,
    access: Access,
    section: str,
    part: str = "",
    look: SetLook.Page | None = None,
    **more: Any,
) -> HttpResponse:
    """The page as `asked` for, or the `usual` one with the reason why it can't be that.

    Both return the answer, or the template's context with the answer as `page`.
    part: the template of the part that the open page asks for, if it does. look: as what it counts
    where its numbers are of a held-out set. What is unknown stays unknown.
    """
    refusal, status = "", 200
    try:
        page = asked()
    except NotFound:
        raise
    except DomainError as error:
        refusal, status = error.message, 400
        page = usual()
    if isinstance(page, dict):
        more |= page
        page = more.pop("page")
    if look is not None and page is not None:
        more["looks"] = count_look(
            access=access,
            sets=page.sets,
            page=look,
            at=timezone.now(),
        )
    response = render_page(
        request,
        part if part and is_part(request) else template,
        page,
        access=access,
        section=section,
        status=status,
        refusal=refusal,
        **more,
    )
    if part:
        patch_vary_headers(response, ["HX-Request"])
    return response
