"""Training before the pairs that count: what is given, answered, decided, and left alone by it."""

import pytest

from annotation.consolidation.services import consolidate
from annotation.due import list_due_lists
from annotation.gold.checking import check_labels
from annotation.gold.queries import list_checked_people
from annotation.gold.services import GoldRefused, change_checks, mark_gold
from annotation.labelling.leasing import lease_next, release_leases
from annotation.labelling.own_campaigns import count_progress, list_own_campaigns
from annotation.labelling.services import Receipt, submit_label
from annotation.labelling.shown_pairs import list_leased_pairs
from annotation.models import Assignment, Campaign, GoldCheck, Label, TrainingAnswer
from annotation.quality.material import read_material
from annotation.training.queries import count_waiting_to_qualify, get_training_page
from annotation.training.rules import Stage
from annotation.training.services import ask_again, pass_by_hand
from annotation.training.standing import get_standing
from judgments.models import AuditEntry, Judgment
from judgments.permissions import Access
from tests.builders import NOW, World, make_world
from tests.builders_annotation import context_of, held, label, lease, make_campaign, said

pytestmark = pytest.mark.django_db
TRAINING = Assignment.Purpose.TRAINING


@pytest.fixture
def world() -> World:
    return make_world(queries=4, documents=10)


def make_school(world: World, ada: Access, *, gold: int = 16, **plan: int | str) -> Campaign:
    """A campaign that asks for five pairs, four of them right, twice; 2 to 3 is right."""
    campaign = make_campaign(world=world, overlap=1)
    pairs = campaign.pairs.select_related("campaign__list").order_by("pk")
    for pair in list(pairs)[::2][:gold]:
        mark_gold(access=ada, pair=pair, low=2, high=3, reason="It is.", at=NOW)
    asked = {"training_pairs": 5, "training_percent": 80, "training_tries": 2}
    change_checks(access=ada, campaign=campaign, at=NOW, **(asked | plan))
    return Campaign.objects.get(pk=campaign.pk)


def answer(campaign: Campaign, grades: list[int | None], username: str = "ben") -> list[Receipt]:
    """Label training pairs, one after the other; None: cannot tell."""
    receipts = []
    for grade in grades:
        seat = lease(campaign=campaign, username=username)[0]
        assert seat.purpose == TRAINING
        submission = said(seat=seat, grade=grade)
        context = context_of(campaign, username)
        receipts.append(submit_label(context=context, submission=submission, at=NOW))
    return receipts


def stage(campaign: Campaign, username: str = "ben") -> Stage:
    return get_standing(context_of(campaign, username)).stage


def test_whoever_is_new_gets_training_pairs_alone_and_is_told_after_each(
    world: World, ada: Access
) -> None:
    campaign = make_school(world, ada)
    context = context_of(campaign, "ben")
    assert lease_next(context=context, count=60, at=NOW) == 5
    assert [pair.is_training for pair in list_leased_pairs(context)] == [True] * 5
    first = held(campaign=campaign, username="ben")[0]
    right = said(seat=first, grade=3)
    (told,) = [submit_label(context=context, submission=right, at=NOW).told]
    assert told is not None
    assert (told.low, told.high, told.reason, told.is_right) == (2, 3, "It is.", True)
    assert (told.done, told.pairs, told.right, told.needed) == (1, 5, 1, 4)
    # sent twice it is told again, and counted once
    assert submit_label(context=context, submission=right, at=NOW).told == told
    # who has read the answer may say it, but that is no answer
    again = submit_label(context=context, submission=said(seat=first, grade=2), at=NOW).told
    assert again is not None
    assert (again.is_right, again.counts, again.done) == (True, False, 1)
    wrong, unsure = answer(campaign, [0, None])
    assert wrong.told is not None
    assert not wrong.told.is_right
    assert unsure.told is not None
    assert not unsure.told.is_right
    training = get_standing(context_of(campaign, "ben")).training
    assert training is not None
    assert (training.done, training.pairs) == (3, 5)
    assert count_progress(context).done == 0
    (own,) = list_own_campaigns(viewer=world.ben)
    assert own.training == training


