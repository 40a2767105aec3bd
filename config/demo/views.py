"""Breaking and repairing the demo's search server."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from config.demo.live_search import RANKER, is_broken, is_serving
from config.demo.workspace import SLUG
from evaluation.canaries.services import mark_deployment
from evaluation.live_rankers.services import LiveRefused, start_snapshot
from evaluation.runs.queries import get_ranker
from judgments.permissions import NotFound, check_may_upload_runs, get_access

WORDS = {"break": "Sort order: worst first", "repair": "Sort order: best first"}


@require_POST
def demo_search(request: HttpRequest, act: str) -> HttpResponse:
    """Change how the server sorts, mark that on the time line, and take a snapshot."""
    if not is_serving() or act not in WORDS:
        raise NotFound
    access = get_access(viewer=request.user, slug=SLUG)
    check_may_upload_runs(access)
    ranker = get_ranker(access=access, slug=RANKER)
    was_broken = is_broken.is_set()
    _sort(worst_first=act == "break")
    try:
        start_snapshot(access=access, ranker=ranker, at=timezone.now())
    except LiveRefused as error:  # one that runs already has answers of before
        _sort(worst_first=was_broken)
        messages.error(request, f"{error.message} Try again in a few seconds.")
    else:
        mark_deployment(access=access, ranker=ranker, name=WORDS[act], at=timezone.now())
        messages.success(request, "Snapshot started. The canary looks at it in a few seconds.")
    return redirect("canaries", SLUG, RANKER)


def _sort(*, worst_first: bool) -> None:
    if worst_first:
        is_broken.set()
    else:
        is_broken.clear()
