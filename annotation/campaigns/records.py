"""The audit rows of what happens to people in campaigns."""

from datetime import datetime
from typing import Any

from annotation.models import Campaign
from judgments.audit import services as audit
from judgments.models import User


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
