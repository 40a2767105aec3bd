"""The audit rows of campaigns; written inside the transaction of the change."""

from datetime import datetime
from typing import Any

from annotation.models import Campaign
from judgments.models import User
from judgments.permissions import Access
from judgments.services import audit


def record_campaign(
    access: Access,
    at: datetime,
    action: str,
    campaign: Campaign,
    *,
    before: Any = None,
    after: Any = None,
) -> None:
    """What a member did with a campaign."""
    audit.record(
        collection=access.collection,
        actor=access.user,
        at=at,
        action=action,
        subject=campaign.name,
        before=before,
        after=after,
    )


def record_person(
    campaign: Campaign, person: User, actor: User | None, at: datetime, action: str, *, after: Any
) -> None:
    """What happened to somebody in a campaign; actor: None where a rule did it."""
    audit.record(
        collection=campaign.list.collection,
        actor=actor,
        at=at,
        action=action,
        subject=f"{person.username} in {campaign.name}",
        after=after,
    )
