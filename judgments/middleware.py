"""What a refusal looks like from outside."""

from collections.abc import Callable

from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponseBase
from django.views.defaults import bad_request

from judgments.permissions import NotFound

REST = "/api/v1/"  # which refuses in its own words
Respond = Callable[[HttpRequest], HttpResponseBase]


class RefusalMiddleware:
    """What does not exist and what one may not see answer alike: 404."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # no id and no search has a NUL, and PostgreSQL would answer one with an error
        has_nul = "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", "")
        if has_nul and not request.path_info.startswith(REST):
            return bad_request(request, SuspiciousOperation("a NUL in the address"))
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> None:
        """Turn a NotFound that a view let through into Django's own 404."""
        if isinstance(exception, NotFound):
            raise Http404(exception.message) from exception
