"""An annotator's own threads, and the announcements that were for them.

They are found through the annotator's own seats, and show a pair as these do: gold in disguise and
repeats look like any other pair, and no answer says who wrote it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.labelling.shown_pairs import get_own_seats
from annotation.models import (
    Announcement,
    AnnouncementRead,
    Campaign,
    CampaignAnnotator,
    Label,
    Pair,
    Question,
)
from annotation.permissions import AnnotatorContext
from annotation.questions.threads import (
    InState,
    MessageShown,
    list_messages,
    title_columns,
    title_of,
)
from annotation.seats.streams import order_of
from judgments.models import Membership, User
from judgments.permissions import NotFound


@dataclass(frozen=True)
class OwnQuestion(InState):
    """A thread as the annotator sees who asked.

    assignment: the seat that it was asked at. pair: the pair's name among the annotator's own.
    title: the document's, or how its text begins. label: their label of the pair, which opens it
    again; None where there is none. has_news: there is an answer that was not read yet.
    """

    id: UUID
    assignment: UUID
    pair: str
    query: str
    title: str
    state: str
    has_news: bool
    asked_at: datetime
    changed_at: datetime
    label: UUID | None
    messages: tuple[MessageShown, ...]


@dataclass(frozen=True)
class AskedPair:
    """A pair that may be asked about, as its annotator sees it; question: their open thread."""

    assignment: UUID
    query: str
    title: str
    question: OwnQuestion | None


@dataclass(frozen=True)
class OwnAnnouncement:
    """An announcement made while the viewer was in the campaign."""

    id: UUID
    text: str
    announced_at: datetime
    is_read: bool


@dataclass(frozen=True)
class CampaignAnnouncements:
    """What a person has not read of a campaign's announcements, newest first."""

    campaign_id: UUID
    campaign: str
    announcements: tuple[OwnAnnouncement, ...]


@dataclass(frozen=True)
class News:
    """Unread announcements and threads with an unread answer, newest first."""

    announcements: tuple[OwnAnnouncement, ...]
    answers: tuple[OwnQuestion, ...]

    @property
    def count(self) -> int:
        return len(self.announcements) + len(self.answers)


@dataclass(frozen=True)
class OwnQuestionsPage:
    """All threads and announcements of the viewer, unread ones first."""

    campaign: Campaign
    questions: tuple[OwnQuestion, ...]
    announcements: tuple[OwnAnnouncement, ...]
    news: News


def find_seat(context: AnnotatorContext, assignment: UUID) -> Any:
    """A seat that is or was the viewer's, with the id `shown` of what they are shown there, and
    `shown_occasion`, for the how many-th time."""
    seats_qs = get_own_seats(context).annotate(
        shown=Coalesce("stand_in__shown_id", "pair_id"),
        shown_occasion=Coalesce("stand_in__occasion", "occasion"),
    )
    seat = seats_qs.filter(public_id=assignment).first()
    if seat is None:
        raise NotFound("assignment")
    return seat


def get_asked_pair(context: AnnotatorContext, assignment: UUID) -> AskedPair:
    """What the viewer is shown at a seat of theirs, and their open thread about it."""
    seat = find_seat(context, assignment)
    row = (
        Pair.objects.filter(pk=seat.shown)
        .values(query_text=F("query__text"), **title_columns(""))
        .get()
    )
    own_qs = list_own_questions_qs(context).exclude(state=Question.State.CLOSED)
    own_qs = own_qs.filter(pair=seat.shown, occasion=seat.shown_occasion)
    result = _show_own(context, own_qs)
    return AskedPair(assignment, row["query_text"], title_of(row), result[0] if result else None)


def list_own_questions_qs(context: AnnotatorContext) -> QuerySet[Question]:
    return Question.objects.filter(campaign=context.campaign, asker=context.viewer)


def get_own_question(context: AnnotatorContext, question_id: UUID) -> Question:
    """A question that the viewer asked; NotFound for anyone else's."""
    question = list_own_questions_qs(context).filter(public_id=question_id).first()
    if question is None:
        raise NotFound("question")
    return question


def get_own_thread(context: AnnotatorContext, question_id: UUID) -> OwnQuestion:
    """The thread of a question that the viewer asked; NotFound for anyone else's."""
    own_qs = list_own_questions_qs(context).filter(public_id=question_id)
    result = _show_own(context, own_qs)
    if not result:
        raise NotFound("question")
    return result[0]


def list_own_questions(context: AnnotatorContext) -> tuple[OwnQuestion, ...]:
    """The viewer's threads: those with a new answer first, then the newest."""
    return _show_own(context, list_own_questions_qs(context))


