"""What a collection's overview says of guidelines and campaigns."""

from collections.abc import Iterator
from typing import Final

from django.db.models import Exists, OuterRef
from django.urls import reverse

from annotation.campaigns.cached_counts import get_or_count
from annotation.campaigns.queries import PairCounts, count_pairs
from annotation.labelling.own_campaigns import OwnCampaign, list_own_campaigns
from annotation.models import Campaign, Guideline, Pair
from annotation.quality.costs import Rates
from annotation.quality.queries import get_quality_page
from annotation.questions.queries import list_campaigns_asked
from judgments.collections.overview_parts import Standing, Step
from judgments.models import JudgmentList
from judgments.permissions import Access, may_lead, may_see_people

MOST: Final = 3  # campaigns at a glance


def list_steps(access: Access) -> Iterator[Step]:
    """Steps for annotators (label) and for leads (guideline, campaign, pool, open)."""
    own = list_own_campaigns(viewer=access.user, collection=access.collection)
    yield from (_label(campaign) for campaign in own if campaign.is_open)
    if may_see_people(access):
        yield from _list_lead_steps(access)


def list_standings(access: Access) -> Iterator[Standing]:
    """How far the newest campaigns are, and whether their labels are good enough; for leads."""
    if not may_see_people(access):
        return
    campaigns_qs = Campaign.objects.filter(list__collection=access.collection)
    begun_qs = (
        campaigns_qs.filter(archived_at=None)
        .exclude(state=Campaign.State.DRAFT)
        .select_related("list", "guideline")
    )
    for order, campaign in enumerate(begun_qs.order_by("-pk")[:MOST]):
        yield _standing(access, campaign, order)


def _standing(access: Access, campaign: Campaign, order: int) -> Standing:
    counts = get_or_count(campaign, "pairs", PairCounts, lambda: count_pairs(campaign))
    text, tone = get_or_count(
        campaign, "verdict", tuple[str, str], lambda: _verdict(access, campaign)
    )
    return Standing(
        order=order,
        kind=f"Campaign, {campaign.get_state_display().lower()}",
        title=campaign.name,
        url=_url("campaign", access, campaign.public_id),
        done=counts.concluded,
        total=counts.all,
        note="pairs with a grade",
        verdict=text,
        verdict_url=_url("campaign-quality", access, campaign.public_id),
        tone=tone,
    )


def _verdict(access: Access, campaign: Campaign) -> tuple[str, str]:
    """Whether the labels are good enough, and how that is coloured; empty while no one knows."""
    verdict = get_quality_page(access=access, campaign=campaign, rates=Rates()).verdict
    return (verdict.text, verdict.tone) if verdict else ("", "")


def _label(own: OwnCampaign) -> Step:
    progress = own.progress
    text = f"{progress.done:,} pairs labelled, {progress.left:,} still to do."
    if own.training:
        text = f"Training: {own.training.done} of {own.training.pairs}."
    return Step(
        order=0,
        title=f"Label in {own.name}",
        text=text,
        is_done=progress.left == 0,
        url=reverse("label", args=[own.campaign_id]),
    )


def _list_lead_steps(access: Access) -> Iterator[Step]:
    collection, leads = access.collection, may_lead(access)
    campaigns_qs = Campaign.objects.filter(list__collection=collection)
    has_list = JudgmentList.objects.filter(collection=collection).exists()
    guidelines_qs = Guideline.objects.filter(collection=collection)
    yield Step(
        order=60,
        title="Write the guideline",
        text="Defines each grade, with examples, so that annotators agree.",
        is_done=guidelines_qs.exists(),
        url=_url("guideline-create", access) if leads and has_list else "",
    )
    yield Step(
        order=70,
        title="Create a campaign",
        text="Labels per pair, guideline, and annotators.",
        is_done=campaigns_qs.exists(),
        url=_url("campaign-create", access) if leads and guidelines_qs.exists() else "",
    )
    pairs = Pair.objects.filter(campaign=OuterRef("pk"))
    waiting = campaigns_qs.filter(~Exists(pairs)).order_by("-pk").first()
    newest = waiting or campaigns_qs.order_by("-pk").first()
    yield Step(
        order=80,
        title="Build its pool",
        text="The pairs to label: the top of each run, or a sample.",
        is_done=newest is not None and waiting is None,
        url=_url("campaign-pool", access, newest.public_id) if leads and newest else "",
    )
    is_open = campaigns_qs.exclude(state=Campaign.State.DRAFT).exists()
    yield Step(
        order=90,
        title="Open the campaign",
        text="Annotators can then start labelling.",
        is_done=is_open,
        url=_url("campaign", access, newest.public_id) if newest else "",
    )

    for campaign in list_campaigns_asked(campaigns_qs):
        yield Step(
            order=95,
            title=f"Answer questions in {campaign.name}",
            text=f"Waiting for an answer: {campaign.questions_waiting:,}.",
            is_done=False,
            url=_url("campaign-questions", access, campaign.public_id),
        )


def _url(name: str, access: Access, *more: object) -> str:
    return reverse(name, args=[access.collection.slug, *more])
