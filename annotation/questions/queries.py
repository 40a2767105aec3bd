"""Threads and announcements: an annotator's own, and all of a campaign for its leads.

An annotator's are found through their own seats, and show a pair as these do: gold in disguise and
repeats look like any other pair, and no answer says who wrote it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.core.paginator import Page
from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce, Substr

from annotation.campaigns.people import pseudonyms_of
from annotation.guidelines.shown import ShownGuideline, get_newest_guideline
from annotation.labelling.shown_pairs import get_own_seats
from annotation.models import (
    Announcement,
    AnnouncementRead,
    Campaign,
    CampaignAnnotator,
    GoldItem,
    Label,
    Message,
    Pair,
    Question,
)
from annotation.permissions import AnnotatorContext, check_may_watch
from annotation.seats.streams import order_of
from judgments.models import Membership, User
from judgments.pages.paging import paginate
from judgments.permissions import Access, NotFound
from judgments.pictures.queries import DocumentPictures, get_document_pictures

BEGINNING: Final = 90  # characters of a text that has no title, or of a message in a list
MOST_SEARCHED: Final = 200  # characters of a search
MOST_EXAMPLE: Final = 300  # characters of an example that an address carries to the editor
WAITING: Final = Question.State.WAITING
CLOSED: Final = Question.State.CLOSED
PEOPLE: Final = "annotator"  # what somebody is called who left no pseudonym


@dataclass(frozen=True)
class MessageShown:
    """is_answer: a lead wrote it."""

    is_answer: bool
    text: str
    written_at: datetime


@dataclass(frozen=True)
class OwnQuestion:
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

    @property
    def state_words(self) -> str:
        return Question.State(self.state).label


@dataclass(frozen=True)
class AskedPair:
    """A pair that may be asked about, as its annotator sees it; question: their open thread."""

    assignment: UUID
    query: str
    title: str
    question: OwnQuestion | None


@dataclass(frozen=True)
class OwnAnnouncement:
    """What the leads told all annotators while the viewer was among them."""

    id: UUID
    text: str
    announced_at: datetime
    is_read: bool


@dataclass(frozen=True)
class CampaignAnnouncements:
    """What somebody has not read of a campaign's announcements, newest first."""

    campaign_id: UUID
    campaign: str
    announcements: tuple[OwnAnnouncement, ...]


@dataclass(frozen=True)
class News:
    """What the viewer has not read: announcements, and threads with an answer; newest first."""

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
    is_open: bool


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which questions to show. state: of Question, or "" for all. search: words of the messages,
    the query or the title, or a query's id, in any case."""

    state: str = ""
    search: str = ""


@dataclass(frozen=True)
class QuestionRow:
    """A thread in a list. asker: a pseudonym, or a name where names are shown. beginning: of its
    first message. messages: how many there are."""

    id: UUID
    asker: str
    query_id: str
    query: str
    doc_id: str
    title: str
    state: str
    beginning: str
    messages: int
    changed_at: datetime

    @property
    def state_words(self) -> str:
        return Question.State(self.state).label


@dataclass(frozen=True)
class QuestionsPage:
    """total: of all questions. waiting: those that need an answer."""

    campaign: Campaign
    rows: "Page[QuestionRow]"
    waiting: int
    total: int
    wanted: Wanted
    shows_names: bool


@dataclass(frozen=True)
class Thread:
    """A thread as leads see it. low, high: the right grades of a gold pair, else None; an answer
    tells them to whoever asked. asker: as in QuestionRow."""

    id: UUID
    asker: str
    query_id: str
    query: str
    doc_id: str
    title: str
    state: str
    low: int | None
    high: int | None
    asked_at: datetime
    changed_at: datetime
    messages: tuple[MessageShown, ...]

    @property
    def state_words(self) -> str:
        return Question.State(self.state).label

    @property
    def is_gold(self) -> bool:
        return self.low is not None

    @property
    def last_answer(self) -> str:
        """The newest answer's words; empty where nobody has answered."""
        return next((one.text for one in reversed(self.messages) if one.is_answer), "")


