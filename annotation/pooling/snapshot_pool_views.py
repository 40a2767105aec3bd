"""A pool from live rankers, asked for on the pool's page."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.campaigns.finding import led_campaign
from annotation.pooling import snapshot_pools
from judgments.pages.refusing import RefusalsAsMessages


@require_POST
def pool_snapshots(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """Ask all live rankers, and add the top of their runs once they have answered."""
    access, campaign = led_campaign(request, slug, campaign_id)
    with RefusalsAsMessages(request):
        snapshot_pools.pool_snapshots(access=access, campaign=campaign, at=timezone.now())
        messages.success(request, "Snapshots started. The pairs are added when they are done.")
    return redirect("campaign-pool", slug, campaign_id)
