"""Labels: stored once, for good, in a seat of one's own or as a fact beside it."""

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.campaigns.services import close_campaign
from annotation.guidelines.services import revise_guideline
from annotation.labelling.leasing import release_expired, release_leases
from annotation.labelling.services import Receipt, submit_label, submit_labels
from annotation.labelling.submissions import LabelRefused
from annotation.models import Assignment, Campaign, Label, LabelTiming, Pair
from annotation.permissions import CampaignClosed
from judgments.models import SideText
from judgments.permissions import NotFound
from tests.builders import NOW, World, make_access, make_member, make_world
from tests.builders_annotation import (
    LEASE,
    context_of,
    grades_text,
    held,
    label,
    lease,
    make_campaign,
    said,
    seat_for,
)

pytestmark = pytest.mark.django_db
LATER = NOW + LEASE + timedelta(seconds=1)


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    world = make_world(queries=2, documents=5)
    make_member(collection=world.collection, username="fay", role="annotator")
    return world, make_campaign(world=world, people=["ben", "cem", "fay"])


@pytest.fixture
def pair(campaign: Campaign) -> Pair:
    return campaign.pairs.select_related("campaign")[0]


def seats_of(pair: Pair) -> list[tuple[int, str, str]]:
    """The seats that are not voided: number, purpose, state."""
    seats = pair.assignments.exclude(state=Assignment.State.VOIDED).order_by("seat")
    return list(seats.values_list("seat", "purpose", "state"))


def test_a_label_fills_its_seat_and_makes_the_pair_due(pair: Pair) -> None:
    seat = seat_for(pair=pair, username="ben")
    submission = said(seat=seat, grade=3, note="  clear ", reason="title", at=NOW)
    context = context_of(pair.campaign, "ben")
    assert submit_label(context=context, submission=submission, at=NOW) == Receipt(submission.id)
    made = Label.objects.get()
    assert (made.pk, made.pair, made.assignment, made.annotator.username) == (
        submission.id, pair, seat, "ben",
    )  # fmt: skip
    assert (made.outcome, made.grade, made.note, made.reason) == ("graded", 3, "clear", "title")
    assert (made.seconds, made.made_at, made.received_at, made.pair_seq) == (4.5, NOW, NOW, 1)
    assert made.content_hash == pair.document.content_hash
    assert made.guideline_revision.number == 1
    assert made.is_blind
    pair.refresh_from_db()
    seat.refresh_from_db()
    assert (pair.label_seq, pair.consolidated_seq) == (1, 0)
    assert (seat.state, seat.leased_until) == ("done", None)


def test_the_same_label_again_changes_nothing(pair: Pair) -> None:
    submission = said(seat=seat_for(pair=pair, username="ben"), grade=3)
    context = context_of(pair.campaign, "ben")
    submit_label(context=context, submission=submission, at=NOW)
    again = submit_label(context=context, submission=submission, at=NOW + timedelta(hours=1))
    assert again.is_repeat
    assert again.id == submission.id
    pair.refresh_from_db()
    assert (Label.objects.count(), pair.label_seq) == (1, 1)


def test_a_label_of_a_clock_that_runs_ahead_is_dated_to_its_arrival_and_may_be_repeated(
    pair: Pair,
) -> None:
    submission = said(
        seat=seat_for(pair=pair, username="ben"), grade=3, made_at=NOW + timedelta(days=900)
    )
    context = context_of(pair.campaign, "ben")
    submit_label(context=context, submission=submission, at=NOW)
    assert Label.objects.get().made_at == NOW
    assert submit_label(context=context, submission=submission, at=LATER).is_repeat
    # sent twice at once: the request that came first may be stored second
    earlier = NOW - timedelta(seconds=1)
    assert submit_label(context=context, submission=submission, at=earlier).is_repeat


