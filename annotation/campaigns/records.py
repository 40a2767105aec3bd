"""The audit rows of what happens to people in campaigns."""

from datetime import datetime
from typing import Any

from annotation.models import Campaign
from judgments.audit import services as audit
from judgments.models import User


def record_person(
    campaign: Campaign, person: User, actor: User | None, at: datetime, action: str, *, after: Any
) -> None:
    """An event about a person in a campaign; actor: None for a rule."""
    audit.record(
        collection=campaign.list.collection,
        actor=actor,
        at=at,
        action=action,
        subject=f"{person.username} in {campaign.name}",
        after=after,
    )
