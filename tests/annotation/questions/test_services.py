"""Asking, answering, closing and announcing; what an annotator has not read is counted right."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from annotation.campaigns.services import add_annotators, close_campaign, remove_annotator
from annotation.gold.services import change_checks, mark_gold
from annotation.labelling.services import submit_label
from annotation.labelling.submissions import LabelRefused
from annotation.models import (
    Announcement,
    AnnouncementRead,
    Assignment,
    Campaign,
    CampaignAnnotator,
    Message,
    Question,
)
from annotation.permissions import CampaignClosed
from annotation.questions import services
from annotation.questions.own_queries import (
    get_asked_pair,
    get_news,
    get_own_thread,
    list_own_announcements,
    list_own_questions,
    list_unread_announcements,
)
from annotation.questions.queries import Wanted, get_questions_page, get_thread, list_announcements
from annotation.questions.rules import MOST_MESSAGES, MOST_WAITING, QuestionRefused
from judgments.models import AuditEntry, SideText
from judgments.permissions import Access, NotFound
from tests.builders import NOW, World, make_access, make_member, make_world
from tests.builders_annotation import (
    context_of,
    held,
    label,
    lease,
    make_campaign,
    make_draft,
    said,
    shown_at,
)

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=5)


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    world = make_world(queries=4, documents=10)
    return world, make_campaign(world=world)


def ask(campaign: Campaign, username: str = "ben", seat: int = 0, text: str = "Why?") -> Question:
    seats = held(campaign=campaign, username=username) or lease(
        campaign=campaign, username=username
    )
    context = context_of(campaign, username)
    return services.ask(context=context, assignment=seats[seat].public_id, text=text, at=NOW)


def answer(ada: Access, campaign: Campaign, question: Question, text: str = "Because.") -> Question:
    return services.answer(
        access=ada, campaign=campaign, question_id=question.public_id, text=text, at=LATER
    )


def news_of(campaign: Campaign, username: str = "ben") -> int:
    """What the page is told, which is always what a count gives."""
    told = context_of(campaign, username).news
    assert told == get_news(context_of(campaign, username)).count
    return told


def test_a_question_waits_is_answered_and_read(campaign: Campaign, ada: Access) -> None:
    question = ask(campaign)
    assert (question.state, news_of(campaign)) == ("waiting", 0)
    answer(ada, campaign, question)
    thread = get_own_thread(context_of(campaign, "ben"), question.public_id)
    assert (thread.state, thread.has_news, news_of(campaign)) == ("answered", True, 1)
    assert [(one.is_answer, one.text) for one in thread.messages] == [
        (False, "Why?"),
        (True, "Because."),
    ]
    left = services.mark_read(
        context=context_of(campaign, "ben"), questions={question.public_id: 2}, at=LATER
    )
    assert (left, news_of(campaign)) == (0, 0)


def test_an_answer_that_came_after_the_page_was_read_stays_unread(
    campaign: Campaign, ada: Access
) -> None:
    question = ask(campaign)
    answer(ada, campaign, question)
    answer(ada, campaign, question, "And more.")
    seen = {question.public_id: 2}
    services.mark_read(context=context_of(campaign, "ben"), questions=seen, at=LATER)
    assert news_of(campaign) == 1


def test_writing_again_lets_the_thread_wait_once_more(campaign: Campaign, ada: Access) -> None:
    question = ask(campaign)
    answer(ada, campaign, question)
    context = context_of(campaign, "ben")
    written = services.write(
        context=context, question_id=question.public_id, text="Even so?", at=LATER
    )
    assert written.state == "waiting"
    assert [one.text for one in get_own_thread(context, question.public_id).messages] == [
        "Why?",
        "Because.",
        "Even so?",
    ]


def test_a_second_question_about_a_pair_is_the_next_message_of_its_thread(
    campaign: Campaign,
) -> None:
    first, again = ask(campaign), ask(campaign, text="Still.")
    assert first.pk == again.pk
    assert Message.objects.count() == 2
    assert ask(campaign, "cem").pk != first.pk


def test_a_closed_thread_takes_no_message_until_it_is_reopened(
    campaign: Campaign, ada: Access
) -> None:
    question = ask(campaign)
    named: dict[str, Any] = {"access": ada, "campaign": campaign, "question_id": question.public_id}
    services.close(**named, at=LATER)
    services.close(**named, at=LATER)
    with pytest.raises(QuestionRefused, match="closed"):
        services.write(
            context=context_of(campaign, "ben"),
            question_id=question.public_id,
            text="But",
            at=LATER,
        )
    with pytest.raises(QuestionRefused, match="closed"):
        answer(ada, campaign, question)
    assert services.reopen(**named, at=LATER).state == "waiting"
    answer(ada, campaign, question)
    services.close(**named, at=LATER)
    assert services.reopen(**named, at=LATER).state == "answered"
    with pytest.raises(QuestionRefused, match="not closed"):
        services.reopen(**named, at=LATER)
    actions = AuditEntry.objects.filter(action__startswith="question.").order_by("pk")
    assert list(actions.values_list("action", flat=True)) == [
        "question.closed",
        "question.reopened",
        "question.answered",
        "question.closed",
        "question.reopened",
    ]


def test_after_a_closed_thread_comes_a_new_one_and_the_old_one_stays_closed(
    campaign: Campaign, ada: Access
) -> None:
    old = ask(campaign)
    named: dict[str, Any] = {"access": ada, "campaign": campaign, "question_id": old.public_id}
    services.close(**named, at=LATER)
    new = ask(campaign, text="Once more.")
    assert new.pk != old.pk
    with pytest.raises(QuestionRefused, match="another open thread"):
        services.reopen(**named, at=LATER)


def test_a_question_at_a_gold_pair_is_like_any_other_for_who_asks() -> None:
    world = make_world(slug="films", queries=4, documents=10)
    ada = make_access(collection=world.collection)
    campaign = make_campaign(world=world)
    Campaign.objects.update(secret="the scene's")  # so that it always plants some
    pairs = list(campaign.pairs.select_related("campaign__list").order_by("pk"))
    for pair in pairs[::3]:
        mark_gold(access=ada, pair=pair, low=3, high=4, reason="It is.", at=NOW)
    change_checks(access=ada, campaign=campaign, at=NOW, gold_percent=30)
    seats = lease(campaign=campaign, username="ben")
    planted = next(seat for seat in seats if seat.stand_in)
    plain = next(seat for seat in seats if not seat.stand_in)
    context = context_of(campaign, "ben")
    shapes = set()
    for seat in (planted, plain):
        made = services.ask(context=context, assignment=seat.public_id, text="Why?", at=NOW)
        assert made.pair_id == shown_at(seat)
        asked = get_asked_pair(context, seat.public_id)
        assert asked.question is not None
        assert asked.question.id == made.public_id
        assert asked.title == made.pair.document.title
        shapes.add((asked.question.state, asked.question.has_news, len(asked.question.messages)))
        thread = get_thread(access=ada, campaign=campaign, question_id=made.public_id)
        assert thread.is_gold == (seat is planted)
        assert (thread.low, thread.high) == ((3, 4) if seat is planted else (None, None))
    assert len(shapes) == 1
    submitted = said(seat=planted, grade=3)
    submit_label(context=context, submission=submitted, at=LATER)
    again = get_asked_pair(context, planted.public_id)
    assert again.question is not None
    assert again.question.label == submitted.id


def test_a_thread_belongs_to_one_occasion_so_that_a_repeat_does_not_show(
    campaign: Campaign,
) -> None:
    first = ask(campaign)
    seat = first.assignment
    repeat = Assignment.objects.create(
        pair_id=first.pair_id,
        seat=0,
        occasion=1,
        purpose=Assignment.Purpose.REPEAT,
        state=Assignment.State.LEASED,
        annotator=seat.annotator,
        leased_until=LATER,
    )
    context = context_of(campaign, "ben")
    assert get_asked_pair(context, repeat.public_id).question is None
    second = services.ask(context=context, assignment=repeat.public_id, text="Why?", at=NOW)
    assert second.pk != first.pk
    names = {one.pair for one in list_own_questions(context)}
    assert len(names) == 2


def test_nobody_asks_at_or_reads_or_writes_in_what_is_not_theirs(
    campaign: Campaign, ada: Access
) -> None:
    question = ask(campaign)
    cem = context_of(campaign, "cem")
    for assignment in (question.assignment.public_id, uuid4()):
        with pytest.raises(NotFound):
            services.ask(context=cem, assignment=assignment, text="Why?", at=NOW)
        with pytest.raises(NotFound):
            get_asked_pair(cem, assignment)
    with pytest.raises(NotFound):
        get_own_thread(cem, question.public_id)
    with pytest.raises(NotFound):
        services.write(context=cem, question_id=question.public_id, text="Why?", at=NOW)
    answer(ada, campaign, question)
    services.mark_read(context=cem, questions={question.public_id: 9}, at=NOW)
    assert (news_of(campaign), news_of(campaign, "cem")) == (1, 0)


def test_only_leads_of_the_campaign_answer(world: World, campaign: Campaign, ada: Access) -> None:
    question = ask(campaign)
    dora = make_access(collection=world.collection, username="dora")
    with pytest.raises(NotFound):
        answer(dora, campaign, question)
    second = make_draft(world=world, name="Second", pairs=[])
    for found_in, question_id in ((second, question.public_id), (campaign, uuid4())):
        with pytest.raises(NotFound):
            services.answer(
                access=ada, campaign=found_in, question_id=question_id, text="So.", at=NOW
            )


def test_a_closed_campaign_takes_no_question_but_an_answer(campaign: Campaign, ada: Access) -> None:
    question = ask(campaign)
    close_campaign(access=ada, campaign=campaign, at=LATER)
    context = context_of(campaign, "ben")
    with pytest.raises(CampaignClosed):
        services.ask(
            context=context, assignment=question.assignment.public_id, text="Why?", at=LATER
        )
    with pytest.raises(CampaignClosed):
        services.write(context=context, question_id=question.public_id, text="Why?", at=LATER)
    answer(ada, campaign, question)
    assert news_of(campaign) == 1


@pytest.mark.parametrize(
    ("text", "refusal"), [("  ", QuestionRefused), ("x" * 4_001, LabelRefused)]
)
def test_a_message_has_words_and_not_too_many(
    campaign: Campaign, ada: Access, text: str, refusal: type[Exception]
) -> None:
    with pytest.raises(refusal):
        ask(campaign, text=text)
    with pytest.raises(refusal):
        services.announce(access=ada, campaign=campaign, text=text, at=NOW)
    assert not Question.objects.exists()


def test_threads_and_waiting_questions_have_an_end(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (MOST_MESSAGES, MOST_WAITING) == (200, 50)
    monkeypatch.setattr("annotation.questions.rules.MOST_MESSAGES", 2)
    monkeypatch.setattr("annotation.questions.rules.MOST_WAITING", 2)
    ask(campaign)
    ask(campaign)
    with pytest.raises(QuestionRefused, match="2 messages, the maximum"):
        ask(campaign)
    ask(campaign, seat=1)
    with pytest.raises(QuestionRefused, match="2 unanswered questions"):
        ask(campaign, seat=2)


def test_an_announcement_is_for_those_who_are_there_until_they_have_read_it(
    world: World, campaign: Campaign, ada: Access
) -> None:
    made = services.announce(access=ada, campaign=campaign, text="Read r2.", at=LATER)
    fay = make_member(collection=world.collection, username="fay", role="annotator")
    add_annotators(access=ada, campaign=campaign, people=[fay], at=LATER + timedelta(seconds=1))
    assert [news_of(campaign, name) for name in ("ben", "cem", "fay")] == [1, 1, 0]
    ben = context_of(campaign, "ben")
    for _ in range(2):
        services.mark_read(context=ben, announcements=[made.pk, uuid4()], at=LATER)
    fays = context_of(campaign, "fay")
    services.mark_read(context=fays, announcements=[made.pk], at=LATER)
    assert AnnouncementRead.objects.count() == 1
    (row,) = list_announcements(access=ada, campaign=campaign)
    assert (row.text, row.read, row.readers) == ("Read r2.", 1, 2)
    assert [news_of(campaign, name) for name in ("ben", "cem")] == [0, 1]
    remove_annotator(access=ada, campaign=campaign, person=world.cem, at=LATER)
    assert list_announcements(access=ada, campaign=campaign)[0].readers == 1
    assert AuditEntry.objects.filter(action="announcement.made").count() == 1


def test_a_withdrawn_announcement_is_none_of_the_annotators_any_more(
    world: World, campaign: Campaign, ada: Access
) -> None:
    kept = services.announce(access=ada, campaign=campaign, text="Read r2.", at=LATER)
    wrong = services.announce(access=ada, campaign=campaign, text="Read r9.", at=LATER)
    services.mark_read(context=context_of(campaign, "ben"), announcements=[wrong.pk], at=LATER)
    assert [news_of(campaign, name) for name in ("ben", "cem")] == [1, 2]
    withdrawal: dict[str, Any] = {"access": ada, "campaign": campaign, "at": LATER}
    services.withdraw_announcement(**withdrawal, announcement_id=wrong.pk)
    assert [news_of(campaign, name) for name in ("ben", "cem")] == [1, 1]
    for name in ("ben", "cem"):
        context = context_of(campaign, name)
        assert [one.text for one in list_own_announcements(context)] == ["Read r2."]
        (unread,) = list_unread_announcements(context.viewer)
        assert [one.id for one in unread.announcements] == [kept.pk]
    # one who did not see it withdrawn marks it as read: nothing comes of it
    services.mark_read(context=context_of(campaign, "cem"), announcements=[wrong.pk], at=LATER)
    assert news_of(campaign, "cem") == 1
    rows = list_announcements(access=ada, campaign=campaign)
    assert {(row.text, row.withdrawn_at, row.read) for row in rows} == {
        ("Read r2.", None, 0),
        ("Read r9.", LATER, 1),
    }
    with pytest.raises(QuestionRefused, match="already"):
        services.withdraw_announcement(**withdrawal, announcement_id=wrong.pk)
    with pytest.raises(NotFound):
        services.withdraw_announcement(**withdrawal, announcement_id=uuid4())
    other = make_draft(world=world, name="Second")
    with pytest.raises(NotFound):
        services.withdraw_announcement(
            access=ada, campaign=other, announcement_id=kept.pk, at=LATER
        )
    assert AuditEntry.objects.filter(action="announcement.withdrawn").count() == 1


def test_those_that_wait_come_first_and_words_find_them(campaign: Campaign, ada: Access) -> None:
    answered, longest, newest = ask(campaign), ask(campaign, "cem"), ask(campaign, seat=1)
    Question.objects.filter(pk=newest.pk).update(changed_at=NOW + timedelta(seconds=9))
    answer(ada, campaign, answered, "Zebras are not horses.")

    def listed(**wanted: str) -> list[object]:
        page = get_questions_page(access=ada, campaign=campaign, wanted=Wanted(**wanted), page="")
        return [row.id for row in page.rows]

    assert listed() == [longest.public_id, newest.public_id, answered.public_id]
    assert listed(state="answered") == [answered.public_id]
    assert listed(search="ZEBRAS") == [answered.public_id]
    assert listed(search="no such words") == []
    qid = newest.pair.query.qid
    assert newest.public_id in listed(search=qid)
    page = get_questions_page(access=ada, campaign=campaign, wanted=Wanted(), page="")
    assert (page.waiting, page.total) == (2, 3)


def test_leads_see_pseudonyms_unless_they_ask_for_names(campaign: Campaign, ada: Access) -> None:
    question = ask(campaign)
    named: dict[str, Any] = {"access": ada, "campaign": campaign, "question_id": question.public_id}
    assert get_thread(**named).asker.startswith("person")
    assert get_thread(**named, shows_names=True).asker == "Ben"


def test_words_can_be_erased_and_the_thread_stays(campaign: Campaign, ada: Access) -> None:
    question = ask(campaign)
    answer(ada, campaign, question)
    services.announce(access=ada, campaign=campaign, text="Read r2.", at=LATER)
    SideText.objects.all().delete()
    thread = get_own_thread(context_of(campaign, "ben"), question.public_id)
    assert [one.text for one in thread.messages] == ["", ""]
    assert Announcement.objects.get().text == ""
    assert news_of(campaign) == 2


def test_the_count_of_unread_is_kept_where_labels_read_it_anyway(
    campaign: Campaign, ada: Access
) -> None:
    question = ask(campaign)
    answer(ada, campaign, question)
    places = CampaignAnnotator.objects.filter(campaign=campaign)
    assert dict(places.values_list("user__username", "news")) == {"ben": 1, "cem": 0}
    label(pair=question.pair, username="cem", grade=1)
    assert news_of(campaign) == 1