@pytest.mark.parametrize(
    "change",
    [
        {"grade": 2},
        {"outcome": "unsure", "grade": None},
        {"note": "another"},
        {"reason": "other"},
        {"seconds": 5.0},
        {"made_at": NOW - timedelta(seconds=1)},
        {"content_hash": "0" * 64},
        {"spans": [{"field": "body", "start": 1, "end": 2}]},
    ],
)
def test_an_id_stands_for_one_content(pair: Pair, change: dict[str, Any]) -> None:
    submission = said(seat=seat_for(pair=pair, username="ben"), grade=3)
    context = context_of(pair.campaign, "ben")
    submit_label(context=context, submission=submission, at=NOW)
    with pytest.raises(LabelRefused) as refused:
        submit_label(context=context, submission=replace(submission, **change), at=NOW)
    assert refused.value.code == "label_conflict"
    assert Label.objects.get().grade == 3


def test_a_label_may_be_repeated_when_what_lay_beside_it_is_erased(pair: Pair) -> None:
    seat = seat_for(pair=pair, username="ben")
    earlier = NOW - timedelta(minutes=1)
    submission = said(seat=seat, grade=3, note="x", reason="y", made_at=earlier)
    context = context_of(pair.campaign, "ben")
    submit_label(context=context, submission=submission, at=NOW)
    SideText.objects.all().delete()
    LabelTiming.objects.all().delete()
    assert submit_label(context=context, submission=submission, at=LATER).is_repeat
    kept = Label.objects.get()
    assert (kept.note, kept.reason, kept.seconds, kept.made_at) == ("", "", None, NOW)
    for other in ({"grade": 2}, {"note": ""}):
        with pytest.raises(LabelRefused):
            submit_label(context=context, submission=replace(submission, **other), at=LATER)


def test_an_id_that_somebody_else_used_is_refused_without_a_word_about_them(
    campaign: Campaign, pair: Pair
) -> None:
    first = said(seat=seat_for(pair=pair, username="ben"), grade=3)
    submit_label(context=context_of(campaign, "ben"), submission=first, at=NOW)
    second = said(seat=seat_for(pair=pair, username="cem"), grade=3, id=first.id)
    with pytest.raises(LabelRefused) as refused:
        submit_label(context=context_of(campaign, "cem"), submission=second, at=NOW)
    assert refused.value.code == "label_conflict"
    assert "Ben" not in refused.value.message
    assert Label.objects.get().annotator.username == "ben"


def test_an_id_of_another_pair_is_refused(campaign: Campaign) -> None:
    one, other = campaign.pairs.all()[:2]
    first = said(seat=seat_for(pair=one, username="ben"), grade=3)
    submit_label(context=context_of(campaign, "ben"), submission=first, at=NOW)
    second = said(seat=seat_for(pair=other, username="ben"), grade=3, id=first.id)
    with pytest.raises(LabelRefused, match="already used by another label"):
        submit_label(context=context_of(campaign, "ben"), submission=second, at=NOW)


def test_only_an_own_seat_can_be_labelled(world: World, campaign: Campaign, pair: Pair) -> None:
    seat = seat_for(pair=pair, username="ben")
    for username in ("cem", "fay"):
        with pytest.raises(NotFound):
            submit_label(
                context=context_of(campaign, username), submission=said(seat=seat, grade=1), at=NOW
            )
    free = pair.assignments.get(state="free")
    with pytest.raises(NotFound):
        submit_label(
            context=context_of(campaign, "cem"), submission=said(seat=free, grade=1), at=NOW
        )
    assert Label.objects.count() == 0


def test_a_seat_of_another_campaign_is_not_found(world: World, pair: Pair) -> None:
    other = make_campaign(world=make_world(slug="films"))
    own = other.pairs.select_related("campaign")[0]
    seat = seat_for(pair=own, username="ben")
    with pytest.raises(NotFound):
        submit_label(
            context=context_of(pair.campaign, "ben"), submission=said(seat=seat, grade=1), at=NOW
        )


def test_a_second_label_supersedes_the_first_and_keeps_the_seat(pair: Pair) -> None:
    first = label(pair=pair, username="ben", grade=3)
    second = label(pair=pair, username="ben", grade=2)
    assert (second.supersedes, second.assignment) == (first, first.assignment)
    assert second.pair_seq == 2
    assert seats_of(pair) == [(1, "pool", "done"), (2, "pool", "free")]


def test_a_correction_may_name_what_it_corrects_even_if_that_is_not_the_newest(
    pair: Pair,
) -> None:
    first = label(pair=pair, username="ben", grade=3)
    second = label(pair=pair, username="ben", grade=2, supersedes=first.pk)
    third = label(pair=pair, username="ben", grade=1, supersedes=first.pk)
    assert third.supersedes == second


