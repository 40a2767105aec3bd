"""The campaign of a URL, if the viewer may see it."""

from uuid import UUID

from django.http import HttpRequest

from annotation.campaigns.queries import get_campaign
from annotation.models import Campaign
from annotation.permissions import check_may_run
from judgments.permissions import Access, get_access


def watched_campaign(request: HttpRequest, slug: str, campaign_id: UUID) -> tuple[Access, Campaign]:
    """A campaign that the viewer may watch, and their access to its collection."""
    access = get_access(viewer=request.user, slug=slug)
    return access, get_campaign(access=access, campaign_id=campaign_id)


def led_campaign(request: HttpRequest, slug: str, campaign_id: UUID) -> tuple[Access, Campaign]:
    """A campaign that the viewer leads, and their access to its collection."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    check_may_run(access, campaign)
    return access, campaign
