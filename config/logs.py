"""Log lines: one JSON object or one line of text each, with nothing in them that is secret.

What people say of documents is in the database alone. Paths are logged without the tokens that
some of them hold, and errors of the database without the row that they are about.
"""

import json
import logging
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from django.http import HttpRequest, HttpResponseBase

from judgments.live import BEGAN, now

access_log = logging.getLogger("touchstone.access")

# what a match's first group is followed by is left out
SECRETS: Final = (
    re.compile(r"(/(?:invitations|account/address|password/reset/[^\s/?]+)/)[^\s/?'\"]+"),
    re.compile(r"([?&]code=)[^\s&]+"),
    re.compile(
        r"((?:token|password|secret|csrfmiddlewaretoken)\w*['\"]?\s*[=:]\s*)[^\s&,;]+",
        re.IGNORECASE,
    ),
    re.compile(r"((?:Bearer|Basic)\s+)\S+", re.IGNORECASE),
    re.compile(r"(\w+://[^\s:/@]*:)[^\s@/]+(?=@)"),
    # PostgreSQL: the values of the row that a constraint refused
    re.compile(r"(\b(?:DETAIL|CONTEXT):\s).*"),
)
LEFT_OUT: Final = r"\1…"


def without_secrets(text: str) -> str:
    """The text, with tokens, passwords and the contents of rows left out."""
    for secret in SECRETS:
        text = secret.sub(LEFT_OUT, text)
    return text


class LineFormatter(logging.Formatter):
    """A line of text, for people."""

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


class JsonFormatter(logging.Formatter):
    """One JSON object a line, for programs. `extra={"facts": {…}}` adds its own keys."""

    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": without_secrets(record.getMessage()),
        }
        if record.exc_info:
            said["exception"] = without_secrets(self.formatException(record.exc_info))
        return json.dumps(said | getattr(record, "facts", {}), ensure_ascii=False)


class AccessLogMiddleware:
    """A line for each request at level INFO: which address by its name, never by its path."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        request.META[BEGAN] = now()
        response = self.get_response(request)
        if access_log.isEnabledFor(logging.INFO):
            match = request.resolver_match
            facts = {
                "method": request.method,
                "address": (match.url_name or match.route) if match else "",
                "status": response.status_code,
                "milliseconds": round(1000 * (time.perf_counter() - began), 1),
            }
            said = " ".join(str(fact) for fact in facts.values())
            access_log.info(said, extra={"facts": facts})
        return response
