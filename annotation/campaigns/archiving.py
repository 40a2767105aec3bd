"""Archiving campaigns that are not open, and restoring them."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from annotation.campaigns.services import CampaignRefused
from annotation.models import Campaign
from annotation.permissions import is_own
from judgments.audit import services as audit
from judgments.models import JudgmentList
from judgments.permissions import Access, Archived, NotFound, check_may_lead


def archive_campaign(*, access: Access, campaign: Campaign, at: datetime) -> None:
    """Hide a campaign and refuse every change of it; for leads.

    Raises CampaignRefused while it is open. Again changes nothing.
    """
    _check(access, campaign)
    with transaction.atomic():
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        if locked.state == Campaign.State.OPEN:
            raise CampaignRefused("state", "Close the campaign first.")
        if Campaign.objects.filter(pk=locked.pk, archived_at=None).update(archived_at=at):
            audit.record_by(access, at, "campaign.archived", locked.name)


def restore_campaign(*, access: Access, campaign: Campaign, at: datetime) -> None:
    """Show an archived campaign again, and let it be changed; for leads."""
    _check(access, campaign)
    with transaction.atomic():
        own_qs = Campaign.objects.filter(pk=campaign.pk).exclude(archived_at=None)
        if own_qs.update(archived_at=None):
            audit.record_by(access, at, "campaign.restored", campaign.name)


def list_open_names(lists: Iterable[JudgmentList]) -> list[str]:
    """The names of the open campaigns of these lists: they can't be archived meanwhile."""
    open_qs = Campaign.objects.filter(list__in=list(lists), state=Campaign.State.OPEN)
    return list(open_qs.order_by("name").values_list("name", flat=True))


def _check(access: Access, campaign: Campaign) -> None:
    if not is_own(access, campaign):
        raise NotFound("campaign")
    check_may_lead(access)
    if campaign.list.archived_at is not None:
        raise Archived("list")
