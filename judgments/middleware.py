"""What a refusal looks like from outside."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponseBase

from judgments.permissions import NotFound

Respond = Callable[[HttpRequest], HttpResponseBase]


class RefusalMiddleware:
    """What does not exist and what one may not see answer alike: 404."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> None:
        """Turn a NotFound that a view let through into Django's own 404."""
        if isinstance(exception, NotFound):
            raise Http404(exception.message) from exception