@dataclass(frozen=True)
class ThreadPage:
    """A thread with the pair that it is about. next_id: another question that waits."""

    thread: Thread
    pair: Pair
    pictures: DocumentPictures
    campaign: Campaign
    guideline: ShownGuideline
    next_id: UUID | None
    shows_names: bool

    @property
    def example(self) -> str:
        """The query, the document and the newest answer as an example of a guideline: one line."""
        thread = self.thread
        said = f"“{thread.query}”, {thread.title}: {thread.last_answer}"
        return " ".join(said.split())[:MOST_EXAMPLE]


@dataclass(frozen=True)
class AnnouncementRow:
    """An announcement as leads see it. read: how many of its `readers` have read it; those who
    are in the campaign now, and were when it was made."""

    id: UUID
    author: str
    text: str
    announced_at: datetime
    read: int
    readers: int


# an annotator's own


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
    row = Pair.objects.filter(pk=seat.shown).values(query_text=F("query__text"), **_title("")).get()
    own_qs = list_own_questions_qs(context).exclude(state=CLOSED)
    own_qs = own_qs.filter(pair=seat.shown, occasion=seat.shown_occasion)
    found = _show_own(context, own_qs)
    return AskedPair(assignment, row["query_text"], _named(row), found[0] if found else None)


def list_own_questions_qs(context: AnnotatorContext) -> QuerySet[Question]:
    return Question.objects.filter(campaign=context.campaign, asker=context.viewer)


def get_own_question(context: AnnotatorContext, question_id: UUID) -> Question:
    """A question that the viewer asked; NotFound for anybody else's."""
    question = list_own_questions_qs(context).filter(public_id=question_id).first()
    if question is None:
        raise NotFound("question")
    return question


def get_own_thread(context: AnnotatorContext, question_id: UUID) -> OwnQuestion:
    """The thread of a question that the viewer asked; NotFound for anybody else's."""
    own_qs = list_own_questions_qs(context).filter(public_id=question_id)
    found = _show_own(context, own_qs)
    if not found:
        raise NotFound("question")
    return found[0]


def list_own_questions(context: AnnotatorContext) -> tuple[OwnQuestion, ...]:
    """The viewer's threads: those with a new answer first, then the newest."""
    return _show_own(context, list_own_questions_qs(context))


def list_own_announcements_qs(context: AnnotatorContext) -> QuerySet[Any]:
    """The announcements that were for the viewer, newest first, with `is_read`."""
    reads_qs = AnnouncementRead.objects.filter(
        announcement=OuterRef("pk"), annotator=context.viewer
    )
    joined_at = CampaignAnnotator.objects.filter(pk=context.annotator_id).values("joined_at")
    return (
        Announcement.objects.filter(
            campaign=context.campaign, announced_at__gte=Subquery(joined_at)
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
    found = []
    for place in places_qs.select_related("campaign").order_by("-campaign"):
        unread_qs = Announcement.objects.filter(
            ~Exists(reads_qs), campaign=place.campaign, announced_at__gte=place.joined_at
        )
        rows = tuple(
            OwnAnnouncement(one.pk, one.text, one.announced_at, False)
            for one in unread_qs.select_related("words").order_by("-announced_at", "-pk")
        )
        if rows:
            found.append(CampaignAnnouncements(place.campaign.public_id, place.campaign.name, rows))
    return tuple(found)


def get_own_questions_page(context: AnnotatorContext) -> OwnQuestionsPage:
    """All that the viewer asked, was answered and was told in a campaign."""
    questions, announcements = list_own_questions(context), list_own_announcements(context)
    news = News(
        tuple(one for one in announcements if not one.is_read),
        tuple(one for one in questions if one.has_news),
    )
    is_open = context.campaign.state == Campaign.State.OPEN
    return OwnQuestionsPage(context.campaign, questions, announcements, news, is_open)


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
            **_title("pair__"),
        )
    )  # fmt: skip
    messages = _list_messages([row["pk"] for row in rows])
    order = order_of(context)
    return tuple(
        OwnQuestion(
            id=row["public_id"],
            assignment=row["seat"],
            pair=order.name(row["query_key"], row["document_key"], row["occasion"]),
            query=row["query_text"],
            title=_named(row),
            state=row["state"],
            has_news=row["has_news"],
            asked_at=row["asked_at"],
            changed_at=row["changed_at"],
            label=row["label"],
            messages=messages[row["pk"]],
        )
        for row in rows
    )


