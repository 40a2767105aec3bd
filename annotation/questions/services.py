"""Asking about a pair, answering, announcing, and what an annotator has read of it.

Every write that changes what an annotator has not read holds their place in the campaign first,
then the thread: so `CampaignAnnotator.news` is always what a count would give.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, F

from annotation.models import (
    Announcement,
    AnnouncementRead,
    Campaign,
    CampaignAnnotator,
    Label,
    Message,
    Question,
    WithdrawnAnnouncement,
)
from annotation.permissions import AnnotatorContext, CampaignClosed, check_may_run, is_open
from annotation.questions.own_queries import (
    find_seat,
    get_own_question,
    list_own_announcements_qs,
    list_own_questions_qs,
)
from annotation.questions.rules import QuestionRefused, check_room, checked_message
from judgments.audit import services as audit
from judgments.collections.naming import unless_taken
from judgments.models import User
from judgments.permissions import Access, NotFound
from judgments.storage.side_texts import keep_text

WAITING = Question.State.WAITING
ANSWERED = Question.State.ANSWERED
CLOSED = Question.State.CLOSED


def ask(*, context: AnnotatorContext, assignment: UUID, text: str, at: datetime) -> Question:
    """Ask the leads about the pair that the viewer is shown at a seat of theirs.

    Where they have a thread about it that is not closed, this is its next message.
    Raises NotFound for a seat that never was theirs, CampaignClosed, QuestionRefused.
    """
    _check_open(context)
    words = checked_message(text)
    with transaction.atomic():
        _lock_places(context.campaign, [context.viewer.pk])
        seat = find_seat(context, assignment)
        about: dict[str, Any] = {
            "pair_id": seat.shown,
            "asker": context.viewer,
            "occasion": seat.shown_occasion,
        }
        question = Question.objects.exclude(state=CLOSED).filter(**about).first()
        if question is None:
            _check_room(context, None)
            question = Question.objects.create(
                campaign=context.campaign,
                assignment_id=seat.pk,
                asked_at=at,
                changed_at=at,
                **about,
            )
            _add(question, context.viewer, words, at, is_answer=False)
        else:
            question = _write(context, question, words, at)
    return question


def write(*, context: AnnotatorContext, question_id: UUID, text: str, at: datetime) -> Question:
    """Write again in a thread of the viewer's own; it waits for an answer then.

    Raises NotFound for anyone else's, CampaignClosed, QuestionRefused where it is closed.
    """
    _check_open(context)
    words = checked_message(text)
    with transaction.atomic():
        _lock_places(context.campaign, [context.viewer.pk])
        return _write(context, get_own_question(context, question_id), words, at)


def answer(
    *,
    access: Access,
    campaign: Campaign,
    question_id: UUID,
    text: str,
    at: datetime,
    closes: bool = False,
) -> Question:
    """Answer a question; its asker is told on the labelling page. For leads.

    closes: the thread ends with the answer.
    Raises NotFound for a question of another campaign, QuestionRefused where it is closed.
    """
    check_may_run(access, campaign)
    words = checked_message(text)
    with transaction.atomic():
        question = _locked(campaign, question_id)
        _check_not_closed(question)
        check_room(messages=question.messages.count(), waiting=0)
        _add(question, access.user, words, at, is_answer=True)
        question.state, question.has_news, question.changed_at = ANSWERED, True, at
        question.save(update_fields=["state", "has_news", "changed_at"])
        _count_news(campaign, question.asker)
        _record(access, campaign, at, "question.answered", question)
        if closes:
            _close(access, campaign, question, at)
    return question


def send_back(*, label: Label, by: User, text: str, at: datetime) -> Question:
    """Tell an annotator why a reviewer sends their label back; the caller has checked the right to.

    In the open thread about the pair, or a new one. Call it inside a transaction.
    Raises QuestionRefused without a text.
    """
    words = checked_message(text)
    campaign, seat = label.pair.campaign, label.assignment
    assert seat is not None
    _lock_places(campaign, [label.annotator_id])
    about: dict[str, Any] = {
        "pair_id": label.pair_id,
        "asker": label.annotator,
        "occasion": seat.occasion,
    }
    question = Question.objects.exclude(state=CLOSED).filter(**about).first()
    if question is None:
        question = Question.objects.create(
            campaign=campaign, assignment=seat, asked_at=at, changed_at=at, **about
        )
    check_room(messages=question.messages.count(), waiting=0)
    Message.objects.create(
        question=question,
        author=by,
        is_answer=True,
        is_return=True,
        words=keep_text(words),
        written_at=at,
    )
    question.state, question.has_news, question.changed_at = ANSWERED, True, at
    question.save(update_fields=["state", "has_news", "changed_at"])
    _count_news(campaign, label.annotator)
    return question


def close(*, access: Access, campaign: Campaign, question_id: UUID, at: datetime) -> Question:
    """End a thread: no one can write in it any more. For leads; closing twice changes nothing."""
    check_may_run(access, campaign)
    with transaction.atomic():
        question = _locked(campaign, question_id)
        if question.state != CLOSED:
            _close(access, campaign, question, at)
    return question


def reopen(*, access: Access, campaign: Campaign, question_id: UUID, at: datetime) -> Question:
    """Let a closed thread go on where it stood; for leads.

    Raises QuestionRefused where it is not closed, or its asker has another one about the pair.
    """
    check_may_run(access, campaign)
    taken = QuestionRefused("another_open", "The annotator has another open thread on this pair.")
    with unless_taken(taken):
        question = _locked(campaign, question_id)
        if question.state != CLOSED:
            raise QuestionRefused("not_closed", "This thread is not closed.")
        last = question.messages.order_by("pk").last()
        question.state = ANSWERED if last is not None and last.is_answer else WAITING
        question.save(update_fields=["state"])
        _record(access, campaign, at, "question.reopened", question)
    return question


def announce(*, access: Access, campaign: Campaign, text: str, at: datetime) -> Announcement:
    """Tell all annotators of a campaign something; for leads.

    Annotators who join later do not get it: it was about the work of that time.
    """
    check_may_run(access, campaign)
    words = checked_message(text)
    with transaction.atomic():
        # before the row is written, so that a concurrent count comes before or after
        campaign.annotators.update(news=F("news") + 1)
        made = Announcement.objects.create(
            campaign=campaign, author=access.user, words=keep_text(words), announced_at=at
        )
        audit.record_by(access, at, "announcement.made", campaign.name)
    return made


def withdraw_announcement(
    *, access: Access, campaign: Campaign, announcement_id: UUID, at: datetime
) -> None:
    """Take an announcement from all annotators, also from those who have read it; for leads.

    Leads still see it. Raises NotFound for one of another campaign, QuestionRefused for one that
    is withdrawn already.
    """
    check_may_run(access, campaign)
    with transaction.atomic():
        people = list(campaign.annotators.select_related("user").order_by("pk"))
        _lock_places(campaign, [place.user_id for place in people])
        announcement = campaign.announcements.filter(pk=announcement_id).first()
        if announcement is None:
            raise NotFound("announcement")
        _, is_first = WithdrawnAnnouncement.objects.get_or_create(
            announcement=announcement, defaults={"by": access.user, "withdrawn_at": at}
        )
        if not is_first:
            raise QuestionRefused("already_withdrawn", "This announcement is already withdrawn.")
        for place in people:
            _count_news(campaign, place.user)
        audit.record_by(access, at, "announcement.withdrawn", campaign.name)


def mark_read(
    *,
    context: AnnotatorContext,
    questions: Mapping[UUID, int] | None = None,
    announcements: Sequence[UUID] = (),
    at: datetime,
) -> int:
    """What the viewer has read; how many answers and announcements they still have not.

    questions: the ids of own threads, each with how many messages it had when it was read: an
    answer that came since stays unread. Ids of anything else are passed over.
    """
    seen = questions or {}
    with transaction.atomic():
        _lock_places(context.campaign, [context.viewer.pk])
        own_qs = list_own_questions_qs(context).filter(public_id__in=seen, has_news=True)
        counted = own_qs.annotate(count=Count("messages")).values_list("pk", "public_id", "count")
        read = [pk for pk, public_id, count in counted if count <= seen[public_id]]
        Question.objects.filter(pk__in=read).update(has_news=False)
        unread_qs = list_own_announcements_qs(context).filter(is_read=False, pk__in=announcements)
        AnnouncementRead.objects.bulk_create(
            AnnouncementRead(announcement=one, annotator=context.viewer, read_at=at)
            for one in unread_qs
        )
        return _count_news(context.campaign, context.viewer)


def _check_open(context: AnnotatorContext) -> None:
    if not is_open(context):
        raise CampaignClosed


def _check_not_closed(question: Question) -> None:
    if question.state == CLOSED:
        raise QuestionRefused("question_closed", "This thread is closed.")


def _check_room(context: AnnotatorContext, question: Question | None) -> None:
    waiting_qs = list_own_questions_qs(context).filter(state=WAITING)
    if question is None:
        check_room(messages=0, waiting=waiting_qs.count())
    else:
        others = waiting_qs.exclude(pk=question.pk).count()
        check_room(messages=question.messages.count(), waiting=others)


def _write(context: AnnotatorContext, asked: Question, words: str, at: datetime) -> Question:
    """The asker's next message in a thread; the caller holds their place."""
    question = Question.objects.select_for_update(no_key=True).get(pk=asked.pk)
    _check_not_closed(question)
    _check_room(context, question)
    _add(question, context.viewer, words, at, is_answer=False)
    question.state, question.changed_at = WAITING, at
    question.save(update_fields=["state", "changed_at"])
    return question


