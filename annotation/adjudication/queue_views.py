"""The disputed pairs of a campaign: all of them, and one after the other without names."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.adjudication.forms import DecisionForm, NearForm, WhyForm
from annotation.adjudication.queue import (
    get_dispute_page,
    get_disputed_pair,
    get_next_dispute,
    get_queue_page,
)
from annotation.adjudication.services import (
    AdjudicationRefused,
    adjudicate,
    ask_one_more,
    check_may_adjudicate,
    decide_alike,
    reopen,
)
from annotation.campaigns.finding import led_campaign, watched_campaign
from annotation.campaigns.queries import get_pair
from annotation.models import Pair
from annotation.pages.rendering import render_page
from judgments.pages.rendering import posted
from judgments.permissions import Access, check_may_lead, get_access
from touchstone.scales import Scale


@never_cache
@require_safe
def queue(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The pairs that need adjudication, those first that matter most; ?show=graded: those that have
    a grade although their labels differ."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    asked = {name: request.GET.get(name, "") for name in ("show", "page")}
    page = get_queue_page(access=access, campaign=campaign, **asked)
    return render_page(request, "queue", page, access=access, near_form=NearForm())


@require_POST
def near(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Decide all pairs at once whose labels are a step apart."""
    access, campaign = led_campaign(request, slug, campaign_id)
    form = NearForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose a grade and give a reason.")
        return redirect("campaign-queue", slug, campaign_id)
    try:
        decided = decide_alike(
            access=access,
            campaign=campaign,
            takes_better=form.cleaned_data["takes"] == "better",
            reason=form.cleaned_data["near_reason"],
            at=timezone.now(),
        )
    except AdjudicationRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(
            request, f"Adjudicated: {len(decided):,}. To undo one, reopen it on its page."
        )
    return redirect("campaign-queue", slug, campaign_id)


@never_cache
@require_http_methods(["GET", "POST"])
def decide(request: HttpRequest, slug: str, campaign_id: UUID, pair_id: int) -> HttpResponse:
    """One disputed pair, without names; a POST adjudicates it and continues with the next."""
    access, campaign = led_campaign(request, slug, campaign_id)
    pair = get_disputed_pair(access=access, campaign=campaign, pair_id=pair_id)
    form = DecisionForm(posted(request), scale=Scale.from_json(pair.list.scale))
    if request.method == "POST" and form.is_valid():
        following = get_next_dispute(access=access, pair=pair)
        try:
            grade, reason = form.cleaned_data["grade"], form.cleaned_data["reason"]
            adjudicate(access=access, pair=pair, grade=grade, reason=reason, at=timezone.now())
        except AdjudicationRefused as error:
            form.add_error(None, error.message)
        else:
            messages.success(
                request, f"Adjudicated: {pair.query.qid} {pair.document.docid}, {grade}."
            )
            return _on(slug, campaign_id, following)
    page = get_dispute_page(access=access, pair=pair)
    return render_page(request, "decide", page, access=access, form=form, why_form=WhyForm())


@require_POST
def one_more(request: HttpRequest, slug: str, campaign_id: UUID, pair_id: int) -> HttpResponse:
    """Request one more label of a pair instead of adjudicating it."""
    access, campaign = led_campaign(request, slug, campaign_id)
    pair = get_disputed_pair(access=access, campaign=campaign, pair_id=pair_id)
    following = get_next_dispute(access=access, pair=pair)
    if not _do(request, access, pair, ask_one_more, "Another label requested."):
        return redirect("campaign-decide", slug, campaign_id, pair_id)
    return _on(slug, campaign_id, following)


@require_POST
def reopen_pair(request: HttpRequest, slug: str, pair_id: int) -> HttpResponse:
    """Take a decision back."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    pair = get_pair(access=access, pair_id=pair_id)
    _do(request, access, pair, reopen, "Reopened. The grade comes from the labels again.")
    return redirect("pair", slug, pair_id)


def _do(
    request: HttpRequest, access: Access, pair: Pair, service: Callable[..., None], words: str
) -> bool:
    """Something about a pair that needs a reason."""
    form = WhyForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Give a reason; a few words are enough.")
        return False
    try:
        check_may_adjudicate(access, pair)
        service(access=access, pair=pair, reason=form.cleaned_data["why"], at=timezone.now())
    except AdjudicationRefused as error:
        messages.error(request, error.message)
        return False
    messages.success(request, words)
    return True


def _on(slug: str, campaign_id: UUID, following: int | None) -> HttpResponse:
    if following is None:
        return redirect("campaign-queue", slug, campaign_id)
    return redirect("campaign-decide", slug, campaign_id, following)
