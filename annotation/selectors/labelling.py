"""What an annotator gets to see: the pairs at hand, the guideline, and their own labels.

Blindness is enforced here by not fetching. Nothing of these values says where a pair came from,
at which rank, whether it is a check, or what anybody else thinks; ids are random, the order is
the annotator's own.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Assignment, Campaign, GuidelineRevision, Label
from annotation.permissions import Desk
from annotation.selectors.streams import order_of
from judgments.models import Collection, Membership, User
from judgments.permissions import NotFound

HELD = Assignment.State.LEASED
SHOWN = {
    "query_text": "pair__query__text",
    "query_description": "pair__query__description",
    "title": "pair__document__title",
    "body": "pair__document__body",
    "url": "pair__document__url",
    "fields": "pair__document__fields",
    "content_hash": "pair__document__content_hash",
}


COUNT_HOLDS = 15.0  # seconds
MOST_COUNTED = 1_000


class _Counted(NamedTuple):
    """What a person had done and left when that was counted last, until when it may be used."""

    all: int
    until: float


_counted: dict[tuple[UUID, int], _Counted] = {}


@dataclass(frozen=True, kw_only=True)
class ShownPair:
    """A query and a document as somebody labels them.

    assignment: what a label names. content_hash: of exactly this document text.
    """

    assignment: UUID
    query_text: str
    query_description: str
    title: str
    body: str
    url: str
    fields: Mapping[str, Any]
    content_hash: str


@dataclass(frozen=True)
class ShownGuideline:
    """The revision of the guideline that holds now. grades: worst first, as stored."""

    name: str
    revision: int
    text: str
    grades: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Progress:
    """How many pairs the viewer has labelled, and how many there still are for them."""

    done: int
    left: int

    @property
    def all(self) -> int:
        return self.done + self.left


@dataclass(frozen=True)
class LabelPage:
    """The annotator's page. pairs: those leased to the viewer, in the order to label them in."""

    campaign_id: UUID
    campaign_name: str
    collection_name: str
    is_open: bool
    guideline: ShownGuideline
    progress: Progress
    pairs: tuple[ShownPair, ...]


@dataclass(frozen=True)
class OwnLabel:
    """One of the viewer's labels, with what it is about."""

    id: UUID
    outcome: str
    grade: int | None
    reason: str
    note: str
    made_at: datetime
    pair: ShownPair


@dataclass(frozen=True)
class OwnCampaign:
    """A campaign in which the viewer annotates."""

    campaign_id: UUID
    name: str
    collection_slug: str
    collection_name: str
    is_open: bool
    progress: Progress


def get_label_page(desk: Desk) -> LabelPage:
    """The page of an annotator; leases nothing by itself."""
    campaign = desk.campaign
    return LabelPage(
        campaign_id=campaign.public_id,
        campaign_name=campaign.name,
        collection_name=campaign.list.collection.name,
        is_open=campaign.state == Campaign.State.OPEN,
        guideline=get_shown_guideline(desk),
        progress=count_progress(desk),
        pairs=tuple(list_leased_pairs(desk)),
    )


def get_shown_guideline(desk: Desk) -> ShownGuideline:
    """The guideline as it is now."""
    return get_newest_guideline(desk.campaign)


def get_newest_guideline(campaign: Campaign) -> ShownGuideline:
    """The newest revision of a campaign's guideline, for whoever may see the campaign."""
    revisions_qs = GuidelineRevision.objects.filter(guideline=campaign.guideline_id)
    newest = revisions_qs.select_related("guideline").latest("number")
    return ShownGuideline(newest.guideline.name, newest.number, newest.text, tuple(newest.grades))


def list_leased_pairs(desk: Desk, *, without: Sequence[UUID] = ()) -> list[ShownPair]:
    """The pairs that the viewer has leases for, in the order to label them in.

    without: seats whose pairs the page has already, and which need not be read again.
    """
    seats_qs = _own_seats(desk).filter(state=HELD).exclude(public_id__in=list(without))
    rows = list(seats_qs.values("public_id", "pair__query", "pair__document", *SHOWN.values()))
    order = order_of(desk)
    rows.sort(key=lambda row: order.key(row["pair__query"], row["pair__document"]))
    return [_shown(row, row["public_id"]) for row in rows]


def count_progress(desk: Desk, *, is_exact: bool = True) -> Progress:
    """The viewer's own counts; pairs that others are filling may still drop out of `left`.

    What is left reads every free seat of the campaign. is_exact: False where it is asked for with
    every label: `left` then follows the viewer's own work at once, and that of others after some
    seconds.
    """
    key = (desk.campaign.public_id, desk.viewer.pk)
    known = None if is_exact else _counted.get(key)
    if known is not None and time.monotonic() < known.until:
        done = _own_seats(desk).filter(state=Assignment.State.DONE).count()
        return Progress(done, max(0, known.all - done))
    progress = _count_progress(desk.viewer, [desk.campaign.pk])[desk.campaign.pk]
    if len(_counted) >= MOST_COUNTED:
        _counted.clear()
    _counted[key] = _Counted(progress.done + progress.left, time.monotonic() + COUNT_HOLDS)
    return progress


