"""What to judge next."""

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from evaluation.evaluations.queries import choose_set, kept_measures
from evaluation.judge_next.queries import JudgeNext, NextAsked, asked_of, get_judge_next
from evaluation.pages.rendering import answer_page
from evaluation.runs.choices import Choices, list_run_options
from judgments.collections.query_metadata import list_segments
from judgments.lists.queries import get_list
from judgments.models import SetLook
from judgments.permissions import get_access
from judgments.rate_limits import costly
from touchstone.measures.asking import recognise

LISTED: Final = 25  # pairs


@costly
@require_safe
def judge_next(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The pairs whose labels could change most of what is said of some runs."""
    access = get_access(viewer=request.user, slug=slug)
    own = get_list(access=access, slug=list_slug)

    def page(found: JudgeNext, asked: NextAsked) -> dict[str, Any]:
        measures = [
            recognise(one).canonical for one in kept_measures(own) if one.family != "Judged"
        ]
        if found.asked:
            measures.append(found.asked.canonical)
        segments = list_segments(list_id=own.pk, version=own.head) if own.head else ()
        return {
            "page": found,
            "asked": asked,
            "choices": Choices(tuple(dict.fromkeys(measures)), tuple(segments)),
            "options": list_run_options(access=access, chosen=found.names),
            "rows": found.pairs[:LISTED],
            "more": max(0, len(found.pairs) - LISTED),
        }

    def asked_for() -> dict[str, Any]:
        asked = asked_of(request.GET)
        return page(get_judge_next(access=access, judgment_list=own, asked=asked), asked)

    def only_choices() -> dict[str, Any]:
        sets = choose_set(access=access, judgment_list=own, slug="")
        return page(JudgeNext(version=own.head, list=own, sets=sets), NextAsked())

    return answer_page(
        request,
        "judge_next",
        asked_for,
        only_choices,
        access=access,
        section="leaderboard",
        look=SetLook.Page.JUDGE_NEXT,
    )
