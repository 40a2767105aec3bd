"""Labelling in progress, for leads: leases and skipped queries, and releasing them."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.campaigns.finding import led_campaign, watched_campaign
from annotation.campaigns.queries import get_annotator
from annotation.dashboards.monitoring import get_monitor_page
from annotation.labelling.reassigning import reassign_leases, release_leases_of
from annotation.labelling.skipping import give_back, return_skip
from annotation.pages.rendering import render_page
from annotation.permissions import get_annotator_context
from judgments.live import labels_topic, now
from judgments.pages.rendering import is_part
from judgments.pages.streams import event_of, key_of, offer_stream, share_part
from judgments.permissions import NotFound


@never_cache
@require_safe
def campaign_live(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Who is at work, how fast it goes, and when it may end.

    An open page asks for its moving part because of an event of the listener, which then lets the
    other pages of the campaign have the answer.
    """
    access, campaign = watched_campaign(request, slug, campaign_id)
    topic = labels_topic(campaign.list_id)
    key = key_of(request, access=access, topic=topic)
    event, moment = event_of(request) if is_part(request) else "", now()
    page = get_monitor_page(
        access=access, campaign=campaign, now=timezone.now(), is_fresh=bool(event)
    )
    template = "_live" if is_part(request) else "campaign_live"
    response = render_page(request, template, page, access=access)
    if event:
        share_part(response.text, key=key, event=event, moment=moment)
    offer_stream(response, request, access=access, topic=topic, key=key)
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def leases_release(
    request: HttpRequest, slug: str, campaign_id: UUID, username: str
) -> HttpResponse:
    """Release an annotator's leases, or reassign them (`to`)."""
    access, campaign = led_campaign(request, slug, campaign_id)
    at = timezone.now()
    if request.method != "POST":
        workers = get_monitor_page(access=access, campaign=campaign, now=at).workers
        row = next((one for one in workers if one.username == username), None)
        if row is None:
            raise NotFound("annotator")
        others = [
            one
            for one in workers
            if one.is_active and not (one.is_suspended or one.is_paused) and one is not row
        ]
        return render_page(
            request, "leases_release", row, access=access, campaign=campaign, others=others
        )
    person = get_annotator(access=access, campaign=campaign, username=username)
    if request.POST.get("to"):
        to = get_annotator(access=access, campaign=campaign, username=request.POST["to"])
        taken = reassign_leases(access=access, campaign=campaign, person=person, to=to, at=at)
        messages.success(request, f"Pairs reassigned from {person} to {to}: {taken:,}.")
    else:
        ended = release_leases_of(access=access, campaign=campaign, person=person, at=at)
        messages.success(request, f"Pairs of {person} released: {ended:,}.")
    return redirect("campaign-live", slug, campaign_id)


@require_POST
def skip_give_back(
    request: HttpRequest, slug: str, campaign_id: UUID, skip_id: UUID
) -> HttpResponse:
    """Unskip a query for the annotator who skipped it."""
    access, campaign = led_campaign(request, slug, campaign_id)
    skip = give_back(access=access, campaign=campaign, skip_id=skip_id, at=timezone.now())
    messages.success(request, f"Query unskipped for {skip.annotator}.")
    return redirect("campaign-live", slug, campaign_id)


@require_POST
def skip_return(request: HttpRequest, campaign_id: UUID, skip_id: UUID) -> HttpResponse:
    """Let a query come again that one has skipped oneself."""
    context = get_annotator_context(viewer=request.user, campaign_id=campaign_id)
    return_skip(context=context, skip_id=skip_id, at=timezone.now())
    messages.success(request, gettext("Query unskipped."))
    return redirect("campaign", context.campaign.list.collection.slug, campaign_id)