def list_own_labels(desk: Desk, *, limit: int = 50, before: UUID | None = None) -> list[OwnLabel]:
    """The viewer's labels that hold, newest first; `before`: only those older than this one."""
    labels_qs = _own_labels(desk)
    if before is not None:
        last = get_own_label(desk, before)
        received_at = Label.objects.values_list("received_at", flat=True).get(pk=last.id)
        older = Q(received_at__lt=received_at) | Q(received_at=received_at, pk__lt=last.id)
        labels_qs = labels_qs.filter(older)
    return _read_labels(labels_qs.order_by("-received_at", "-pk")[:limit])


def get_own_label(desk: Desk, label_id: UUID) -> OwnLabel:
    """One of the viewer's labels that hold, e.g. to correct it; NotFound for any other."""
    found = _read_labels(_own_labels(desk).filter(pk=label_id))
    if not found:
        raise NotFound("label")
    return found[0]


def list_own_campaigns(*, viewer: User, collection: Collection | None = None) -> list[OwnCampaign]:
    """The campaigns in which the viewer annotates, open ones first, the newest first."""
    memberships_qs = Membership.objects.filter(user=viewer)
    if collection is not None:
        memberships_qs = memberships_qs.filter(collection=collection)
    campaigns_qs = (
        Campaign.objects.select_related("list__collection")
        .filter(
            annotators__user=viewer,
            annotators__is_active=True,
            list__collection__in=memberships_qs.values("collection"),
        )
        .exclude(state=Campaign.State.DRAFT)
    )
    campaigns = list(campaigns_qs.order_by("-opened_at", "-pk"))
    progress = _count_progress(viewer, [campaign.pk for campaign in campaigns])
    own = [
        OwnCampaign(
            campaign_id=campaign.public_id,
            name=campaign.name,
            collection_slug=campaign.list.collection.slug,
            collection_name=campaign.list.collection.name,
            is_open=campaign.state == Campaign.State.OPEN,
            progress=progress[campaign.pk],
        )
        for campaign in campaigns
    ]
    return sorted(own, key=lambda campaign: not campaign.is_open)


def _count_progress(viewer: User, campaign_ids: Sequence[int]) -> dict[int, Progress]:
    """The viewer's counts in each of the campaigns."""
    states = Assignment.State
    own = Assignment.objects.filter(annotator=viewer).exclude(state=states.VOIDED)
    own_qs = own.filter(pair__campaign__in=campaign_ids).order_by()
    counted = {
        campaign: (done, leased)
        for campaign, done, leased in own_qs.values_list("pair__campaign").annotate(
            done=Count("pk", filter=Q(state=states.DONE)),
            leased=Count("pk", filter=Q(state=HELD)),
        )
    }
    free_qs = Assignment.objects.filter(
        pair__campaign__in=campaign_ids, state=states.FREE, occasion=0
    ).exclude(Exists(own.filter(pair=OuterRef("pair"), occasion=0)))
    free = dict(
        free_qs.order_by()
        .values_list("pair__campaign")
        .annotate(pairs=Count("pair", distinct=True))
    )
    progress = {}
    for campaign in campaign_ids:
        done, leased = counted.get(campaign, (0, 0))
        progress[campaign] = Progress(done, leased + free.get(campaign, 0))
    return progress


def _own_seats(desk: Desk) -> QuerySet[Assignment]:
    return Assignment.objects.filter(annotator=desk.viewer, pair__campaign=desk.campaign)


def _own_labels(desk: Desk) -> QuerySet[Label]:
    labels_qs = Label.objects.filter(
        annotator=desk.viewer, pair__campaign=desk.campaign, superseded_by__isnull=True
    )
    return labels_qs.exclude(outcome=Label.Outcome.RETRACTED)


def _read_labels(labels_qs: QuerySet[Label]) -> list[OwnLabel]:
    # a label outside the overlap has no seat: the one that it named is still there, voided
    named = Assignment.objects.filter(pair=OuterRef("pair"), annotator=OuterRef("annotator"))
    seat = Coalesce(
        "assignment__public_id", Subquery(named.order_by("-pk").values("public_id")[:1])
    )
    rows: Iterable[dict[str, Any]] = labels_qs.annotate(seat=seat).values(
        "pk", "seat", "outcome", "grade", "reason", "note", "made_at", *SHOWN.values()
    )
    return [
        OwnLabel(
            id=row["pk"],
            outcome=row["outcome"],
            grade=row["grade"],
            reason=row["reason"],
            note=row["note"],
            made_at=row["made_at"],
            pair=_shown(row, row["seat"]),
        )
        for row in rows
    ]


def _shown(row: Mapping[str, Any], assignment: UUID) -> ShownPair:
    return ShownPair(assignment=assignment, **{name: row[column] for name, column in SHOWN.items()})