# all of a campaign, for its leads


def count_waiting(campaign: Campaign) -> int:
    """How many questions of a campaign need an answer."""
    return campaign.questions.filter(state=WAITING).count()


def list_campaigns_asked(campaigns_qs: QuerySet[Campaign]) -> QuerySet[Any]:
    """Those of the campaigns in which a question waits, with how many: `questions_waiting`."""
    waiting = Count("questions", filter=Q(questions__state=WAITING))
    return (
        campaigns_qs.annotate(questions_waiting=waiting)
        .filter(questions_waiting__gt=0)
        .order_by("-pk")
    )


def get_questions_page(
    *, access: Access, campaign: Campaign, wanted: Wanted, page: str, shows_names: bool = False
) -> QuestionsPage:
    """The questions of a campaign, those that wait first; for leads and admins.

    shows_names: who asked, instead of their pseudonym, which biases no answer.
    """
    check_may_watch(access, campaign)
    names = _names(access, shows_names=shows_names)
    return QuestionsPage(
        campaign=campaign,
        rows=paginate(
            _in_order(_matching(campaign, wanted)),
            page=page,
            show=lambda rows: [_show_row(row, names) for row in rows],
        ),
        waiting=count_waiting(campaign),
        total=campaign.questions.count(),
        wanted=wanted,
        shows_names=shows_names,
    )


def list_pair_questions(*, access: Access, pair: Pair) -> tuple[QuestionRow, ...]:
    """What annotators asked about a pair of a campaign, those that wait first; for leads and
    admins."""
    check_may_watch(access, pair.campaign)
    names = _names(access, shows_names=False)
    return tuple(_show_row(row, names) for row in _in_order(pair.questions.all()))


def get_thread_page(
    *, access: Access, campaign: Campaign, question_id: UUID, shows_names: bool = False
) -> ThreadPage:
    """A thread and its pair; for leads and admins. NotFound for one of another campaign."""
    thread = get_thread(
        access=access, campaign=campaign, question_id=question_id, shows_names=shows_names
    )
    pairs_qs = Pair.objects.select_related("query", "document", "list")
    pair = pairs_qs.get(questions__public_id=question_id)
    others_qs = campaign.questions.filter(state=WAITING).exclude(public_id=question_id)
    return ThreadPage(
        thread=thread,
        pair=pair,
        pictures=get_document_pictures(access=access, document=pair.document),
        campaign=campaign,
        guideline=get_newest_guideline(campaign),
        next_id=others_qs.order_by("changed_at", "pk").values_list("public_id", flat=True).first(),
        shows_names=shows_names,
    )


def get_thread(
    *, access: Access, campaign: Campaign, question_id: UUID, shows_names: bool = False
) -> Thread:
    """A thread as leads see it. Raises NotFound for a question of another campaign."""
    check_may_watch(access, campaign)
    questions_qs = campaign.questions.select_related("pair__query", "pair__document")
    question = questions_qs.filter(public_id=question_id).first()
    if question is None:
        raise NotFound("question")
    gold = GoldItem.objects.filter(pair=question.pair_id, retired_at=None).first()
    document = question.pair.document
    names = _names(access, shows_names=shows_names)
    return Thread(
        id=question.public_id,
        asker=names.get(question.asker_id, PEOPLE),
        query_id=question.pair.query.qid,
        query=question.pair.query.text,
        doc_id=document.docid,
        title=document.title or document.body[:BEGINNING] or document.url,
        state=question.state,
        low=gold.low if gold else None,
        high=gold.high if gold else None,
        asked_at=question.asked_at,
        changed_at=question.changed_at,
        messages=_list_messages([question.pk])[question.pk],
    )