def test_enough_right_answers_let_one_on_and_none_of_them_counts(world: World, ada: Access) -> None:
    campaign = make_school(world, ada, gold_percent=30)
    answer(campaign, [2, 3, 2, 3, 0])
    assert stage(campaign) == Stage.PASSED
    learnt = set(TrainingAnswer.objects.values_list("assignment__pair", flat=True))
    met = set[int]()
    while seats := lease(campaign=campaign, username="ben"):
        assert {seat.purpose for seat in seats} <= {"pool", "gold"}
        met |= {seat.pair_id for seat in seats}
        Assignment.objects.filter(pk__in=[seat.pk for seat in seats]).update(
            state=Assignment.State.DONE, leased_until=None
        )
    assert not met & learnt  # never hidden gold for those who learnt by it
    assert list_due_lists() == []
    assert check_labels(list_id=campaign.list_id, at=NOW) == 0
    consolidate(list_id=campaign.list_id, at=NOW)
    assert not Judgment.objects.exists()
    assert not GoldCheck.objects.exists()
    assert len(read_material(campaign).material.labels.units) == 0
    (ben, _) = list_checked_people(access=ada, campaign=campaign)
    assert ben.accuracy is None
    assert AuditEntry.objects.filter(action="training.passed").count() == 1


def test_who_fails_tries_again_with_other_pairs_and_then_waits_for_the_lead(
    world: World, ada: Access
) -> None:
    campaign = make_school(world, ada)
    answer(campaign, [0] * 5)
    assert stage(campaign) == Stage.LEARNING
    receipts = answer(campaign, [0] * 5)
    assert receipts[-1].told is not None
    assert receipts[-1].told.state == "failed"
    assert TrainingAnswer.objects.values("assignment__pair").distinct().count() == 10
    assert stage(campaign) == Stage.WAITING
    context = context_of(campaign, "ben")
    assert lease_next(context=context, count=60, at=NOW) == 0
    assert "lead" in get_standing(context).pause
    assert count_waiting_to_qualify(campaign) == 1
    ben, cem = get_training_page(access=ada, campaign=campaign).people
    assert [(right, done, one.state) for one, right, done in ben.attempts] == [(0, 5, "failed")] * 2
    assert (cem.stage, cem.attempts) == (Stage.LEARNING, ())
    pass_by_hand(access=ada, campaign=campaign, person=world.ben, at=NOW)
    assert stage(campaign) == Stage.PASSED
    assert {seat.purpose for seat in lease(campaign=campaign, username="ben")} == {"pool"}
    with pytest.raises(GoldRefused):
        pass_by_hand(access=ada, campaign=campaign, person=world.ben, at=NOW)
    passed = AuditEntry.objects.get(action="training.passed")
    assert (passed.actor, passed.after["right"]) == (world.ada, 0)


def test_a_lead_lets_somebody_begin_anew_and_what_they_hold_goes_back(
    world: World, ada: Access
) -> None:
    campaign = make_school(world, ada, training_pairs=0)
    plain = lease(campaign=campaign, username="ben")
    label(pair=plain[0].pair, username="ben", grade=1)
    with pytest.raises(GoldRefused):
        ask_again(access=ada, campaign=campaign, person=world.ben, at=NOW)
    change_checks(access=ada, campaign=campaign, at=NOW, training_pairs=3)
    campaign = Campaign.objects.get(pk=campaign.pk)
    assert stage(campaign) == Stage.NONE  # has labelled before
    ask_again(access=ada, campaign=campaign, person=world.ben, at=NOW)
    assert held(campaign=campaign, username="ben") == []
    answer(campaign, [0])
    # a label that was made before comes late, and is kept
    late = said(seat=plain[1], grade=2)
    receipt = submit_label(context=context_of(campaign, "ben"), submission=late, at=NOW)
    assert receipt.is_stored
    assert receipt.told is None
    assert Label.objects.filter(pk=late.id).exists()
    ask_again(access=ada, campaign=campaign, person=world.ben, at=NOW)
    answer(campaign, [2, 2, 2])
    assert stage(campaign) == Stage.PASSED


def test_pairs_that_go_back_are_made_up_for_and_too_few_are_said(world: World, ada: Access) -> None:
    campaign = make_school(world, ada, gold=7)
    (seat, *_) = lease(campaign=campaign, username="ben")
    release_leases(context=context_of(campaign, "ben"))
    # an answer whose lease was lost still counts
    late = submit_label(
        context=context_of(campaign, "ben"), submission=said(seat=seat, grade=0), at=NOW
    )
    assert late.told is not None
    assert late.told.done == 1
    answer(campaign, [0] * 4)
    context = context_of(campaign, "ben")
    assert stage(campaign) == Stage.LEARNING
    assert lease_next(context=context, count=60, at=NOW) == 0  # two are left, five are asked for
    assert "No training pairs are left" in get_standing(context).pause
    (ben, _) = get_training_page(access=ada, campaign=campaign).people
    assert ben.lacks
    assert count_waiting_to_qualify(campaign) == 1
    change_checks(access=ada, campaign=campaign, at=NOW, training_pairs=0)
    campaign = Campaign.objects.get(pk=campaign.pk)
    assert lease(campaign=campaign, username="ben")[0].purpose == "pool"
