"""What every page of the hub shares."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.datastructures import MultiValueDict

from judgments.pages.navigation import navigation
from judgments.permissions import Access
from judgments.reports.freshness import Freshness


def render_page(
    request: HttpRequest,
    template: str,
    page: object = None,
    *,
    access: Access | None = None,
    section: str = "",
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    """The template with `page`; inside a collection also its tabs and what the viewer may do."""
    context = {"page": page} | more
    if access is not None:
        context |= {"access": access, "navigation": navigation(access, section=section)}
    return render(request, f"judgments/{template}.html", context, status=status)


def signed_in(request: HttpRequest) -> Any:
    """The person behind the request; LoginRequiredMiddleware has seen to it that there is one."""
    return request.user


def is_part(request: HttpRequest) -> bool:
    """Whether htmx asks for a part of the page."""
    return request.headers.get("HX-Request") == "true"


def posted(request: HttpRequest) -> QueryDict | None:
    """What a form is bound to: what was posted, be it nothing; None for a first look."""
    return request.POST if request.method == "POST" else None


def sent(
    request: HttpRequest,
) -> tuple[QueryDict, MultiValueDict[str, "UploadedFile[bytes]"]] | tuple[()]:
    """As `posted`, with the files."""
    return (request.POST, request.FILES) if request.method == "POST" else ()


def render_freshness(request: HttpRequest, freshness: Freshness, *, what: str) -> HttpResponse:
    """The progress of a computation, as a part; when it is done, the page is reloaded.

    The first figures are shown though something new has come meanwhile, as it does all the time
    where people are labelling.
    """
    shown = {"state": freshness, "url": request.path, "what": what}
    response = render(request, "components/computing.html", shown)
    patch_vary_headers(response, ["HX-Request"])
    is_first = "first" in request.GET and freshness.computed_at is not None
    if is_first or not freshness.is_due:
        response["HX-Refresh"] = "true"
    return response