def test_a_correction_of_somebody_elses_label_is_refused(pair: Pair) -> None:
    first = label(pair=pair, username="ben", grade=3)
    with pytest.raises(LabelRefused) as refused:
        label(pair=pair, username="cem", grade=1, supersedes=first.pk)
    assert refused.value.code == "label_unknown"


def test_taking_a_label_back_leaves_the_seat_to_its_person(pair: Pair) -> None:
    first = label(pair=pair, username="ben", grade=3)
    back = label(pair=pair, username="ben", outcome="retracted")
    assert (back.supersedes, back.grade) == (first, None)
    assert seats_of(pair) == [(1, "pool", "leased"), (2, "pool", "free")]
    (seat,) = held(campaign=pair.campaign, username="ben")
    assert seat.leased_until == NOW + LEASE
    third = label(pair=pair, username="ben", grade=2)
    assert (third.supersedes, third.assignment_id) == (back, seat.pk)
    assert seats_of(pair) == [(1, "pool", "done"), (2, "pool", "free")]


def test_what_was_never_said_can_not_be_taken_back(pair: Pair) -> None:
    for _ in range(2):
        with pytest.raises(LabelRefused) as refused:
            label(pair=pair, username="ben", outcome="retracted")
        assert refused.value.code == "nothing_to_retract"
        label(pair=pair, username="ben", grade=3)
        label(pair=pair, username="ben", outcome="retracted")
    assert Label.objects.count() == 4


def test_a_seat_whose_label_was_taken_back_can_be_left_to_others(pair: Pair) -> None:
    label(pair=pair, username="ben", grade=3)
    label(pair=pair, username="ben", outcome="retracted")
    assert release_expired(at=LATER) == 1
    assert seats_of(pair) == [(1, "pool", "free"), (2, "pool", "free")]
    label(pair=pair, username="cem", grade=1)
    label(pair=pair, username="fay", grade=1)
    assert seats_of(pair) == [(1, "pool", "done"), (2, "pool", "done")]


@pytest.mark.parametrize("outcome", ["unsure", "unjudgeable"])
def test_a_label_without_a_grade_opens_one_more_seat(pair: Pair, outcome: str) -> None:
    label(pair=pair, username="ben", outcome=outcome)
    expected = [(1, "pool", "done"), (2, "pool", "free"), (3, "extra", "free")]
    assert seats_of(pair) == expected
    label(pair=pair, username="ben", outcome="unsure")
    assert seats_of(pair) == expected


def test_an_extra_seat_goes_when_its_reason_goes(pair: Pair) -> None:
    label(pair=pair, username="ben", outcome="unsure")
    label(pair=pair, username="ben", grade=2)
    assert seats_of(pair) == [(1, "pool", "done"), (2, "pool", "free")]
    label(pair=pair, username="ben", outcome="unsure")
    label(pair=pair, username="ben", outcome="retracted")
    assert seats_of(pair) == [(1, "pool", "leased"), (2, "pool", "free")]


def test_an_extra_seat_that_somebody_sits_in_stays(pair: Pair) -> None:
    label(pair=pair, username="ben", outcome="unsure")
    for username in ("cem", "fay"):
        seat_for(pair=pair, username=username)
    label(pair=pair, username="ben", grade=2)
    assert seats_of(pair) == [(1, "pool", "done"), (2, "pool", "leased"), (3, "extra", "leased")]
    release_leases(context=context_of(pair.campaign, "fay"))
    assert seats_of(pair) == [(1, "pool", "done"), (2, "pool", "leased")]


def test_a_label_whose_lease_was_lost_takes_a_free_seat(pair: Pair) -> None:
    seat = seat_for(pair=pair, username="ben")
    release_expired(at=LATER)
    submission = said(seat=seat, grade=3)
    submit_label(context=context_of(pair.campaign, "ben"), submission=submission, at=LATER)
    late = Label.objects.get()
    assert late.assignment is not None
    assert late.assignment != seat
    assert seats_of(pair) == [(1, "pool", "done"), (2, "pool", "free")]


