"""People at the same pair at the same moment, each on a connection of their own.

Whatever wins, the seats hold: no one sits in two, no pair is labelled by more people than it
needs, and what was acknowledged is there.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.db.models import F

from annotation.adjudication.services import adjudicate
from annotation.campaigns.services import CampaignRefused, close_campaign, open_campaign
from annotation.consolidation.services import consolidate
from annotation.gold.actions import set_labels_aside, undo_action
from annotation.labelling.leasing import lease_next, release_expired, release_leases
from annotation.labelling.services import Receipt, submit_label
from annotation.labelling.submissions import LabelRefused, Submission
from annotation.models import (
    Adjudication,
    Announcement,
    Assignment,
    Campaign,
    Label,
    Message,
    Pair,
    Question,
)
from annotation.permissions import AnnotatorContext, CampaignClosed
from annotation.questions.own_queries import get_news
from annotation.questions.services import announce, answer, ask, mark_read, write
from judgments.models import Judgment
from tests.builders import NOW, World, make_access, make_member, make_world
from tests.builders_annotation import (
    LEASE,
    context_of,
    held,
    label,
    make_campaign,
    make_draft,
    said,
    seat_for,
)
from tests.racing import CROWD, ROUNDS, AtOnce

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
PEOPLE = tuple(f"person{number}" for number in range(CROWD))
SENDERS = max(8, CROWD // 2)  # of the same label
LATER = NOW + LEASE + timedelta(seconds=1)


@pytest.fixture
def world() -> World:
    world = make_world(queries=2, documents=ROUNDS // 2)
    for username in PEOPLE:
        make_member(collection=world.collection, username=username, role="annotator")
    return world


def pairs_of(campaign: Campaign) -> Sequence[Pair]:
    return list(
        campaign.pairs.select_related(
            "campaign__list", "campaign__guideline", "list", "query", "document"
        )
    )


def check_seats(campaign: Campaign) -> None:
    """The laws of seats that no race may break."""
    live = Assignment.objects.filter(pair__campaign=campaign).exclude(state="voided")
    taken = live.exclude(annotator=None).values_list("pair", "annotator")
    assert max(Counter(taken).values(), default=1) == 1
    labels = Label.objects.filter(pair__campaign=campaign)
    firsts = labels.filter(supersedes=None, assignment__isnull=False)
    assert max(Counter(firsts.values_list("assignment", flat=True)).values(), default=1) == 1
    said = Counter(labels.values_list("pair", flat=True))
    said.update(Adjudication.objects.filter(pair__campaign=campaign).values_list("pair", flat=True))
    counted = dict(campaign.pairs.values_list("pk", "label_seq"))
    assert counted == {pair: said[pair] for pair in counted}


def test_the_last_seat_goes_to_one(world: World, at_once: AtOnce) -> None:
    campaign = make_campaign(world=world, overlap=1, people=PEOPLE)
    contexts = {username: context_of(campaign, username) for username in PEOPLE}

    for left in range(ROUNDS, 0, -1):
        # all but one pair are labelled: everyone wants what is left, or any of the last few
        at_once(
            *(
                partial(lease_next, context=context, count=1, at=NOW)
                for context in contexts.values()
            )
        )
        holders = [name for name in PEOPLE if held(campaign=campaign, username=name)]
        assert len(holders) == min(left, len(PEOPLE))
        check_seats(campaign)
        (seat,) = held(campaign=campaign, username=holders[0])
        label(pair=seat.pair, username=holders[0], grade=1)
        for name in holders[1:]:
            release_leases(context=contexts[name])
    assert Label.objects.count() == ROUNDS


def test_the_same_label_many_times_at_once_is_one_label(world: World, at_once: AtOnce) -> None:
    campaign = make_campaign(world=world)
    context = context_of(campaign, "ben")
    for pair in pairs_of(campaign):
        submission = said(seat=seat_for(pair=pair, username="ben"), grade=2)
        answers = at_once(
            *[partial(submit_label, context=context, submission=submission, at=NOW)] * SENDERS
        )
        assert sorted(answer.is_repeat for answer in answers) == [False] + [True] * (SENDERS - 1)
        assert {answer.id for answer in answers} == {submission.id}
    assert Label.objects.count() == ROUNDS
    check_seats(campaign)


def test_one_id_for_two_pairs_at_once_stands_for_one_of_them(world: World, at_once: AtOnce) -> None:
    access = make_access(collection=world.collection)
    for name in ("first", "second"):
        campaign = make_campaign(world=world, name=name)
        context = context_of(campaign, "ben")
        pairs = pairs_of(campaign)
        for one, other in zip(pairs[::2], pairs[1::2], strict=True):
            first = said(seat=seat_for(pair=one, username="ben"), grade=2)
            second = said(seat=seat_for(pair=other, username="ben"), grade=2, id=first.id)
            answers = at_once(*(_submit(context, submission) for submission in (first, second)))
            refused = [answer for answer in answers if isinstance(answer, LabelRefused)]
            assert [error.code for error in refused] == ["label_conflict"]
            assert len([answer for answer in answers if isinstance(answer, Receipt)]) == 1
            assert Label.objects.filter(pk=first.id).count() == 1
        check_seats(campaign)
        close_campaign(access=access, campaign=campaign, at=NOW)


def test_a_label_at_the_moment_of_closing_is_concluded_or_refused(
    world: World, at_once: AtOnce
) -> None:
    outcomes: Counter[bool] = Counter()
    for number in range(ROUNDS):
        pair_of_ids = [(world.queries[0], world.documents[number % 6])]
        campaign = make_campaign(world=world, name=f"c{number}", overlap=1, pairs=pair_of_ids)
        (pair,) = pairs_of(campaign)
        submission = said(seat=seat_for(pair=pair, username="ben"), grade=number % 5, made_at=NOW)
        access = make_access(collection=world.collection)
        answers = at_once(
            _submit(context_of(campaign, "ben"), submission),
            partial(
                close_campaign, access=access, campaign=campaign, at=NOW - timedelta(seconds=1)
            ),
        )
        assert not isinstance(answers[1], Exception)
        stored = Label.objects.filter(pk=submission.id).exists()
        assert stored == isinstance(answers[0], Receipt)
        assert stored or isinstance(answers[0], CampaignClosed)
        pair.refresh_from_db()
        assert (pair.state, pair.consolidated_seq) == (("complete", 1) if stored else ("open", 0))
        outcomes[stored] += 1
        check_seats(campaign)
    assert outcomes.total() == ROUNDS


def test_a_label_at_the_moment_its_lease_is_taken_over_is_kept(
    world: World, at_once: AtOnce
) -> None:
    for number in range(ROUNDS):
        pair_of_ids = [(world.queries[0], world.documents[number % 6])]
        access = make_access(collection=world.collection)
        campaign = make_campaign(world=world, name=f"c{number}", overlap=1, pairs=pair_of_ids)
        (pair,) = pairs_of(campaign)
        submission = said(seat=seat_for(pair=pair, username="ben"), grade=3)
        cem = context_of(campaign, "cem")
        answers = at_once(
            _submit(context_of(campaign, "ben"), submission, LATER),
            partial(lease_next, context=cem, count=1, at=LATER),
            partial(release_expired, at=LATER),
        )
        assert isinstance(answers[0], Receipt), answers
        made = Label.objects.get(pk=submission.id)
        cems = held(campaign=campaign, username="cem")
        # either Ben's label has the seat, or Cem does and the label is kept beside it
        assert (made.assignment is None) == bool(cems), answers
        check_seats(campaign)
        close_campaign(access=access, campaign=campaign, at=LATER)


def test_giving_back_and_labelling_at_once_loses_neither_label_nor_seat(
    world: World, at_once: AtOnce
) -> None:
    campaign = make_campaign(world=world, overlap=2)
    context = context_of(campaign, "ben")
    for pair in pairs_of(campaign):
        submission = said(seat=seat_for(pair=pair, username="ben"), grade=3)
        answers = at_once(_submit(context, submission), partial(release_leases, context=context))
        assert isinstance(answers[0], Receipt)
        assert Label.objects.get(pk=submission.id).assignment is not None
        states = pair.assignments.exclude(state="voided").values_list("state", flat=True)
        assert sorted(states) == ["done", "free"]
    check_seats(campaign)


def test_two_tabs_of_one_person_get_one_seat_of_a_pair(world: World, at_once: AtOnce) -> None:
    campaign = make_campaign(world=world, overlap=2, order="shuffled")
    context = context_of(campaign, "ben")
    for _ in range(ROUNDS):
        at_once(*[partial(lease_next, context=context, count=6, at=NOW)] * 4)
        seats = held(campaign=campaign, username="ben")
        assert len(seats) == len({seat.pair_id for seat in seats}) == 6
        release_leases(context=context)
    check_seats(campaign)


def test_people_who_cannot_grade_open_just_the_seats_that_are_missing(
    world: World, at_once: AtOnce
) -> None:
    campaign = make_campaign(world=world, overlap=3, people=PEOPLE)
    for pair in pairs_of(campaign):
        works = []
        for number, username in enumerate(PEOPLE[:3]):
            seat = seat_for(pair=pair, username=username)
            submission = said(seat=seat, grade=2 if number == 0 else None)
            works.append(_submit(context_of(campaign, username), submission))
        assert all(isinstance(answer, Receipt) for answer in at_once(*works))
        states = pair.assignments.exclude(state="voided").values_list("state", flat=True)
        assert sorted(states) == ["done"] * 3 + ["free"] * 2
    check_seats(campaign)


def test_a_pair_that_two_campaigns_open_at_once_is_open_in_one(
    world: World, at_once: AtOnce
) -> None:
    access = make_access(collection=world.collection)
    few = list(zip(world.queries, world.documents, strict=False))
    for number in range(ROUNDS):
        drafts = [make_draft(world=world, name=f"{number}{side}", pairs=few) for side in "ab"]
        answers = at_once(
            *(partial(open_campaign, access=access, campaign=draft, at=NOW) for draft in drafts)
        )
        opened = [answer for answer in answers if isinstance(answer, Campaign)]
        refused = [answer for answer in answers if isinstance(answer, CampaignRefused)]
        assert [error.code for error in refused] == ["pairs_open_elsewhere"]
        close_campaign(access=access, campaign=opened[0], at=NOW)


def test_deciding_labelling_and_consolidating_at_once_end_in_the_decision(
    world: World, at_once: AtOnce
) -> None:
    campaign = make_campaign(world=world)
    access = make_access(collection=world.collection)
    for number, pair in enumerate(pairs_of(campaign)):
        works = [
            _submit(
                context_of(campaign, username),
                said(seat=seat_for(pair=pair, username=username), grade=4),
            )
            for username in ("ben", "cem")
        ]
        at = NOW + timedelta(minutes=number)
        answers = at_once(
            *works,
            partial(adjudicate, access=access, pair=pair, grade=1, reason="because", at=NOW),
            *[partial(consolidate, list_id=campaign.list_id, at=at)] * 3,
        )
        assert [answer for answer in answers if isinstance(answer, Exception)] == []
    consolidate(list_id=campaign.list_id, at=NOW + timedelta(days=1))
    current = Judgment.objects.filter(until__isnull=True)
    assert set(current.values_list("grade", flat=True)) == {1}
    assert {str(row.evidence["votes"]) for row in current} == {"{'4': 2}"}
    check_seats(campaign)


def _submit(
    context: AnnotatorContext, submission: Submission, at: datetime = NOW
) -> Callable[[], Receipt]:
    return partial(submit_label, context=context, submission=submission, at=at)


def test_two_leads_at_once_set_labels_aside_once_and_restore_them_once(
    world: World, at_once: AtOnce
) -> None:
    """While the annotator goes on labelling, another takes the seats, and a worker concludes."""
    campaign = make_campaign(world=world, people=("ben", "cem", "dora"))
    make_member(collection=world.collection, username="zoe", role="lead")
    ada, zoe = (make_access(collection=world.collection, username=name) for name in ("ada", "zoe"))
    ben, dora = context_of(campaign, "ben"), context_of(campaign, "dora")
    aside = partial(set_labels_aside, campaign=campaign, people=[ben.viewer], at=NOW)
    for pair in pairs_of(campaign):
        label(pair=pair, username="ben", grade=0)
        label(pair=pair, username="cem", grade=3)
        done = Assignment.objects.filter(annotator=ben.viewer, state="done").count()
        seat = Assignment.objects.get(annotator=ben.viewer, pair=pair)
        correction = said(seat=seat, grade=1, at=NOW + timedelta(seconds=1))
        first, second, stored, *_ = at_once(
            partial(aside, access=ada),
            partial(aside, access=zoe),
            partial(
                submit_label, context=ben, submission=correction, at=NOW + timedelta(seconds=1)
            ),
            partial(lease_next, context=dora, count=3, at=NOW),
            partial(consolidate, list_id=campaign.list_id, at=LATER),
        )
        (pause, requeue), nothing = (first, second) if first else (second, first)
        assert (pause.action, requeue.action, nothing) == ("pause", "requeue", [])
        assert len(requeue.seats) == done
        assert isinstance(stored, Receipt)
        check_places(campaign)
        undo = partial(undo_action, action=requeue, at=LATER)
        undone = at_once(partial(undo, access=ada), partial(undo, access=zoe))
        assert sorted(type(one).__name__ for one in undone) == ["CheckAction", "GoldRefused"]
        undo_action(access=ada, action=pause, at=LATER)
        assert not Assignment.objects.filter(state="aside").exists()
        assert Assignment.objects.filter(annotator=ben.viewer, state="done").count() == done
        # what Dora leased meanwhile stays hers beside the restored labels until she gives it back
        release_leases(context=dora)
        check_places(campaign)
    consolidate(list_id=campaign.list_id, at=LATER + timedelta(hours=1))
    assert not campaign.pairs.exclude(consolidated_seq=F("label_seq")).exists()


def check_places(campaign: Campaign) -> None:
    """No one sits twice at a pair, and no pair has more seats than it needs and set aside."""
    live = Assignment.objects.filter(pair__campaign=campaign).exclude(state="voided")
    taken = live.exclude(annotator=None).values_list("pair", "annotator")
    assert max(Counter(taken).values(), default=1) == 1
    counting = Counter(live.exclude(state="aside").values_list("pair", flat=True))
    assert set(counting.values()) == {campaign.overlap}


def test_what_is_unread_is_counted_right_whoever_writes_and_reads_at_the_same_moment(
    world: World, at_once: AtOnce
) -> None:
    campaign = make_campaign(world=world, people=PEOPLE)
    ada = make_access(collection=world.collection)
    lease_next(context=context_of(campaign, PEOPLE[0]), count=1, at=NOW)
    (seat,) = held(campaign=campaign, username=PEOPLE[0])
    context = context_of(campaign, PEOPLE[0])
    about: dict[str, Any] = {
        "context": context,
        "assignment": seat.public_id,
        "text": "Why?",
        "at": NOW,
    }
    at_once(*[partial(ask, **about)] * 4)
    question = Question.objects.get()  # one thread, no matter who began it
    assert Message.objects.count() == 4
    named: dict[str, Any] = {"question_id": question.public_id, "at": NOW}
    lead: dict[str, Any] = {"access": ada, "campaign": campaign}
    for number in range(min(ROUNDS, 50)):
        seen = {question.public_id: 4 + 2 * number}
        told = list(Announcement.objects.values_list("pk", flat=True))
        results = at_once(
            partial(answer, **lead, **named, text="So."),
            partial(announce, **lead, text="Read it.", at=NOW),
            partial(mark_read, context=context, questions=seen, announcements=told, at=NOW),
            partial(write, context=context, **named, text="Even so?"),
            partial(mark_read, context=context, questions=seen, at=NOW),
        )
        assert not [one for one in results if isinstance(one, Exception)]
        now = context_of(campaign, PEOPLE[0])
        assert now.news == get_news(now).count
        assert 1 <= now.news <= 2
