"""The campaigns in which someone annotates, and their progress."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, Subquery

from annotation.labelling.shown_pairs import FILLED, HELD, TRAINING, count_filled
from annotation.models import (
    Assignment,
    Campaign,
    CampaignAnnotator,
    Label,
    QuerySkip,
)
from annotation.permissions import AnnotatorContext
from annotation.seats.assigned import withheld_from
from annotation.seats.streams import is_met, is_replaced, row_by_row
from annotation.training.standing import TrainingShown, find_training
from judgments.models import Collection, Membership, User
from judgments.storage.caches import read_cached, write_cached

# Seconds for which a count of what is left is used: the more it is, the less others change it.
SHORTEST, LONGEST, EACH_LEFT = 15.0, 300.0, 0.05


@dataclass(frozen=True)
class Progress:
    """How many pairs the viewer has labelled, and how many there still are for them."""

    done: int
    left: int

    @property
    def all(self) -> int:
        return self.done + self.left


@dataclass(frozen=True)
class OwnCampaign:
    """A campaign in which the viewer annotates. last_at: when they labelled in it last. training:
    their progress in it, where they have to qualify first. news: answers and announcements that
    they have not read."""

    campaign_id: UUID
    name: str
    collection_slug: str
    collection_name: str
    is_open: bool
    progress: Progress
    last_at: datetime | None = None
    training: TrainingShown | None = None
    news: int = 0


def count_progress(context: AnnotatorContext, *, is_exact: bool = True) -> Progress:
    """The viewer's own counts; pairs that others are filling may still drop out of `left`.

    What is left reads every free seat of the campaign. is_exact: False where it is asked for with
    every label: `left` then follows the viewer's own work at once, and that of others later, by
    the end of the campaign within seconds.
    """
    name = f"progress:{context.campaign.public_id}:{context.viewer.pk}"
    known = None if is_exact else read_cached(name, int)
    if known is not None:
        done = count_filled(context)
        return Progress(done, max(0, known - done))
    progress = _count_progress(context.viewer, [context.campaign])[context.campaign.pk]
    holds = min(LONGEST, max(SHORTEST, EACH_LEFT * progress.left))
    write_cached(name, progress.all, int(holds))
    return progress


def list_own_campaigns(*, viewer: User, collection: Collection | None = None) -> list[OwnCampaign]:
    """The campaigns in which the viewer annotates, open ones first.

    Among them those first in which there is something to do, and the one labelled in last before
    all; then the newest.
    """
    memberships_qs = Membership.objects.filter(user=viewer)
    if collection is not None:
        memberships_qs = memberships_qs.filter(collection=collection)
    campaigns_qs = (
        Campaign.objects.select_related("list__collection", "check_plan")
        .filter(
            annotators__user=viewer,
            annotators__is_active=True,
            list__collection__in=memberships_qs.values("collection"),
        )
        .exclude(state=Campaign.State.DRAFT)
    )
    newest_qs = Label.objects.filter(annotator=viewer, pair__campaign=OuterRef("pk"))
    last_at = Subquery(newest_qs.order_by("-received_at").values("received_at")[:1])
    places_qs = CampaignAnnotator.objects.filter(campaign=OuterRef("pk"), user=viewer)
    news = Subquery(places_qs.values("news"))
    campaigns_qs = campaigns_qs.annotate(last_at=last_at, news=news)
    campaigns = list(campaigns_qs.order_by("-opened_at", "-pk"))
    progress = _count_progress(viewer, campaigns)
    own = [
        OwnCampaign(
            campaign_id=campaign.public_id,
            name=campaign.name,
            collection_slug=campaign.list.collection.slug,
            collection_name=campaign.list.collection.name,
            is_open=campaign.state == Campaign.State.OPEN,
            progress=progress[campaign.pk],
            last_at=campaign.last_at,
            training=find_training(campaign, viewer),
            news=campaign.news,
        )
        for campaign in campaigns
    ]
    return sorted(own, key=_how_soon)


def _how_soon(own: OwnCampaign) -> tuple[bool, bool, float]:
    last = own.last_at.timestamp() if own.last_at else 0.0
    return not own.is_open, not own.progress.left, -last


def _count_progress(viewer: User, campaigns: Sequence[Campaign]) -> dict[int, Progress]:
    """The viewer's counts in each of the campaigns.

    Whatever is shown at a place of their order is one pair. Those in whose place they have labelled
    another come at the very end, and are counted once nothing else is left. Training has a count
    of its own.
    """
    states, campaign_ids = Assignment.State, [campaign.pk for campaign in campaigns]
    own = Assignment.objects.filter(annotator=viewer).exclude(state=states.VOIDED)
    own_qs = own.filter(pair__campaign__in=campaign_ids).exclude(purpose=TRAINING).order_by()
    counted = {
        pk: (done, leased)
        for pk, done, leased in own_qs.values_list("pair__campaign").annotate(
            done=Count("pk", filter=Q(state__in=FILLED)),
            leased=Count("pk", filter=Q(state=HELD)),
        )
    }
    free_qs = Assignment.objects.filter(
        pair__campaign__in=campaign_ids, state=states.FREE, occasion=0
    ).exclude(row_by_row(is_met(viewer)))
    for campaign in campaigns:
        kept = withheld_from(campaign, viewer)
        if kept is not None:
            free_qs = free_qs.exclude(kept.find("pair__query"), pair__campaign=campaign)
    skipped = QuerySkip.objects.filter(
        campaign=OuterRef("pair__campaign"),
        query=OuterRef("pair__query"),
        annotator=viewer,
        returned_at=None,
    )
    free = {
        pk: (offered, returning)
        for pk, offered, returning in free_qs.exclude(row_by_row(Exists(skipped)))
        .annotate(is_returning=is_replaced(viewer))
        .order_by()
        .values_list("pair__campaign")
        .annotate(
            offered=Count("pair", distinct=True, filter=Q(is_returning=False)),
            returning=Count("pair", distinct=True, filter=Q(is_returning=True)),
        )
    }
    progress = {}
    for pk in campaign_ids:
        done, leased = counted.get(pk, (0, 0))
        offered, returning = free.get(pk, (0, 0))
        progress[pk] = Progress(done, leased + offered or returning)
    return progress
