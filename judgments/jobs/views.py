"""The page of long work."""

from collections.abc import Sequence
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from judgments.jobs.queries import get_job, show_job
from judgments.models import Job
from judgments.pages.rendering import is_part, render_page
from judgments.permissions import get_access


@never_cache
@require_safe
def job(request: HttpRequest, slug: str, public_id: UUID) -> HttpResponse:
    """How far the work is; the page asks again by itself until it has ended."""
    access = get_access(viewer=request.user, slug=slug)
    result = get_job(access=access, public_id=public_id)
    template = "_job" if is_part(request) else "job"
    page = show_job(result, timezone.now())
    links = _links(slug, result)
    response = render_page(request, template, page, access=access, links=links)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _links(slug: str, job: Job) -> dict[str, str]:
    """Where to go from a job that is done, and from one that failed; "" where nowhere.

    Another app's handler puts `next_page` into the result, and `retry_page` into the params: the
    name of an address and what it takes. A view knows the whole address: `retry_url`.
    """
    if job.kind == "import_queries":
        pages = ["queries", slug], ["queries-upload", slug]
    elif job.kind == "import_documents":
        pages = ["documents", slug], ["documents-upload", slug]
    elif job.kind == "import_qrels":
        pages = ["list", slug, job.params["list"]], ["list-import", slug, job.params["list"]]
    else:
        pages = job.result.get("next_page"), job.params.get("retry_page")
    return {
        # jobs of earlier releases have a whole address in their result, too
        "next": _address(pages[0]) or str(job.result.get("next_url", "")),
        "retry": _address(pages[1]) or str(job.params.get("retry_url", "")),
    }


def _address(page: Sequence[str] | None) -> str:
    return reverse(page[0], args=page[1:]) if page else ""
