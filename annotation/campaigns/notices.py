"""What people are told of a campaign; each call says an event once (judgments/messages)."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from annotation.models import Campaign, CampaignAnnotator
from judgments.messages.people import PERSON
from judgments.messages.services import list_leads, notify, notify_digest
from judgments.models import User
from judgments.webhooks.services import publish_event


def adjudication_key(campaign_id: int) -> str:
    """The event that pairs of a campaign need adjudication."""
    return f"campaign:{campaign_id}:adjudication"


def _page(campaign: Campaign, name: str = "campaign") -> tuple[str, str, str]:
    """A page of a campaign: the URL's name and arguments."""
    return name, campaign.list.collection.slug, str(campaign.public_id)


def tell_invited(campaign: Campaign, people: Iterable[User], *, at: datetime) -> None:
    """Tell annotators that an open campaign has pairs for them."""
    notify(
        kind="invited",
        key=f"campaign:{campaign.pk}:invited",
        people=people,
        payload=_names(campaign),
        page=_page(campaign),
        collection=campaign.list.collection,
        at=at,
    )


def tell_paused(
    annotator: CampaignAnnotator,
    *,
    action_id: int,
    reason: str,
    accuracy: Mapping[str, int] | None = None,
    at: datetime,
) -> None:
    """Tell someone that they are paused, and leads where a rule did it.

    reason: a marked text. accuracy: of a rule, for the leads: right, checks, below_percent.
    """
    campaign, key = annotator.campaign, f"check-action:{action_id}"
    collection = campaign.list.collection
    notify(
        kind="paused",
        key=key,
        people=[annotator.user],
        payload=_names(campaign) | {"reason": reason},
        page=_page(campaign),
        collection=collection,
        at=at,
    )
    if accuracy is None:
        return
    notify(
        kind="paused",
        key=key,
        people=[lead for lead in list_leads(collection) if lead.pk != annotator.user_id],
        payload=_names(campaign) | {"variant": "leads", PERSON: annotator.user_id} | dict(accuracy),
        page=_page(campaign, "campaign-gold"),
        collection=collection,
        at=at,
    )


def tell_closed(campaign: Campaign, *, at: datetime) -> None:
    """Tell webhooks that a campaign was closed; again after a reopening."""
    publish_event(
        event="campaign.closed",
        key=f"campaign:{campaign.pk}:closed:{at.isoformat()}",
        collection=campaign.list.collection,
        data={
            "campaign": str(campaign.public_id),
            "name": campaign.name,
            "list": campaign.list.slug,
            "pairs": campaign.pairs.count(),
        },
        at=at,
    )


def tell_report_ready(campaign: Campaign, *, at: datetime) -> None:
    """Tell leads that the report of a closed campaign is complete; again after a reopening."""
    closed = campaign.closed_at.isoformat() if campaign.closed_at else ""
    notify(
        kind="report",
        key=f"campaign:{campaign.pk}:report:{closed}",
        people=list_leads(campaign.list.collection),
        payload=_names(campaign),
        page=_page(campaign, "campaign-quality"),
        collection=campaign.list.collection,
        at=at,
    )


def tell_adjudication(
    campaign: Campaign, *, count: int, leads: Iterable[User], at: datetime
) -> None:
    """Tell leads how many pairs need adjudication; at 0 the notice is settled."""
    pairs = "1 pair needs adjudication" if count == 1 else f"{count:,} pairs need adjudication"
    notify_digest(
        kind="adjudication",
        key=adjudication_key(campaign.pk),
        people=leads,
        count=count,
        payload=_names(campaign) | {"pairs": pairs},
        page=_page(campaign, "campaign-queue"),
        collection=campaign.list.collection,
        at=at,
    )


def tell_deadline(
    campaign: Campaign, *, is_over: bool, done: int, pairs: int, at: datetime
) -> None:
    """Tell leads that an open campaign is due soon or overdue, and of the first its annotators."""
    due = campaign.due_on
    assert due is not None
    people = list_leads(campaign.list.collection)
    if not is_over:
        active_qs = campaign.annotators.filter(is_active=True, paused="")
        people += User.objects.filter(is_active=True, pk__in=active_qs.values("user"))
    notify(
        kind="deadline",
        key=f"campaign:{campaign.pk}:due:{due.isoformat()}:{'over' if is_over else 'near'}",
        people=people,
        payload=_names(campaign)
        | {"due": due.isoformat(), "done": done, "pairs": pairs}
        | ({"variant": "overdue"} if is_over else {}),
        page=_page(campaign),
        collection=campaign.list.collection,
        at=at,
    )


def _names(campaign: Campaign) -> dict[str, str | int]:
    return {"campaign": campaign.name, "collection": campaign.list.collection.name}
