"""Threads and announcements of a campaign, for its leads."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.core.paginator import Page
from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, When

from annotation.campaigns.people import pseudonyms_of
from annotation.guidelines.shown import ShownGuideline, get_newest_guideline
from annotation.models import AnnouncementRead, Campaign, GoldItem, Message, Pair, Question
from annotation.permissions import check_may_watch
from annotation.questions.threads import (
    BEGINNING,
    InState,
    MessageShown,
    list_messages,
    title_columns,
    title_of,
)
from judgments.models import User
from judgments.pages.paging import paginate
from judgments.permissions import Access, NotFound
from judgments.pictures.queries import DocumentPictures, get_document_pictures

MOST_SEARCHED: Final = 200  # characters of a search
MOST_EXAMPLE: Final = 300  # characters of an example that an address carries to the editor
WAITING: Final = Question.State.WAITING
PEOPLE: Final = "annotator"  # shown for a person without a pseudonym


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which questions to show. state: of Question, or "" for all. search: words of the messages,
    the query or the title, or a query's id, in any case."""

    state: str = ""
    search: str = ""


@dataclass(frozen=True)
class QuestionRow(InState):
    """A thread in a list. asker: a pseudonym, or a name if names are shown. beginning: of its first
    message. messages: their number."""

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
class Thread(InState):
    """A thread as leads see it. low, high: the right grades of a gold pair, else None. asker: as in
    QuestionRow."""

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
    def is_gold(self) -> bool:
        return self.low is not None

    @property
    def last_answer(self) -> str:
        """The newest answer's words; empty where no one has answered."""
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
    """An announcement as leads see it. read: how many of the `readers` have read it. readers:
    annotators in the campaign both now and when it was made. withdrawn_at: when a lead withdrew
    it; None otherwise."""

    id: UUID
    author: str
    text: str
    announced_at: datetime
    withdrawn_at: datetime | None
    read: int
    readers: int


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
        messages=list_messages([question.pk])[question.pk],
    )


def list_announcements(*, access: Access, campaign: Campaign) -> tuple[AnnouncementRow, ...]:
    """What was announced in a campaign, newest first, and how many have read it; for leads and
    admins."""
    check_may_watch(access, campaign)
    places = list(campaign.annotators.filter(is_active=True).values_list("user", "joined_at"))
    reads_qs = AnnouncementRead.objects.filter(announcement__campaign=campaign)
    read = set(reads_qs.values_list("announcement", "annotator"))
    rows = []
    announced_qs = campaign.announcements.select_related("words", "author", "withdrawal")
    for one in announced_qs.order_by("-announced_at", "-pk"):
        withdrawal = getattr(one, "withdrawal", None)
        readers = [user for user, joined_at in places if joined_at <= one.announced_at]
        rows.append(
            AnnouncementRow(
                id=one.pk,
                author=str(one.author),
                text=one.text,
                announced_at=one.announced_at,
                withdrawn_at=withdrawal.withdrawn_at if withdrawal else None,
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
        **title_columns("pair__"),
    )  # fmt: skip


def _show_row(row: Mapping[str, Any], names: Mapping[int, str]) -> QuestionRow:
    return QuestionRow(
        id=row["public_id"],
        asker=names.get(row["asker"], PEOPLE),
        query_id=row["qid"],
        query=row["query_text"],
        doc_id=row["docid"],
        title=title_of(row),
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
