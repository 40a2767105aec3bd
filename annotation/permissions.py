"""Who may do what around campaigns; see judgments/permissions.py for the roles."""

from dataclasses import dataclass
from uuid import UUID

from annotation.models import Campaign, CampaignAnnotator
from judgments.errors import DomainError
from judgments.models import Membership, Role, User
from judgments.permissions import Access, NotFound, Viewer, check_may_lead, check_may_see_people


class CampaignClosed(DomainError):
    """The campaign takes no labels now."""

    def __init__(self) -> None:
        super().__init__("campaign_closed", "This campaign is closed, so nothing more is asked.")


@dataclass(frozen=True)
class Desk:
    """A person's place in a campaign: the ticket for everything that an annotator does.

    is_blind: False for somebody who leads the collection and so can see everything else.
    """

    viewer: User
    campaign: Campaign
    annotator_id: int
    is_blind: bool


def get_desk(*, viewer: Viewer, campaign_id: UUID) -> Desk:
    """The viewer's place in a campaign that is or was open.

    Raises NotFound for a campaign that is not theirs (any more), is a draft or does not exist,
    and for somebody who has left the collection.
    """
    if not isinstance(viewer, User) or not viewer.is_active:
        raise NotFound("campaign")
    annotator = (
        CampaignAnnotator.objects.select_related("campaign__list__collection")
        .filter(campaign__public_id=campaign_id, user=viewer, is_active=True)
        .exclude(campaign__state=Campaign.State.DRAFT)
        .first()
    )
    if annotator is None:
        raise NotFound("campaign")
    campaign = annotator.campaign
    role = _role(viewer, campaign)
    if role is None:
        raise NotFound("campaign")
    return Desk(viewer, campaign, annotator.pk, annotator.is_blind and role != Role.LEAD)


def _role(viewer: User, campaign: Campaign) -> str | None:
    memberships = Membership.objects.filter(collection=campaign.list.collection_id, user=viewer)
    return memberships.values_list("role", flat=True).first()


def may_label(desk: Desk) -> bool:
    """Take further pairs: only while the campaign is open."""
    return desk.campaign.state == Campaign.State.OPEN


def check_may_label(desk: Desk) -> None:
    if not may_label(desk):
        raise CampaignClosed


def is_own(access: Access, campaign: Campaign) -> bool:
    """Whether the campaign belongs to the collection that the access is for."""
    return campaign.list.collection_id == access.collection.pk


def check_may_run(access: Access, campaign: Campaign) -> None:
    """Change a campaign: leads, in their own collection."""
    if not is_own(access, campaign):
        raise NotFound("campaign")
    check_may_lead(access)


def check_may_watch(access: Access, campaign: Campaign) -> None:
    """See who labelled what: leads and admins, in their own collection."""
    if not is_own(access, campaign):
        raise NotFound("campaign")
    check_may_see_people(access)
