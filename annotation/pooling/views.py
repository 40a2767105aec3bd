"""The pool of a campaign: choosing, seeing the size beforehand, building, topping up."""

import secrets
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.campaigns.finding import led_campaign
from annotation.models import Campaign
from annotation.pages.rendering import render_page
from annotation.pooling import services
from annotation.pooling.forms import SAMPLE, PoolForm
from annotation.pooling.queries import PoolPreview, PoolRefused, TopUp, preview_pool, preview_top_up
from evaluation.public import count_live_rankers, list_runs
from judgments.pages.rendering import is_part, posted
from judgments.permissions import Access
from judgments.rate_limits import costly
from judgments.samples.queries import list_plans
from judgments.sets.queries import list_sets


@never_cache
@require_http_methods(["GET", "POST"])
def pool(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Choose what a campaign's people label; a POST builds it, or shows its size first."""
    access, campaign = led_campaign(request, slug, campaign_id)
    form = _form(request, access, campaign)
    preview = None
    if request.method == "POST" and form.is_valid():
        if "preview" in request.POST:
            preview = _preview(access, campaign, form)
        elif _build(request, access, campaign, form):
            return redirect("campaign", slug, campaign_id)
    return render_page(
        request,
        "pool",
        campaign,
        access=access,
        form=form,
        preview=preview,
        top_up=_top_up(access, campaign),
        live_rankers=count_live_rankers(access=access),
        snapshot_pool=campaign.snapshot_pools.order_by("-pk").first(),
    )


@costly
@require_POST
def pool_preview(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """How large the pool would be that the form describes; the page asks at every change."""
    access, campaign = led_campaign(request, slug, campaign_id)
    form = _form(request, access, campaign)
    preview = _preview(access, campaign, form) if form.is_valid() else None
    return render_page(
        request, "_pool_preview", campaign, access=access, form=form, preview=preview
    )


@never_cache
@require_http_methods(["GET", "POST"])
def top_up(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """What is new at the campaign's depth; a POST adds it."""
    access, campaign = led_campaign(request, slug, campaign_id)
    if request.method == "POST":
        try:
            made = services.top_up(access=access, campaign=campaign, at=timezone.now())
        except PoolRefused as error:
            messages.error(request, error.message)
        else:
            skipped = f" Skipped: {'; '.join(made.skipped)}." if made.skipped else ""
            messages.success(request, f"{_pairs(made.pool.pair_count)} added.{skipped}")
        return redirect("campaign", slug, campaign_id)
    if not is_part(request):
        return redirect("campaign-pool", slug, campaign_id)
    result = _top_up(access, campaign)
    return render_page(request, "_top_up", campaign, access=access, top_up=result)


def _form(request: HttpRequest, access: Access, campaign: Campaign) -> PoolForm:
    choices = list_runs(access=access)
    newest: dict[str, str] = {}  # by ranker: runs come by ranker, the newest first
    for run in choices:
        newest.setdefault(run.ranker_slug, str(run.public_id))
    initial = {
        "runs": list(newest.values()),
        "depth": campaign.depth,
        "seed": secrets.randbits(31),
    }
    sets = [one for one in list_sets(access=access) if one.archived_at is None]
    plans = list_plans(judgment_list=campaign.list)
    if "sample" in request.GET:  # the link of a sample's page
        initial["saved_set"] = f"{SAMPLE}{request.GET['sample']}"
    return PoolForm(posted(request), choices=choices, sets=sets, plans=plans, initial=initial)


def _preview(access: Access, campaign: Campaign, form: PoolForm) -> PoolPreview | None:
    try:
        return preview_pool(access=access, campaign=campaign, plan=form.plan())
    except PoolRefused as error:
        form.add_error(None, error.message)
        return None


def _build(request: HttpRequest, access: Access, campaign: Campaign, form: PoolForm) -> bool:
    try:
        made = services.build_pool(
            access=access, campaign=campaign, plan=form.plan(), at=timezone.now()
        )
    except PoolRefused as error:
        form.add_error(None, error.message)
        return False
    messages.success(request, f"{_pairs(made.pair_count)} added.")
    return True


def _top_up(access: Access, campaign: Campaign) -> TopUp | None:
    """What a top-up would bring; None where there is nothing to top up."""
    if campaign.state == Campaign.State.CLOSED:
        return None
    try:
        result = preview_top_up(access=access, campaign=campaign)
    except PoolRefused:
        return None
    return result if result.preview.pairs else None


def _pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count:,} pairs"
