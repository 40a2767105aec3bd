"""Asking for one more label of many pairs, and taking that back."""

from urllib.parse import urlencode
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.campaigns.finding import led_campaign
from annotation.models import Campaign
from annotation.overlap_requests.forms import OverlapForm
from annotation.overlap_requests.queries import get_overlap_page, list_left_out
from annotation.overlap_requests.services import OverlapRefused, add_overlap, withdraw_overlap
from annotation.pages.rendering import render_page
from judgments.pages.rendering import posted


@never_cache
@require_http_methods(["GET", "POST"])
def overlap(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """For how many pairs, and what was asked for before; a POST asks. ?segment= narrows it."""
    access, campaign = led_campaign(request, slug, campaign_id)
    segment = request.GET.get("segment")
    form = OverlapForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            count = add_overlap(
                access=access, campaign=campaign, segment=segment, at=timezone.now(),
                **form.cleaned_data,
            )  # fmt: skip
        except OverlapRefused as error:
            form.add_error(None, error.message)
        else:
            asked = form.cleaned_data["pairs"]
            messages.success(request, _say_requested(campaign, segment, asked, count))
            query = "" if segment is None else f"?{urlencode({'segment': segment})}"
            return redirect(f"{reverse('campaign-overlap', args=[slug, campaign_id])}{query}")
    page = get_overlap_page(access=access, campaign=campaign, segment=segment)
    if not form.is_bound:
        form = OverlapForm(initial={"pairs": page.proposed, "batch": uuid4()})
    return render_page(request, "overlap", page, access=access, form=form)


def _say_requested(campaign: Campaign, segment: str | None, asked: int, count: int) -> str:
    """How many labels were requested, and why not as many as were asked for."""
    if count >= asked:
        return f"Labels requested: {count:,}."
    why = ", ".join(list_left_out(campaign, segment))
    return f"Labels requested: {count:,} of {asked:,}. Not available now: {why}."


@require_POST
def overlap_withdraw(
    request: HttpRequest, slug: str, campaign_id: UUID, batch: UUID
) -> HttpResponse:
    """Take back what no one has labelled yet."""
    access, campaign = led_campaign(request, slug, campaign_id)
    try:
        count = withdraw_overlap(access=access, campaign=campaign, batch=batch, at=timezone.now())
    except OverlapRefused as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"Requests withdrawn: {count:,}.")
    return redirect("campaign-overlap", slug, campaign_id)
