"""What a service refuses, on a page that goes on."""

from types import TracebackType

from django.contrib import messages
from django.http import HttpRequest

from judgments.pages.languages import message_of
from judgments.permissions import NotFound
from touchstone.errors import DomainError


class RefusalsAsMessages:
    """Shows a refusal that is raised in the block as a message, and ends the block.

    What is not found stays so, for the 404 of the middleware.
    """

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if not isinstance(error, DomainError) or isinstance(error, NotFound):
            return False
        messages.error(self._request, message_of(error))
        return True
