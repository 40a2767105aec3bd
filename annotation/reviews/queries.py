"""What reviewers see of labels, and what leads see of reviews.

A reviewer sees a label with its pair and the guideline: no one's name, nothing of rankers, no other
label, and nothing of what is planted.
"""

from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet

from annotation.campaigns.cached_counts import get_or_count
from annotation.guidelines.shown import ShownGuideline, get_newest_guideline
from annotation.labelling.shown_pairs import (
    CLEAN_HTML,
    IMAGES,
    SHOWN,
    Pictures,
    ShownPair,
    show_pair,
)
from annotation.models import Campaign, Label, Pair, Question, Review, Reviewer
from annotation.permissions import ReviewerContext, check_may_watch
from annotation.questions.threads import MessageShown, list_messages
from annotation.reviews.drawing import list_drawn
from judgments.models import Document, Membership, User
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access
from judgments.pictures.queries import get_stored


@dataclass(frozen=True)
class ReviewedLabel:
    """A label that waits for a review. reason, note: the annotator's. messages: of the thread about
    it, where it was sent back before or its annotator has asked about the pair."""

    id: UUID
    outcome: str
    grade: int | None
    reason: str
    note: str
    pair: ShownPair
    messages: tuple[MessageShown, ...]

    @property
    def outcome_words(self) -> str:
        return str(Label.Outcome(self.outcome).label)


@dataclass(frozen=True)
class ReviewPage:
    """label: the next to review; null where none waits. waiting: how many do."""

    label: ReviewedLabel | None
    waiting: int
    campaign: Campaign = field(metadata=ON_PAGES)
    guideline: ShownGuideline = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class OwnReviews:
    """A campaign of a reviewer, and how many labels wait there."""

    campaign_id: UUID
    campaign: str
    collection: str
    waiting: int


@dataclass(frozen=True)
class ReviewedPerson:
    """How an annotator's labels were reviewed.

    drawn: of their current labels. returned: how often one was sent back; open: how many of these
    they have not changed since.
    """

    username: str
    name: str
    drawn: int
    waiting: int
    accepted: int
    returned: int
    open: int


@dataclass(frozen=True)
class ReviewsPage:
    """Reviews of a campaign, for its leads. reviewers: by user name."""

    campaign: Campaign
    percent: int
    reviewers: tuple[str, ...]
    people: tuple[ReviewedPerson, ...]


def list_waiting(context: ReviewerContext) -> QuerySet[Label]:
    """The labels that the viewer may review: drawn, of others, without a review yet."""
    return list_drawn(context.campaign).filter(review=None).exclude(annotator=context.viewer)


def get_review_page(context: ReviewerContext) -> ReviewPage:
    """The label that has waited longest."""
    waiting_qs = list_waiting(context)
    first = waiting_qs.select_related("assignment", "reason_text", "note_text").first()
    return ReviewPage(
        campaign=context.campaign,
        label=None if first is None else _show(context, first),
        waiting=waiting_qs.count(),
        guideline=get_newest_guideline(context.campaign),
    )


def get_reviewed_picture(context: ReviewerContext, *, name: UUID) -> bytes:
    """A stored picture of a document whose label is or was drawn for review."""
    documents_qs = Document.objects.filter(
        pk__in=list_drawn(context.campaign).order_by().values("pair__document")
    )
    collection = context.campaign.list.collection
    return get_stored(collection=collection, name=name, documents=documents_qs)


def list_own_reviews(viewer: User) -> tuple[OwnReviews, ...]:
    """The open campaigns whose labels the viewer reviews."""
    members_qs = Membership.objects.filter(user=viewer)
    places_qs = Reviewer.objects.filter(
        user=viewer,
        is_active=True,
        campaign__state=Campaign.State.OPEN,
        campaign__list__collection__in=members_qs.values("collection"),
    )
    result = []
    for place in places_qs.select_related("campaign__list__collection").order_by("-campaign"):
        campaign = place.campaign
        context = ReviewerContext(viewer, campaign)
        waiting = get_or_count(
            campaign, f"reviews:{viewer.pk}", int, list_waiting(context).order_by().count
        )
        collection = campaign.list.collection.name
        result.append(OwnReviews(campaign.public_id, campaign.name, collection, waiting))
    return tuple(result)


def get_reviews_page(*, access: Access, campaign: Campaign) -> ReviewsPage:
    """Who reviews, which share, and what came of it; for leads and admins."""
    check_may_watch(access, campaign)
    reviewers_qs = campaign.reviewers.filter(is_active=True).order_by("user__username")
    return ReviewsPage(
        campaign=campaign,
        percent=campaign.review_percent,
        reviewers=tuple(reviewers_qs.values_list("user__username", flat=True)),
        people=tuple(
            get_or_count(campaign, "reviewed", list[ReviewedPerson], lambda: _count(campaign))
        ),
    )


def _show(context: ReviewerContext, label: Label) -> ReviewedLabel:
    assert label.assignment is not None
    columns = ("query", "document", IMAGES, CLEAN_HTML, *SHOWN.values())
    row = Pair.objects.values(*columns).get(pk=label.pair_id)
    threads_qs = Question.objects.filter(
        pair=label.pair_id, asker=label.annotator_id, occasion=label.assignment.occasion
    )
    messages = list_messages(list(threads_qs.order_by("pk").values_list("pk", flat=True)))
    return ReviewedLabel(
        id=label.pk,
        outcome=label.outcome,
        grade=label.grade,
        reason=label.reason,
        note=label.note,
        pair=show_pair(
            row,
            pictures=Pictures(context.campaign, [row["document"]]),
            assignment=label.assignment.public_id,
            name="",
            query_name="",
        ),
        messages=tuple(one for thread in messages.values() for one in thread),
    )


def _count(campaign: Campaign) -> list[ReviewedPerson]:
    drawn_qs = list_drawn(campaign).order_by().values_list("annotator")
    drawn = {
        person: (count, waiting)
        for person, count, waiting in drawn_qs.annotate(
            count=Count("pk"), waiting=Count("pk", filter=Q(review=None))
        )
    }
    reviews_qs = Review.objects.filter(label__pair__campaign=campaign).order_by()
    returned = Q(verdict=Review.Verdict.RETURNED)
    reviewed = {
        row["person"]: row
        for row in reviews_qs.values(person=F("label__annotator")).annotate(
            accepted=Count("pk", filter=~returned),
            returned=Count("pk", filter=returned),
            open=Count("pk", filter=returned & Q(label__superseded_by=None)),
        )
    }
    people = User.objects.in_bulk(drawn.keys() | reviewed.keys())
    rows = []
    for pk, person in people.items():
        count, waiting = drawn.get(pk, (0, 0))
        said = reviewed.get(pk, {"accepted": 0, "returned": 0, "open": 0})
        counts = (said["accepted"], said["returned"], said["open"])
        rows.append(ReviewedPerson(person.username, str(person), count, waiting, *counts))
    return sorted(rows, key=lambda row: (-row.returned, row.username))
