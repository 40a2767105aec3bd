"""The audit rows of what happens to people in campaigns."""

from datetime import datetime
from typing import Any

from annotation.models import Campaign
from judgments.models import User
from judgments.services import audit


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
