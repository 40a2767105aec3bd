"""What charts over time mark: revisions of the guideline, and what rules and leads did."""

from collections import Counter
from datetime import datetime
from typing import Final

from annotation.models import Campaign, CheckAction, CheckRule
from annotation.quality.figures import Event

MOST: Final = 100
ACTIONS: Final = CheckRule.Action
DONE: Final = {
    ACTIONS.WARN: ("an annotator was warned", "{} annotators were warned"),
    ACTIONS.PAUSE: ("an annotator was paused", "{} annotators were paused"),
    ACTIONS.REQUEUE: (
        "labels of an annotator were set aside",
        "labels of {} annotators were set aside",
    ),
}


def list_marked(campaign: Campaign, since: datetime | None = None) -> list[Event]:
    """The newest events of a campaign, in order; no one's name. What was done at once is one."""
    revisions_qs = campaign.guideline.revisions.filter(number__gt=1)
    actions_qs = CheckAction.objects.filter(
        campaign=campaign, action__in=list(DONE), undoes=None, undone_by=None
    )
    if since is not None:
        revisions_qs = revisions_qs.filter(created_at__gte=since)
        actions_qs = actions_qs.filter(taken_at__gte=since)
    revisions = revisions_qs.order_by("-number").values_list("number", "created_at")[:MOST]
    events = [
        Event(at.timestamp(), "guideline", f"revision {number} of the guideline")
        for number, at in revisions
    ]
    rows = actions_qs.order_by("-taken_at", "-pk").values_list("action", "taken_at")[:MOST]
    for (action, at), count in Counter(rows).items():
        one, many = DONE[ACTIONS(action)]
        words = one if count == 1 else many.format(f"{count:,}")
        events.append(Event(at.timestamp(), "action", words))
    return sorted(events, key=lambda event: (event.at, event.text))[-MOST:]
