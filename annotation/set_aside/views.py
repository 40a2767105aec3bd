"""Setting people's labels aside and pausing people: what that would change, and doing it."""

from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.campaigns.finding import led_campaign
from annotation.gold.actions import pause_people, set_labels_aside
from annotation.gold.services import GoldRefused
from annotation.models import CheckAction, CheckRule
from annotation.pages.rendering import render_page
from annotation.quality.assessment import join_names
from annotation.set_aside.queries import (
    MOST_PEOPLE,
    find_people,
    get_aside_freshness,
    get_without_people,
)
from judgments.pages.rendering import render_freshness
from judgments.waking import publish


@never_cache
@require_http_methods(["GET", "POST"])
def campaign_aside(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """A preview without some people's labels, by a worker; a POST sets them aside, or pauses."""
    access, campaign = led_campaign(request, slug, campaign_id)
    sent = request.POST if request.method == "POST" else request.GET
    asked = sent.getlist("person")
    if len(set(asked)) > MOST_PEOPLE:
        messages.error(request, f"Select at most {MOST_PEOPLE} people at a time.")
        return redirect("campaign-quality", slug, campaign_id)
    chosen = find_people(access=access, campaign=campaign, usernames=asked)
    if request.method != "POST":
        page = get_without_people(access=access, campaign=campaign, chosen=chosen)
        if page.freshness is not None and page.freshness.is_waiting:
            publish("annotation.preview_aside", campaign.pk, page.key)
        names = [person.name for person in page.chosen]
        return render_page(request, "campaign_aside", page, access=access, names=join_names(names))
    act = set_labels_aside if sent.get("act") == "set_aside" else pause_people
    said = {"at": timezone.now(), "reason": sent.get("reason", "").strip()[:1_000]}
    try:
        taken = act(access=access, campaign=campaign, people=chosen, **said)  # type: ignore[arg-type]
    except GoldRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(request, _worded(taken))
    address = reverse("campaign-aside", args=[slug, campaign_id])
    return redirect(f"{address}?{urlencode({'person': asked}, doseq=True)}")


@never_cache
@require_safe
def campaign_aside_state(
    request: HttpRequest, slug: str, campaign_id: UUID, key: str
) -> HttpResponse:
    """The part that shows the progress of a preview; a worker that missed it is woken again."""
    access, campaign = led_campaign(request, slug, campaign_id)
    freshness = get_aside_freshness(access=access, campaign=campaign, key=key)
    if freshness.is_waiting and freshness.computed_at is None:
        publish("annotation.preview_aside", campaign.pk, key)
    return render_freshness(request, freshness, what="preview")


def _worded(taken: list[CheckAction]) -> str:
    aside = sum(len(action.seats) for action in taken)
    paused = sum(action.action == CheckRule.Action.PAUSE for action in taken)
    parts = [f"{aside:,} label{'' if aside == 1 else 's'} set aside"] if aside else []
    parts += [f"{paused} {'person' if paused == 1 else 'people'} paused"] if paused else []
    return f"{', '.join(parts)}." if parts else "Nothing to do: already done."
