"""What to judge next."""

from functools import partial

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from evaluation.judge_next.pages import get_judge_next_page
from evaluation.judge_next.queries import asked_of
from evaluation.pages.rendering import answer_page
from judgments.models import SetLook
from judgments.pages.rates import costly
from judgments.permissions import get_access


@costly
@require_safe
def judge_next(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The pairs whose labels could change most of what is said of some runs."""
    access = get_access(viewer=request.user, slug=slug)
    page = partial(get_judge_next_page, access=access, slug=list_slug)
    return answer_page(
        request,
        "judge_next",
        lambda: page(asked=asked_of(request.GET)),
        lambda: page(asked=None),
        access=access,
        section="leaderboard",
        look=SetLook.Page.JUDGE_NEXT,
    )