def test_a_label_whose_lease_was_lost_fills_the_seat_leased_anew(pair: Pair) -> None:
    seat = seat_for(pair=pair, username="ben")
    release_expired(at=LATER)
    again = seat_for(pair=pair, username="ben", at=LATER)
    submit_label(
        context=context_of(pair.campaign, "ben"), submission=said(seat=seat, grade=3), at=LATER
    )
    assert Label.objects.get().assignment == again
    assert held(campaign=pair.campaign, username="ben") == []


def test_a_label_for_a_pair_that_others_filled_is_a_surplus(pair: Pair) -> None:
    seat = seat_for(pair=pair, username="ben")
    release_expired(at=LATER)
    label(pair=pair, username="cem", grade=1)
    label(pair=pair, username="fay", grade=1)
    context = context_of(pair.campaign, "ben")
    submission = said(seat=seat, grade=3)
    assert submit_label(context=context, submission=submission, at=LATER).is_surplus
    late = Label.objects.get(pk=submission.id)
    assert (late.assignment, late.grade, late.pair_seq) == (None, 3, 3)
    again = submit_label(context=context, submission=submission, at=LATER)
    assert (again.is_repeat, again.is_surplus) == (True, True)
    corrected = said(seat=seat, grade=2, supersedes=late.pk)
    submit_label(context=context, submission=corrected, at=LATER)
    assert Label.objects.get(pk=corrected.id).supersedes == late
    back = said(seat=seat, outcome="retracted")
    assert not submit_label(context=context, submission=back, at=LATER).is_surplus
    assert Label.objects.get(pk=back.id).assignment is None
    assert seats_of(pair) == [(1, "pool", "done"), (2, "pool", "done")]


def test_a_label_without_a_lost_lease_is_taken_even_after_the_lease_ran_out(pair: Pair) -> None:
    seat = seat_for(pair=pair, username="ben")
    submit_label(
        context=context_of(pair.campaign, "ben"), submission=said(seat=seat, grade=3), at=LATER
    )
    assert Label.objects.get().assignment == seat


def test_what_was_said_before_the_closing_and_comes_later_is_kept(
    world: World, campaign: Campaign, pair: Pair
) -> None:
    seat = seat_for(pair=pair, username="ben")
    closed_at = NOW + timedelta(minutes=5)
    close_campaign(access=make_access(collection=world.collection), campaign=campaign, at=closed_at)
    before = said(seat=seat, grade=3, made_at=closed_at)
    submit_label(context=context_of(campaign, "ben"), submission=before, at=LATER)
    pair.refresh_from_db()
    assert Label.objects.get().grade == 3
    assert pair.label_seq > pair.consolidated_seq
    after = said(seat=seat, grade=2, made_at=closed_at + timedelta(seconds=1))
    with pytest.raises(CampaignClosed):
        submit_label(context=context_of(campaign, "ben"), submission=after, at=LATER)


def test_a_page_that_does_not_know_of_the_closing_yet_is_refused(
    world: World, campaign: Campaign, pair: Pair
) -> None:
    seat = seat_for(pair=pair, username="ben")
    context = context_of(campaign, "ben")
    close_campaign(access=make_access(collection=world.collection), campaign=campaign, at=NOW)
    with pytest.raises(CampaignClosed):
        submit_label(context=context, submission=said(seat=seat, grade=3, at=LATER), at=LATER)


def test_a_lead_may_label_and_is_marked_as_not_blind() -> None:
    world = make_world(slug="films", queries=2, documents=5)
    campaign = make_campaign(world=world, people=["ada", "ben"])
    pair = campaign.pairs.select_related("campaign")[0]
    assert not label(pair=pair, username="ada", grade=1).is_blind
    assert label(pair=pair, username="ben", grade=1).is_blind


def test_who_became_a_lead_is_not_blind_from_then_on(world: World, campaign: Campaign) -> None:
    world.collection.memberships.filter(user=world.ben).update(role="lead")
    pair = campaign.pairs.select_related("campaign")[0]
    assert not label(pair=pair, username="ben", grade=1).is_blind


