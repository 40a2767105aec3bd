"""The page of long work."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from judgments.jobs.queries import get_job_page
from judgments.pages.rendering import is_part, render_page
from judgments.permissions import get_access


@never_cache
@require_safe
def job(request: HttpRequest, slug: str, public_id: UUID) -> HttpResponse:
    """How far the work is; the page asks again by itself until it has ended."""
    access = get_access(viewer=request.user, slug=slug)
    page = get_job_page(access=access, public_id=public_id, now=timezone.now())
    template = "_job" if is_part(request) else "job"
    response = render_page(request, template, page, access=access)
    patch_vary_headers(response, ["HX-Request"])
    return response
