"""Training: what is asked of those who are new, who has qualified, and letting someone on."""

from collections.abc import Callable
from typing import NamedTuple
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.campaigns.finding import led_campaign, watched_campaign
from annotation.gold.queries import get_check_plan
from annotation.gold.services import GoldRefused, change_checks
from annotation.pages.rendering import render_page
from annotation.training import services
from annotation.training.forms import TrainingForm
from annotation.training.queries import get_learner, get_training_page
from judgments.pages.rendering import posted
from judgments.permissions import check_may_lead


class Decision(NamedTuple):
    """What a lead decides about someone, and what is said of it then."""

    service: Callable[..., None]
    words: str


@never_cache
@require_http_methods(["GET", "POST"])
def training(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Who has qualified in a campaign; a POST changes what is asked for."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    form = TrainingForm(posted(request), initial=get_check_plan(campaign).__dict__)
    if request.method == "POST":
        check_may_lead(access)
        if form.is_valid():
            change_checks(access=access, campaign=campaign, at=timezone.now(), **form.cleaned_data)
            messages.success(request, "Settings saved. They apply to attempts started from now on.")
            return redirect("campaign-training", slug, campaign_id)
    page = get_training_page(access=access, campaign=campaign)
    return render_page(request, "training", page, access=access, form=form)


@require_POST
def training_pass(
    request: HttpRequest, slug: str, campaign_id: UUID, username: str
) -> HttpResponse:
    """Let someone go on to the pairs that count."""
    decision = Decision(services.pass_by_hand, "{} passed and can label pairs that count.")
    return _decide(request, slug, campaign_id, username, decision)


@require_POST
def training_again(
    request: HttpRequest, slug: str, campaign_id: UUID, username: str
) -> HttpResponse:
    """Ask someone to begin the training again."""
    decision = Decision(services.ask_again, "{}’s training was reset.")
    return _decide(request, slug, campaign_id, username, decision)


def _decide(
    request: HttpRequest,
    slug: str,
    campaign_id: UUID,
    username: str,
    decision: Decision,
) -> HttpResponse:
    access, campaign = led_campaign(request, slug, campaign_id)
    person = get_learner(access=access, campaign=campaign, username=username)
    try:
        decision.service(access=access, campaign=campaign, person=person, at=timezone.now())
    except GoldRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(request, decision.words.format(person))
    return redirect("campaign-training", slug, campaign_id)