def test_a_label_names_the_revision_and_the_text_that_were_shown(
    world: World, campaign: Campaign, pair: Pair
) -> None:
    grades = grades_text(judgment_list=world.judgments)
    grades[0]["definition"] = "Nothing of it helps."
    revise_guideline(
        access=make_access(collection=world.collection),
        at=NOW,
        guideline=campaign.guideline,
        judgment_list=world.judgments,
        text="Read.",
        grades=grades,
    )
    shown = "ab" * 32
    first = label(pair=pair, username="ben", grade=1, content_hash=shown)
    second = label(pair=pair, username="cem", grade=1, guideline_revision=2)
    assert (first.guideline_revision.number, first.content_hash) == (1, shown)
    assert (second.guideline_revision.number, second.content_hash) == (
        2,
        pair.document.content_hash,
    )


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"grade": 5}, "grade_unknown"),
        ({"grade": None}, "grade_unknown"),
        ({"outcome": "unsure"}, "grade_unexpected"),
        ({"outcome": "perhaps"}, "outcome_unknown"),
        ({"guideline_revision": 2}, "revision_unknown"),
        ({"content_hash": "xyz"}, "hash_invalid"),
        ({"seconds": -1.0}, "seconds_invalid"),
        ({"seconds": float("nan")}, "seconds_invalid"),
        ({"seconds": float("inf")}, "seconds_invalid"),
        ({"note": "x" * 4_001}, "text_too_long"),
        ({"note": "a\0b"}, "text_invalid"),
        ({"reason": "\ud800"}, "text_invalid"),
        ({"made_at": datetime(2026, 3, 14, tzinfo=UTC).replace(tzinfo=None)}, "time_invalid"),
        ({"spans": [{"field": "body", "start": 5, "end": 5}]}, "spans_invalid"),
        ({"spans": [{"field": "body", "start": True, "end": 5}]}, "spans_invalid"),
        ({"spans": [{"field": "body", "start": 1}]}, "spans_invalid"),
        ({"spans": [{"field": "body", "start": 1, "end": 2, "ranker": "x"}]}, "spans_invalid"),
        ({"spans": [{"field": "body", "start": 1, "end": 2}] * 201}, "spans_invalid"),
    ],
)
def test_what_makes_no_sense_is_refused_and_leaves_the_seat(
    pair: Pair, change: dict[str, Any], code: str
) -> None:
    seat = seat_for(pair=pair, username="ben")
    submission = replace(said(seat=seat, grade=3), **change)
    with pytest.raises(LabelRefused) as refused:
        submit_label(context=context_of(pair.campaign, "ben"), submission=submission, at=NOW)
    assert refused.value.code == code
    assert Label.objects.count() == 0
    assert len(held(campaign=pair.campaign, username="ben")) == 1


def test_a_forgotten_page_counts_as_at_most_a_day(pair: Pair) -> None:
    assert label(pair=pair, username="ben", grade=1, seconds=1e9).seconds == 86_400


def test_one_refused_label_does_not_hold_up_the_batch(campaign: Campaign) -> None:
    seats = lease(campaign=campaign, username="ben")
    good = said(seat=seats[0], grade=3)
    batch = [
        good,
        said(seat=seats[1], grade=9),
        good,
        replace(said(seat=seats[2], grade=1), assignment=uuid.uuid4()),
        said(seat=seats[2], grade=0),
    ]
    receipts = submit_labels(context=context_of(campaign, "ben"), submissions=batch, at=NOW)
    assert [receipt.code for receipt in receipts] == ["", "grade_unknown", "", "not_found", ""]
    assert [receipt.is_stored for receipt in receipts] == [True, False, True, False, True]
    assert [receipt.id for receipt in receipts] == [submission.id for submission in batch]
    assert receipts[2].is_repeat
    assert Label.objects.count() == 2


def test_storing_a_label_costs_a_handful_of_queries(campaign: Campaign, pair: Pair) -> None:
    submission = said(seat=seat_for(pair=pair, username="ben"), grade=3)
    context = context_of(campaign, "ben")
    with CaptureQueriesContext(connection) as queries:
        submit_label(context=context, submission=submission, at=NOW)
    # the seat that is named, the pair's lock, what was said, the seat, the pair, the label, when it
    # was made; and the savepoint that the transaction is within a test
    assert len(queries) == 9