def list_announcements(*, access: Access, campaign: Campaign) -> tuple[AnnouncementRow, ...]:
    """What was announced in a campaign, newest first, and how many have read it; for leads and
    admins."""
    check_may_watch(access, campaign)
    places = list(campaign.annotators.filter(is_active=True).values_list("user", "joined_at"))
    reads_qs = AnnouncementRead.objects.filter(announcement__campaign=campaign)
    read = set(reads_qs.values_list("announcement", "annotator"))
    rows = []
    announced_qs = campaign.announcements.select_related("words", "author")
    for one in announced_qs.order_by("-announced_at", "-pk"):
        readers = [user for user, joined_at in places if joined_at <= one.announced_at]
        rows.append(
            AnnouncementRow(
                id=one.pk,
                author=str(one.author),
                text=one.text,
                announced_at=one.announced_at,
                read=sum((one.pk, user) in read for user in readers),
                readers=len(readers),
            )
        )
    return tuple(rows)


def _matching(campaign: Campaign, wanted: Wanted) -> QuerySet[Question]:
    questions_qs = campaign.questions.all()
    if wanted.state:
        questions_qs = questions_qs.filter(state=wanted.state)
    if wanted.search:
        said_qs = Message.objects.filter(
            question=OuterRef("pk"), words__text__icontains=wanted.search
        )
        questions_qs = questions_qs.filter(
            Q(Exists(said_qs))
            | Q(pair__query__text__icontains=wanted.search)
            | Q(pair__document__title__icontains=wanted.search)
            | Q(pair__query__qid__iexact=wanted.search)
        )
    return questions_qs


def _in_order(questions_qs: QuerySet[Question]) -> QuerySet[Question, Any]:
    """Those that wait, the longest first; then the others, the newest first."""
    since = Case(When(state=WAITING, then="changed_at"))
    first_qs = Message.objects.filter(question=OuterRef("pk")).order_by("pk")
    return questions_qs.order_by(
        since.asc(nulls_last=True), F("changed_at").desc(), F("pk").desc()
    ).values(
        "public_id", "asker", "state", "changed_at",
        qid=F("pair__query__qid"),
        query_text=F("pair__query__text"),
        docid=F("pair__document__docid"),
        beginning=Subquery(first_qs.values("words__text")[:1]),
        count=Count("messages"),
        **_title("pair__"),
    )  # fmt: skip


def _show_row(row: Mapping[str, Any], names: Mapping[int, str]) -> QuestionRow:
    return QuestionRow(
        id=row["public_id"],
        asker=names.get(row["asker"], PEOPLE),
        query_id=row["qid"],
        query=row["query_text"],
        doc_id=row["docid"],
        title=_named(row),
        state=row["state"],
        beginning=row["beginning"] or "",
        messages=row["count"],
        changed_at=row["changed_at"],
    )


def _names(access: Access, *, shows_names: bool) -> dict[int, str]:
    pseudonyms = pseudonyms_of(access=access)
    if not shows_names:
        return pseudonyms
    return {pk: str(person) for pk, person in User.objects.in_bulk(list(pseudonyms)).items()}


def _list_messages(question_ids: Sequence[int]) -> dict[int, tuple[MessageShown, ...]]:
    """The messages of each question, oldest first."""
    found: dict[int, list[MessageShown]] = {pk: [] for pk in question_ids}
    messages_qs = Message.objects.filter(question__in=list(found)).select_related("words")
    for one in messages_qs.order_by("pk"):
        found[one.question_id].append(MessageShown(one.is_answer, one.text, one.written_at))
    return {pk: tuple(messages) for pk, messages in found.items()}


def _title(of: str) -> dict[str, F | Substr]:
    """The columns that a document is named by; `of` stands before each."""
    return {
        "own_title": F(f"{of}document__title"),
        "own_body": Substr(f"{of}document__body", 1, BEGINNING),
        "own_url": F(f"{of}document__url"),
    }


def _named(row: Mapping[str, Any]) -> str:
    parts: Iterable[str] = (row["own_title"], row["own_body"], row["own_url"])
    return next((part for part in parts if part), "")
