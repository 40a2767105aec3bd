"""One shape for every error of the REST interface: problem details (RFC 9457)."""

from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, UnreadablePostError
from django.utils.translation import gettext
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler, set_rollback

from judgments.pages.languages import message_of
from judgments.permissions import NotFound
from touchstone.errors import DomainError, NotNow
from touchstone.files.errors import FileRefused

CONTENT_TYPE = "application/problem+json"
RETRY_AFTER = "10"  # seconds
HOW_TO_SEND = (
    "Send a token as `Authorization: Bearer …`. Create one on the Tokens page, in the menu under "
    "your name."
)


class TooLarge(exceptions.APIException):
    """The body is larger than this address takes."""

    status_code = 413
    default_code = "too_large"


class LengthRequired(exceptions.APIException):
    """Without a length the server would take the body for an empty one."""

    status_code = 411
    default_code = "length_required"
    default_detail = "Send the body with its Content-Length, not in chunks."


def problem(
    status: int, code: str, detail: str, *, headers: dict[str, str] | None = None, **more: Any
) -> Response:
    """A problem: `code` is stable and for programs, `detail` for people."""
    body = {"type": "about:blank", "title": code.replace("_", " "), "status": status}
    body |= {"code": code, "detail": detail} | more
    return Response(body, status=status, headers=headers, content_type=CONTENT_TYPE)


def handle_exception(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler; None lets what no one foresaw become a 500."""
    response = _domain_problem(error) or _request_problem(error)
    if response is not None:
        set_rollback()
        return response
    response = exception_handler(error, context)
    if response is None or not isinstance(error, exceptions.APIException):
        return None
    headers = {
        name: value
        for name, value in response.items()
        if name in ("WWW-Authenticate", "Retry-After", "Allow")
    }
    code = error.get_codes() if isinstance(error.get_codes(), str) else "invalid"
    detail = HOW_TO_SEND if isinstance(error, exceptions.NotAuthenticated) else str(error.detail)
    return problem(response.status_code, str(code), detail, headers=headers)


def _domain_problem(error: Exception) -> Response | None:
    """What a rule of the application refused."""
    if isinstance(error, NotFound | Http404 | PermissionDenied):
        # forbidden answers as missing: what may not be seen must not be told apart
        return problem(404, "not_found", gettext("Not found, or you do not have access to it."))
    if isinstance(error, FileRefused):
        problems = [vars_of(result) for result in error.problems]
        return problem(422, error.code, error.message, problems=problems, total=error.total)
    if isinstance(error, NotNow):
        headers = {"Retry-After": RETRY_AFTER}
        return problem(409, error.code, message_of(error), headers=headers)
    if isinstance(error, DomainError):
        return problem(422, error.code, message_of(error))
    return None


def _request_problem(error: Exception) -> Response | None:
    """What was wrong with the request itself, before anyone asked what it is about."""
    if isinstance(error, exceptions.ValidationError):
        return problem(400, "invalid", gettext("The request is malformed."), errors=error.detail)
    if isinstance(error, RequestDataTooBig):
        return problem(413, TooLarge.default_code, gettext("The form’s fields are too large."))
    if isinstance(error, SuspiciousOperation):
        return problem(400, "parse_error", gettext("The request is malformed."))
    if isinstance(error, UnreadablePostError):
        return problem(400, "parse_error", gettext("The body is shorter than its Content-Length."))
    return None


def vars_of(found: Any) -> dict[str, Any]:
    """A file problem as plain values, without what is not known."""
    names = ("file", "line", "column", "rule", "message")
    values = {name: getattr(found, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}
