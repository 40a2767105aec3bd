"""Who may do what around campaigns; see judgments/permissions.py for the roles."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery, UUIDField
from django.utils.translation import gettext_noop

from annotation.models import Campaign, CampaignAnnotator, GuidelineRevision, Reviewer
from judgments.models import Membership, Role, User
from judgments.permissions import (
    Access,
    Archived,
    NotFound,
    Viewer,
    check_may_lead,
    check_may_see_people,
    check_may_see_rankings,
    may_see_people,
)
from judgments.storage.prepared import PreparedObjects, slot
from touchstone.errors import DomainError


class CampaignClosed(DomainError):
    """The campaign takes no labels now."""

    def __init__(self) -> None:
        super().__init__("campaign_closed", gettext_noop("This campaign is closed."))


class AnnotatorPaused(DomainError):
    """Nothing more is asked of this person for the moment."""

    def __init__(self, words: str) -> None:
        super().__init__("annotator_paused", words)


@dataclass(frozen=True)
class AnnotatorContext:
    """A person's place in a campaign: the ticket for everything that an annotator does.

    is_blind: False for leads of the collection, who can see everything else.
    revision: the number of the guideline's newest revision.
    paused: why nothing more is asked of them for the moment; empty for everyone else.
    news: how many answers and announcements of leads they have not read.
    """

    viewer: User
    campaign: Campaign
    annotator_id: int
    is_blind: bool
    revision: int
    paused: str = ""
    news: int = 0


def get_annotator_context(*, viewer: Viewer, campaign_id: UUID) -> AnnotatorContext:
    """The viewer's place in a campaign that is or was open.

    Raises NotFound for a campaign that is not theirs (any more), is a draft or does not exist,
    and for people who have left the collection.
    """
    if not isinstance(viewer, User) or not viewer.is_active:
        raise NotFound("campaign")
    annotator = next(iter(_place.list(viewer=viewer.pk, campaign=campaign_id)), None)
    if annotator is None or annotator.role is None:
        raise NotFound("campaign")
    return AnnotatorContext(
        viewer=viewer,
        campaign=annotator.campaign,
        annotator_id=annotator.pk,
        is_blind=annotator.is_blind and annotator.role != Role.LEAD,
        revision=annotator.revision,
        paused=annotator.paused,
        news=annotator.news,
    )


def _place_qs() -> QuerySet[Any]:
    """Someone's place in a campaign that is or was open, with their role in its collection."""
    viewer = slot("viewer")
    roles = Membership.objects.filter(
        collection=OuterRef("campaign__list__collection"), user=viewer
    )
    revisions = GuidelineRevision.objects.filter(guideline=OuterRef("campaign__guideline"))
    return (
        CampaignAnnotator.objects.select_related(
            "campaign__list__collection", "campaign__check_plan"
        )
        .filter(campaign__public_id=slot("campaign", UUIDField), user=viewer, is_active=True)
        .exclude(campaign__state=Campaign.State.DRAFT)
        .annotate(
            role=Subquery(roles.order_by().values("role")[:1]),
            revision=Subquery(revisions.order_by("-number").values("number")[:1]),
        )
    )


_place: PreparedObjects[Any] = PreparedObjects(_place_qs)


@dataclass(frozen=True)
class ReviewerContext:
    """A reviewer's place in a campaign: the ticket for everything that a reviewer does."""

    viewer: User
    campaign: Campaign


def get_reviewer_context(*, viewer: Viewer, campaign_id: UUID) -> ReviewerContext:
    """The campaign that the viewer reviews labels of.

    Raises NotFound for any other campaign and for a draft, and for people who have left.
    """
    if not isinstance(viewer, User) or not viewer.is_active:
        raise NotFound("campaign")
    place = (
        Reviewer.objects.select_related("campaign__list__collection")
        .filter(campaign__public_id=campaign_id, user=viewer, is_active=True)
        .exclude(campaign__state=Campaign.State.DRAFT)
        .first()
    )
    if place is None:
        raise NotFound("campaign")
    members_qs = Membership.objects.filter(user=viewer)
    if not members_qs.filter(collection=place.campaign.list.collection_id).exists():
        raise NotFound("campaign")
    return ReviewerContext(viewer, place.campaign)


def is_open(context: AnnotatorContext) -> bool:
    """Whether the campaign takes labels now."""
    return context.campaign.state == Campaign.State.OPEN


def may_label(context: AnnotatorContext) -> bool:
    """Take further pairs: only while the campaign is open, and no one has paused them."""
    return is_open(context) and not context.paused


def check_may_label(context: AnnotatorContext) -> None:
    if not is_open(context):
        raise CampaignClosed
    if context.paused:
        raise AnnotatorPaused(context.paused)


def is_own(access: Access, campaign: Campaign) -> bool:
    """Whether the campaign belongs to the collection that the access is for."""
    return campaign.list.collection_id == access.collection.pk


def check_may_run(access: Access, campaign: Campaign) -> None:
    """Change a campaign: leads, in their own collection. Raises Archived where it, its list or
    its collection is archived."""
    if not is_own(access, campaign):
        raise NotFound("campaign")
    check_may_lead(access)
    if campaign.archived_at is not None:
        raise Archived("campaign")
    if campaign.list.archived_at is not None:
        raise Archived("list")


def check_may_read_labels(access: Access, campaign: Campaign) -> None:
    """See the labels of a campaign: leads and admins; researchers too once it is closed."""
    if not is_own(access, campaign):
        raise NotFound("campaign")
    if may_see_people(access):
        return
    check_may_see_rankings(access)
    if campaign.state != Campaign.State.CLOSED:
        raise NotFound("campaign")


def check_may_watch(access: Access, campaign: Campaign) -> None:
    """See who labelled what: leads and admins, in their own collection."""
    if not is_own(access, campaign):
        raise NotFound("campaign")
    check_may_see_people(access)
