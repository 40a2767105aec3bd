"""One shape for every error of the REST interface: problem details (RFC 9457)."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler, set_rollback

from judgments.errors import DomainError
from judgments.formats.errors import FileRefused
from judgments.permissions import NotFound

CONTENT_TYPE = "application/problem+json"


def problem(
    status: int, code: str, detail: str, *, headers: dict[str, str] | None = None, **more: Any
) -> Response:
    """A problem: `code` is stable and for programs, `detail` for people."""
    body = {"type": "about:blank", "title": code.replace("_", " "), "status": status}
    body |= {"code": code, "detail": detail} | more
    return Response(body, status=status, headers=headers, content_type=CONTENT_TYPE)


def handle_exception(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler; None lets what nobody foresaw become a 500."""
    if isinstance(error, NotFound | Http404 | PermissionDenied):
        # forbidden answers as missing: what may not be seen must not be told apart
        set_rollback()
        return problem(404, "not_found", "There is no such thing, or it is not open to you.")
    if isinstance(error, FileRefused):
        set_rollback()
        problems = [vars_of(found) for found in error.problems]
        return problem(422, error.code, error.message, problems=problems, total=error.total)
    if isinstance(error, DomainError):
        set_rollback()
        return problem(422, error.code, error.message)
    if isinstance(error, exceptions.ValidationError):
        set_rollback()
        return problem(400, "invalid", "The request is not of the right form.", errors=error.detail)
    response = exception_handler(error, context)
    if response is None or not isinstance(error, exceptions.APIException):
        return None
    headers = {
        name: value
        for name, value in response.items()
        if name in ("WWW-Authenticate", "Retry-After", "Allow")
    }
    code = error.get_codes() if isinstance(error.get_codes(), str) else "invalid"
    return problem(response.status_code, str(code), str(error.detail), headers=headers)


def vars_of(found: Any) -> dict[str, Any]:
    """A file problem as plain values, without what is not known."""
    names = ("file", "line", "column", "rule", "message")
    values = {name: getattr(found, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}
