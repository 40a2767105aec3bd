"""The stage before the pairs that count: leasing its pairs, comparing the answers at once, and
what a lead decides about it. Where someone stands is in annotation/training/rules.py."""

from datetime import datetime
from typing import Any, Final

from django.db import transaction

from annotation.campaigns.records import record_person
from annotation.gold.accuracy import error_of
from annotation.gold.planting import seeded
from annotation.gold.planting_services import give_own_seats
from annotation.gold.queries import get_check_plan
from annotation.gold.services import GoldRefused
from annotation.models import (
    Assignment,
    Campaign,
    CampaignAnnotator,
    GoldItem,
    Label,
    TrainingAnswer,
    TrainingAttempt,
)
from annotation.permissions import AnnotatorContext, check_may_run
from annotation.seats.services import end_leases
from annotation.training.rules import Stage, draw_evenly, needed
from annotation.training.standing import (
    course_of,
    get_stage,
    held_qs,
    list_attempts_qs,
    trainable_qs,
)
from judgments.models import User
from judgments.permissions import Access, NotFound
from touchstone.scales import Scale

OPEN: Final = TrainingAttempt.State.OPEN
PASSED: Final = TrainingAttempt.State.PASSED
FAILED: Final = TrainingAttempt.State.FAILED


def lease_training(*, context: AnnotatorContext, at: datetime) -> int:
    """Give the viewer the pairs that their attempt still needs; how many seats they hold then.

    An attempt begins where none is open, if there are enough pairs for it that they never met.
    What they hold besides goes back. The caller holds the viewer's place in the campaign.
    """
    purpose = Assignment.Purpose.TRAINING
    attempts_qs = list_attempts_qs(context.campaign, context.viewer)
    attempt = attempts_qs.filter(state=OPEN).first()
    if attempt is None:
        if get_stage(context.campaign, context.viewer) != Stage.LEARNING:
            return held_qs(context).count()
        course = course_of(get_check_plan(context.campaign))
        if trainable_qs(context.campaign, context.viewer).count() < course.pairs:
            return 0
        attempt = _begin(context.campaign, context.viewer, at)
    end_leases(held_qs(context).exclude(purpose=purpose))
    held = held_qs(context).filter(purpose=purpose, answer=None).count()
    missing = attempt.pairs - attempt.answers.count() - held
    if missing <= 0:
        return held
    answers = dict(trainable_qs(context.campaign, context.viewer).values_list("pair", "low"))
    rng = seeded(context.campaign.seed, context.viewer.pk, purpose, attempt.number)
    drawn = draw_evenly(answers, wanted=missing, dice=rng)
    return held + give_own_seats(context, drawn, purpose, at)


def record_answer(*, label: Label, at: datetime) -> None:
    """Compare a label of a training pair with the right answer; ends the attempt after its last.

    Only the first label of a seat is an answer. The caller's transaction stores the label.
    """
    assert label.assignment_id is not None  # no one else ever sits there
    if TrainingAnswer.objects.filter(assignment=label.assignment_id).exists():
        return
    pair = label.pair
    attempts_qs = list_attempts_qs(pair.campaign, label.annotator).select_for_update(no_key=True)
    attempt = attempts_qs.last()
    assert attempt is not None  # seats for training are given in attempts alone
    item = GoldItem.objects.filter(pair=pair).order_by("-pk")[0]
    codes = Scale.from_json(pair.list.scale).codes
    error = None
    if label.grade is not None:
        error = error_of(label.grade, low=item.low, high=item.high, codes=codes)
    TrainingAnswer.objects.create(
        assignment_id=label.assignment_id,
        label=label,
        attempt=attempt,
        item=item,
        error=error,
        answered_at=at,
    )
    if attempt.state == OPEN and attempt.answers.count() >= attempt.pairs:
        enough = _count_right(attempt) >= needed(attempt.pairs, attempt.percent)
        _end(attempt, PASSED if enough else FAILED, by=None, at=at)


def pass_by_hand(*, access: Access, campaign: Campaign, person: User, at: datetime) -> None:
    """Let someone go on to the pairs that count, whatever they answered; for leads.

    Raises GoldRefused where they have passed already or nothing is asked of them first.
    """
    check_may_run(access, campaign)
    with transaction.atomic():
        _lock_place(campaign, person)
        if get_stage(campaign, person) not in {Stage.LEARNING, Stage.WAITING}:
            raise GoldRefused("passed", "This annotator is not in training.")
        attempt = list_attempts_qs(campaign, person).select_for_update(no_key=True).last()
        attempt = attempt or _begin(campaign, person, at)
        _end(attempt, PASSED, by=access.user, at=at)
        _end_own_leases(campaign, person)


def ask_again(*, access: Access, campaign: Campaign, person: User, at: datetime) -> None:
    """Let someone begin the training again, with all tries; for leads.

    What they labelled so far stays. Raises GoldRefused where the campaign has no training.
    """
    check_may_run(access, campaign)
    if not get_check_plan(campaign).training_pairs:
        raise GoldRefused(
            "no_training", "This campaign has no training. Set the number of training pairs first."
        )
    with transaction.atomic():
        _lock_place(campaign, person)
        last = list_attempts_qs(campaign, person).select_for_update(no_key=True).last()
        if last is not None and last.state == OPEN:
            _end(last, FAILED, by=access.user, at=at)
        attempt = _begin(campaign, person, at, series=last.series + 1 if last else 1)
        _end_own_leases(campaign, person)
        _record(attempt, access.user, at, "training.asked_again")


def _begin(
    campaign: Campaign, person: User, at: datetime, series: int | None = None
) -> TrainingAttempt:
    """The next attempt, in the series of the last one if it is not said."""
    course = course_of(get_check_plan(campaign))
    last = list_attempts_qs(campaign, person).last()
    return TrainingAttempt.objects.create(
        campaign=campaign,
        annotator=person,
        number=last.number + 1 if last else 1,
        series=series or (last.series if last else 1),
        pairs=course.pairs,
        percent=course.percent,
        began_at=at,
    )


def _end(attempt: TrainingAttempt, state: str, *, by: User | None, at: datetime) -> None:
    attempt.state, attempt.right = state, _count_right(attempt)
    attempt.ended_at, attempt.decided_by = at, by
    attempt.save(update_fields=["state", "right", "ended_at", "decided_by"])
    _record(attempt, by, at, f"training.{state}")


def _count_right(attempt: TrainingAttempt) -> int:
    return attempt.answers.filter(error=0).count()


def _end_own_leases(campaign: Campaign, person: User) -> None:
    own_qs = Assignment.objects.filter(pair__campaign=campaign, annotator=person)
    end_leases(own_qs)


def _lock_place(campaign: Campaign, person: User) -> None:
    places_qs = CampaignAnnotator.objects.select_for_update(no_key=True)
    if not places_qs.filter(campaign=campaign, user=person, is_active=True):
        raise NotFound("annotator")


def _record(attempt: TrainingAttempt, actor: User | None, at: datetime, word: str) -> None:
    said: dict[str, Any] = {"attempt": attempt.number, "pairs": attempt.pairs}
    if attempt.right is not None:
        said |= {"right": attempt.right, "needed": needed(attempt.pairs, attempt.percent)}
    record_person(attempt.campaign, attempt.annotator, actor, at, word, after=said)