def list_own_announcements_qs(context: AnnotatorContext) -> QuerySet[Any]:
    """The announcements that were for the viewer and hold, newest first, with `is_read`."""
    reads_qs = AnnouncementRead.objects.filter(
        announcement=OuterRef("pk"), annotator=context.viewer
    )
    joined_at = CampaignAnnotator.objects.filter(pk=context.annotator_id).values("joined_at")
    return (
        Announcement.objects.filter(
            campaign=context.campaign, announced_at__gte=Subquery(joined_at), withdrawal=None
        )
        .annotate(is_read=Exists(reads_qs))
        .order_by("-announced_at", "-pk")
    )


def list_own_announcements(context: AnnotatorContext) -> tuple[OwnAnnouncement, ...]:
    """The announcements that were for the viewer, newest first."""
    return tuple(
        OwnAnnouncement(one.pk, one.text, one.announced_at, one.is_read)
        for one in list_own_announcements_qs(context).select_related("words")
    )


def get_news(context: AnnotatorContext) -> News:
    """What the viewer has not read."""
    unread_qs = list_own_announcements_qs(context).filter(is_read=False).select_related("words")
    return News(
        tuple(OwnAnnouncement(one.pk, one.text, one.announced_at, False) for one in unread_qs),
        _show_own(context, list_own_questions_qs(context).filter(has_news=True)),
    )


def list_unread_announcements(viewer: User) -> tuple[CampaignAnnouncements, ...]:
    """Those that the viewer has not read, of every campaign of theirs; newest campaign first."""
    members_qs = Membership.objects.filter(user=viewer)
    places_qs = CampaignAnnotator.objects.filter(
        user=viewer,
        is_active=True,
        news__gt=0,
        campaign__list__collection__in=members_qs.values("collection"),
    )
    reads_qs = AnnouncementRead.objects.filter(announcement=OuterRef("pk"), annotator=viewer)
    places_qs = places_qs.exclude(campaign__state=Campaign.State.DRAFT)
    result = []
    for place in places_qs.select_related("campaign").order_by("-campaign"):
        unread_qs = Announcement.objects.filter(
            ~Exists(reads_qs),
            campaign=place.campaign,
            announced_at__gte=place.joined_at,
            withdrawal=None,
        )
        rows = tuple(
            OwnAnnouncement(one.pk, one.text, one.announced_at, False)
            for one in unread_qs.select_related("words").order_by("-announced_at", "-pk")
        )
        if rows:
            result.append(
                CampaignAnnouncements(place.campaign.public_id, place.campaign.name, rows)
            )
    return tuple(result)


def get_own_questions_page(context: AnnotatorContext) -> OwnQuestionsPage:
    """All that the viewer asked, was answered and was told in a campaign."""
    questions, announcements = list_own_questions(context), list_own_announcements(context)
    news = News(
        tuple(one for one in announcements if not one.is_read),
        tuple(one for one in questions if one.has_news),
    )
    return OwnQuestionsPage(context.campaign, questions, announcements, news)


def _show_own(
    context: AnnotatorContext, questions_qs: QuerySet[Question]
) -> tuple[OwnQuestion, ...]:
    labels_qs = Label.objects.filter(
        annotator=context.viewer,
        pair=OuterRef("pair"),
        assignment__occasion=OuterRef("occasion"),
        superseded_by=None,
    ).exclude(outcome=Label.Outcome.RETRACTED)
    rows = list(
        questions_qs.order_by("-has_news", "-changed_at", "-pk").values(
            "pk", "public_id", "state", "has_news", "asked_at", "changed_at", "occasion",
            seat=F("assignment__public_id"),
            query_key=F("pair__query"),
            document_key=F("pair__document"),
            query_text=F("pair__query__text"),
            label=Subquery(labels_qs.order_by("-received_at").values("pk")[:1]),
            **title_columns("pair__"),
        )
    )  # fmt: skip
    messages = list_messages([row["pk"] for row in rows])
    order = order_of(context)
    return tuple(
        OwnQuestion(
            id=row["public_id"],
            assignment=row["seat"],
            pair=order.name(row["query_key"], row["document_key"], row["occasion"]),
            query=row["query_text"],
            title=title_of(row),
            state=row["state"],
            has_news=row["has_news"],
            asked_at=row["asked_at"],
            changed_at=row["changed_at"],
            label=row["label"],
            messages=messages[row["pk"]],
        )
        for row in rows
    )
