"""What machines ask: is the process alive, can it work, and how is it doing?

`/healthz` and `/readyz` tell everyone no more than that; `/metrics` wants a token.
"""

from typing import Final

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from config.metrics import gather, render
from config.readiness import check_readiness

PREFIX: Final = "Bearer "


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers. Asks no database: one that is away is no reason to restart this."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Whether requests should be sent here (200 or 503), and which part says no."""
    readiness = check_readiness(at=timezone.now())
    body = {"ready": readiness.is_ready, "checks": readiness.checks}
    return JsonResponse(body, status=200 if readiness.is_ready else 503)


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures for Prometheus, for requests with the token; 404 for all others."""
    wanted = settings.METRICS_TOKEN
    given = request.headers.get("Authorization", "")
    if not wanted or not constant_time_compare(given, PREFIX + wanted):
        raise Http404
    text = render(gather(at=timezone.now()))
    return HttpResponse(text, content_type="text/plain; version=0.0.4; charset=utf-8")
