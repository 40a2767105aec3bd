"""What browsers report about the content security policy: a page that wanted more than it may."""

import json
import logging
from typing import Final
from urllib.parse import urlsplit

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from judgments.rate_limits import RequestCounts

logger = logging.getLogger("touchstone.policy")

MOST_BYTES: Final = 16 * 1024
MOST_LINES: Final = 20  # a minute, from each process: anyone can send reports
NOBODY: Final = 0
_counts: Final = RequestCounts()


@csrf_exempt
@login_not_required
@require_POST
def policy_reports(request: HttpRequest) -> HttpResponse:
    """Write a report to the log: the directive, and where from; no query, no text of the page."""
    is_short = int(request.META.get("CONTENT_LENGTH") or 0) <= MOST_BYTES
    at = timezone.now().timestamp()
    if is_short and _counts.add("pages", NOBODY, at) <= MOST_LINES:
        _write(request.body)
    return HttpResponse(status=204)


def _write(body: bytes) -> None:
    try:
        report = json.loads(body)["csp-report"]
        directive = str(report.get("effective-directive") or report["violated-directive"])
        blocked, page = str(report["blocked-uri"]), str(report["document-uri"])
        parts = urlsplit(blocked)
        path = urlsplit(page).path
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return
    source = f"{parts.scheme}://{parts.netloc}" if parts.netloc else blocked.partition(":")[0]
    logger.warning(
        "a page was denied what its policy forbids: %s of %s on %s",
        *(ascii(one[:200])[1:-1] for one in (directive, source, path)),
    )
