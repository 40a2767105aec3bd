"""The pages around a campaign: all campaigns, one as its leads see it, and what others may see."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from annotation.adjudication.pairs import PairRow, list_widest
from annotation.assignment.queries import Coverage, get_coverage
from annotation.campaigns.queries import (
    Contributor,
    Dashboard,
    PairCounts,
    count_pairs,
    get_dashboard,
    is_overdue,
    list_campaigns,
    list_candidates,
    list_closed_campaigns,
    list_contributors,
)
from annotation.dashboards.approvals import count_waiting
from annotation.gold.feedback import count_feedback
from annotation.gold.queries import count_standing, count_used_up, get_check_plan
from annotation.guidelines.shown import ShownGuideline, get_newest_guideline
from annotation.labelling.own_campaigns import (
    OwnCampaign,
    Progress,
    count_progress,
    list_own_campaigns,
)
from annotation.labelling.own_labels import OwnSkip, list_own_skips
from annotation.models import Assignment, Campaign, CheckPlan, Guideline, Pool
from annotation.permissions import AnnotatorContext, check_may_watch, is_own
from annotation.questions.own_queries import CampaignAnnouncements, list_unread_announcements
from annotation.questions.queries import count_waiting as count_questions
from annotation.reviews.queries import OwnReviews, list_own_reviews
from annotation.training.queries import count_waiting_to_qualify
from annotation.training.standing import find_training
from judgments.models import Collection, JudgmentList, User
from judgments.permissions import Access, NotFound, may_see_people, may_see_rankings


@dataclass(frozen=True)
class CampaignsPage:
    """The campaigns of a collection.

    current: open ones in which the viewer annotates. past: closed ones. reviews: open ones, of any
    collection, whose labels they review.
    rows: all of them for leads and admins, the closed ones for researchers, else none.
    archived: how many others are archived; shows_archived: the rows are these.
    has_list, has_guideline: whether what a campaign needs is there.
    """

    current: tuple[OwnCampaign, ...]
    past: tuple[OwnCampaign, ...]
    reviews: tuple[OwnReviews, ...]
    rows: tuple[Campaign, ...]
    archived: int
    shows_archived: bool
    shows_people: bool
    has_list: bool
    has_guideline: bool


@dataclass(frozen=True)
class MyCampaigns:
    """The campaigns in which someone annotates: open ones, and closed ones.

    The first of the open ones is the one to go on with. announcements: those not read yet.
    reviews: the open campaigns whose labels they review.
    """

    current: tuple[OwnCampaign, ...]
    past: tuple[OwnCampaign, ...]
    announcements: tuple[CampaignAnnouncements, ...] = ()
    reviews: tuple[OwnReviews, ...] = ()

    @property
    def is_led(self) -> bool:
        """Whether one button above all campaigns says which to go on with."""
        return len(self.current) > 1 and self.current[0].progress.left > 0


@dataclass(frozen=True)
class CampaignPage:
    """A campaign as its leads see it.

    advice: what to do next, the most useful first: words that the template knows.
    waiting: in an approval campaign, how many grades an approval would change.
    is_mine: the viewer annotates in it, and it is open. gold_items: pairs with a known answer.
    used_up: people who have met all of them, where the lead wants to be told. actions: what rules
    did about people and no one took back. unqualified: people who wait for the lead before they
    can go on to the pairs that count. questions: of annotators, that wait for an answer.
    closing: what closing it now leaves undone, in sentences.
    is_overdue: it is open after the day on which it was due. coverage: queries that too few people
    may label.
    """

    campaign: Campaign
    dashboard: Dashboard
    widest: tuple[PairRow, ...]
    pools: QuerySet[Pool]
    candidates: tuple[User, ...]
    advice: tuple[str, ...]
    waiting: int
    is_mine: bool
    checks: CheckPlan
    gold_items: int
    used_up: int
    actions: int
    unqualified: int
    questions: int
    is_overdue: bool
    coverage: Coverage
    closing: tuple[str, ...]


@dataclass(frozen=True)
class OwnPage:
    """A campaign as its annotator sees it: nothing but the name, the guideline, own counts.

    feedback: how many batches of it there are to read.
    """

    campaign: OwnCampaign
    guideline: ShownGuideline
    feedback: int
    skips: tuple[OwnSkip, ...]

    @property
    def progress(self) -> Progress:
        return self.campaign.progress


@dataclass(frozen=True)
class SummaryPage:
    """A closed campaign as researchers see it: no names, no reasons, nothing of single pairs."""

    campaign: Campaign
    counts: PairCounts
    contributors: tuple[Contributor, ...]
    guideline: ShownGuideline


def get_my_campaigns(*, viewer: User, collection: Collection | None = None) -> MyCampaigns:
    """Where the viewer annotates, in one collection or in all."""
    own = list_own_campaigns(viewer=viewer, collection=collection)
    return MyCampaigns(
        current=tuple(one for one in own if one.is_open),
        past=tuple(one for one in own if not one.is_open),
        announcements=list_unread_announcements(viewer) if collection is None else (),
        reviews=list_own_reviews(viewer),
    )


def get_campaigns_page(*, access: Access, shows_archived: bool = False) -> CampaignsPage:
    """The campaigns of the collection, as far as the viewer may see them.

    shows_archived: those that are archived, and no others.
    """
    people = may_see_people(access)
    collection = access.collection
    rows: QuerySet[Any] = Campaign.objects.none()
    if people:
        rows = list_campaigns(access=access)
    elif may_see_rankings(access):
        rows = list_closed_campaigns(access=access)
    archived = Q(archived_at__isnull=False)
    mine = get_my_campaigns(viewer=access.user, collection=collection)
    return CampaignsPage(
        current=mine.current,
        past=mine.past,
        reviews=mine.reviews,
        rows=tuple(rows.filter(archived if shows_archived else ~archived)),
        archived=0 if shows_archived else rows.filter(archived).order_by().count(),
        shows_archived=shows_archived,
        shows_people=people,
        has_list=people
        and JudgmentList.objects.filter(collection=collection, archived_at=None).exists(),
        has_guideline=people and Guideline.objects.filter(collection=collection).exists(),
    )


def get_campaign_page(*, access: Access, campaign: Campaign, now: datetime) -> CampaignPage:
    """The dashboard of a campaign; for leads and admins."""
    dashboard = get_dashboard(access=access, campaign=campaign, now=now)
    waiting, questions = count_waiting(campaign), count_questions(campaign)
    is_open = campaign.state == Campaign.State.OPEN
    return CampaignPage(
        campaign=campaign,
        dashboard=dashboard,
        widest=tuple(list_widest(access=access, campaign=campaign, pair_ids=dashboard.widest)),
        pools=campaign.pools.select_related("saved_set", "plan").order_by("pk"),
        candidates=tuple(list_candidates(access=access, campaign=campaign)),
        advice=tuple(_advice(dashboard, waiting, questions)),
        waiting=waiting,
        is_mine=is_open and campaign.annotators.filter(user=access.user, is_active=True).exists(),
        checks=get_check_plan(campaign),
        gold_items=campaign.gold.filter(retired_at=None).count(),
        actions=count_standing(campaign),
        used_up=count_used_up(campaign) if is_open else 0,
        unqualified=count_waiting_to_qualify(campaign) if is_open else 0,
        questions=questions,
        is_overdue=is_overdue(campaign, now),
        coverage=get_coverage(campaign),
        closing=tuple(_say_undone(campaign, dashboard.counts, waiting, questions)),
    )


def list_undone(*, access: Access, campaign: Campaign) -> tuple[str, ...]:
    """What closing an open campaign now leaves undone, in sentences; for leads and admins."""
    check_may_watch(access, campaign)
    waiting, questions = count_waiting(campaign), count_questions(campaign)
    return tuple(_say_undone(campaign, count_pairs(campaign), waiting, questions))


def _say_undone(
    campaign: Campaign, counts: PairCounts, waiting: int, questions: int
) -> Iterator[str]:
    if campaign.state != Campaign.State.OPEN:
        return
    if missing := counts.labels_needed - counts.labels:
        yield (
            f"{_some(missing, 'label is', 'labels are')} missing, and "
            f"{_some(counts.open, 'pair has', 'pairs have')} no grade from this campaign."
        )
    held_qs = Assignment.objects.filter(
        annotator__in=campaign.annotators.values("user"),
        state=Assignment.State.LEASED,
        pair__campaign=campaign,
    )
    if held := held_qs.order_by().count():
        yield (
            f"{_some(held, 'pair is', 'pairs are')} taken back from annotators: labels of them "
            "that have not arrived yet count only if the campaign is reopened."
        )
    if counts.tied:
        yield (
            f"{_some(counts.tied, 'pair needs', 'pairs need')} adjudication, which remains "
            "possible."
        )
    if waiting:
        yield f"{_some(waiting, 'grade is', 'grades are')} not approved and not in the list."
    if questions:
        yield f"{_some(questions, 'question is', 'questions are')} not answered."


def _some(count: int, one: str, many: str) -> str:
    return f"1 {one}" if count == 1 else f"{count:,} {many}"


def get_own_page(*, access: Access, context: AnnotatorContext) -> OwnPage:
    """What an annotator sees of a campaign besides the leased pairs."""
    campaign = context.campaign
    if not is_own(access, campaign):
        raise NotFound("campaign")
    return OwnPage(
        OwnCampaign(
            campaign_id=campaign.public_id,
            name=campaign.name,
            collection_slug=access.collection.slug,
            collection_name=access.collection.name,
            is_open=campaign.state == Campaign.State.OPEN,
            progress=count_progress(context),
            training=find_training(campaign, context.viewer),
            news=context.news,
        ),
        get_newest_guideline(campaign),
        count_feedback(context),
        tuple(list_own_skips(context)),
    )


def get_summary_page(*, access: Access, campaign: Campaign) -> SummaryPage:
    """What researchers may know of a campaign, once it is closed."""
    return SummaryPage(
        campaign=campaign,
        counts=count_pairs(campaign),
        contributors=tuple(list_contributors(access=access, campaign=campaign)),
        guideline=get_newest_guideline(campaign),
    )


def _advice(dashboard: Dashboard, waiting: int, questions: int) -> list[str]:
    """What a lead does next, from the state of things."""
    campaign, counts = dashboard.campaign, dashboard.counts
    people = dashboard.people
    if campaign.state == Campaign.State.DRAFT:
        missing = [] if counts.all else ["pool"]
        missing += ["people"] if people < campaign.overlap else []
        return missing or ["open"]
    advice = ["questions"] if questions else []
    advice += ["decide"] if counts.tied else []
    advice += ["approve"] if waiting else []
    if campaign.state == Campaign.State.OPEN:
        advice += ["people"] if people < campaign.overlap else []
        advice += ["close"] if not counts.open else ["label"]
    elif counts.open:
        advice += ["incomplete"]
    return advice or ["done"]