def _add(question: Question, author: User, words: str, at: datetime, *, is_answer: bool) -> None:
    Message.objects.create(
        question=question,
        author=author,
        is_answer=is_answer,
        words=keep_text(words),
        written_at=at,
    )


def _close(access: Access, campaign: Campaign, question: Question, at: datetime) -> None:
    """End a thread that is held."""
    question.state = CLOSED
    question.save(update_fields=["state"])
    _record(access, campaign, at, "question.closed", question)


def _lock_places(campaign: Campaign, users: Sequence[int]) -> None:
    places_qs = CampaignAnnotator.objects.select_for_update(no_key=True).order_by("pk")
    list(places_qs.filter(campaign=campaign, user__in=users).values_list("pk"))


def _locked(campaign: Campaign, question_id: UUID) -> Question:
    """A question of the campaign, held with its asker's place."""
    asked_qs = Question.objects.filter(campaign=campaign, public_id=question_id)
    _lock_places(campaign, list(asked_qs.values_list("asker", flat=True)))
    locked_qs = asked_qs.select_for_update(no_key=True, of=("self",))
    question = locked_qs.select_related("asker", "pair__query", "pair__document").first()
    if question is None:
        raise NotFound("question")
    return question


def _count_news(campaign: Campaign, person: User) -> int:
    """Write down how much an annotator has not read, and return it; their place is held."""
    place = CampaignAnnotator.objects.get(campaign=campaign, user=person)
    answers = Question.objects.filter(campaign=campaign, asker=person, has_news=True).count()
    since = Announcement.objects.filter(
        campaign=campaign, announced_at__gte=place.joined_at, withdrawal=None
    )
    news = answers + since.exclude(reads__annotator=person).count()
    CampaignAnnotator.objects.filter(pk=place.pk).update(news=news)
    return news


def _record(
    access: Access, campaign: Campaign, at: datetime, action: str, question: Question
) -> None:
    pair: Any = question.pair
    about = {"query": pair.query.qid, "document": pair.document.docid}
    audit.record_by(access, at, action, campaign.name, after=about)
