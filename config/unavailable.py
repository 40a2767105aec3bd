"""What is answered when something fails: 503 while the database is away, else 500.

Django calls this for an exception anywhere: in a view, in a middleware, in a template.
"""

import sys
from typing import Final

from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views.defaults import server_error

from judgments.middleware import REST
from judgments.rest.problems import CONTENT_TYPE

RETRY_AFTER: Final = 5  # seconds; a restart of PostgreSQL takes about that
# admin_shutdown, crash_shutdown, cannot_connect_now, too_many_connections
AWAY: Final = {"57P01", "57P02", "57P03", "53300"}
CONNECTION_EXCEPTIONS: Final = "08"
# refused by a server that is there: an administrator has to change something
MISCONFIGURED: Final = (
    "authentication failed",
    "does not exist",
    "pg_hba.conf",
    "permission denied",
)


def is_database_away(error: BaseException | None) -> bool:
    """Whether PostgreSQL was lost, is starting or stopping, or has no connection left.

    Not for what a server that works says of a statement: deadlocks, time-outs, full disks.
    """
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    if state:
        return state in AWAY or state.startswith(CONNECTION_EXCEPTIONS)
    if connection.vendor != "postgresql":
        return False
    # libpq gives no state to what it finds out itself: whether there is a connection says it
    is_connected = connection.connection is not None and not connection.connection.closed
    return not is_connected and not any(words in str(error) for words in MISCONFIGURED)


def answer_failure(request: HttpRequest) -> HttpResponse:
    """Django's `handler500`. Called while the exception is being handled."""
    if not is_database_away(sys.exc_info()[1]):
        return server_error(request)
    headers = {"Retry-After": str(RETRY_AFTER), "Cache-Control": "no-store"}
    if not request.path_info.startswith(REST):
        # without the request, whose context would ask the database who it is from
        return HttpResponse(render_to_string("503.html"), status=503, headers=headers)
    body = {
        "type": "about:blank",
        "title": "unavailable",
        "status": 503,
        "code": "unavailable",
        "detail": f"The database can’t be reached. Try again in {RETRY_AFTER} seconds.",
    }
    return JsonResponse(body, status=503, headers=headers, content_type=CONTENT_TYPE)
