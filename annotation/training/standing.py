"""Whether someone is asked for pairs that count now, for training pairs, or for nothing, and why.

What an annotator reads of it never says that anything is a check, but for training, which is one.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext, gettext_noop

from annotation.gold.accuracy import error_of
from annotation.gold.queries import get_check_plan, is_used_up
from annotation.models import (
    OVERLAP_PURPOSES,
    Assignment,
    Campaign,
    CheckPlan,
    GoldItem,
    Label,
    QuerySkip,
    StandIn,
    TrainingAnswer,
    TrainingAttempt,
)
from annotation.permissions import AnnotatorContext
from annotation.training.rules import Attempt, Course, Stage, needed, stage_of
from judgments.models import User
from touchstone.scales import Scale

WAITING_WORDS: Final = gettext_noop(
    "You have finished the training. The lead of this campaign will review your answers and "
    "contact you."
)
LACKING_WORDS: Final = gettext_noop(
    "No training pairs are left right now. The lead of this campaign can see that."
)
STOPPED_WORDS: Final = gettext_noop(
    "There is nothing left for you to label here right now. Your labels are kept. The lead of this "
    "campaign has been notified."
)


@dataclass(frozen=True)
class TrainingShown:
    """The progress of an attempt. needed: how many have to be right."""

    number: int
    done: int
    pairs: int
    needed: int


@dataclass(frozen=True)
class Standing:
    """pause: why nothing is asked of them now; empty where something is. takes_more: they get
    further pairs that count. training: while they learn."""

    stage: Stage
    training: TrainingShown | None
    pause: str
    takes_more: bool


@dataclass(frozen=True)
class Told:
    """The right answer of a training pair that the annotator has just labelled.

    is_right: of what they said. counts: it was their first word on this pair. right, done, pairs,
    needed, state: of the attempt as it stands now.
    """

    low: int
    high: int
    reason: str
    is_right: bool
    counts: bool
    right: int
    done: int
    pairs: int
    needed: int
    state: str


def course_of(plan: CheckPlan) -> Course:
    """What a campaign asks of those who are new."""
    return Course(plan.training_pairs, plan.training_percent, plan.training_tries)


def get_stage(campaign: Campaign, person: User) -> Stage:
    """Where someone stands in the training of a campaign."""
    course = course_of(get_check_plan(campaign))
    if not course.pairs:
        return Stage.NONE
    attempts = [Attempt(one.state, one.series) for one in list_attempts_qs(campaign, person)]
    return stage_of(course, attempts, is_new=not attempts and _is_new(campaign, person))


def get_standing(context: AnnotatorContext) -> Standing:
    """Whether and what the viewer is asked for now; asks nothing where nothing is planned."""
    plan = get_check_plan(context.campaign)
    stage = get_stage(context.campaign, context.viewer)
    if context.paused or stage == Stage.WAITING:
        return Standing(stage, None, gettext(context.paused or WAITING_WORDS), takes_more=False)
    if context.campaign.stopped:  # what they hold already may be labelled
        pause = "" if held_qs(context).exists() else gettext(context.campaign.stopped)
        return Standing(stage, None, pause, takes_more=False)
    if stage == Stage.LEARNING:
        training = get_training(context.campaign, context.viewer)
        pause = gettext(LACKING_WORDS) if is_lacking(context.campaign, context.viewer) else ""
        return Standing(stage, training, pause, takes_more=False)
    stops = plan.gold_percent > 0 and plan.when_used_up == CheckPlan.UsedUp.STOP
    if not stops or not is_used_up(context.campaign, context.viewer):
        return Standing(stage, None, "", takes_more=True)
    # said only once no pair is held: not while the last of the gold may be
    pause = "" if held_qs(context).exists() else gettext(STOPPED_WORDS)
    return Standing(stage, None, pause, takes_more=False)


def get_training(campaign: Campaign, person: User) -> TrainingShown:
    """The attempt that someone is in, or that would begin now."""
    course = course_of(get_check_plan(campaign))
    last = list_attempts_qs(campaign, person).last()
    if last is None or last.state != TrainingAttempt.State.OPEN:
        number = last.number + 1 if last else 1
        return TrainingShown(number, 0, course.pairs, needed(course.pairs, course.percent))
    done = last.answers.count()
    return TrainingShown(last.number, done, last.pairs, needed(last.pairs, last.percent))


def find_training(campaign: Campaign, person: User) -> TrainingShown | None:
    """The progress of an annotator who has to qualify first; None for all others."""
    is_asked = get_stage(campaign, person) in {Stage.LEARNING, Stage.WAITING}
    return get_training(campaign, person) if is_asked else None


def get_told(label: Label) -> Told:
    """What someone is told of their label of a training pair.

    label: in a seat for training, stored, with its answer.
    """
    answer = TrainingAnswer.objects.select_related("attempt", "item").get(
        assignment=label.assignment_id
    )
    attempt = answer.attempt
    errors = list(attempt.answers.values_list("error", flat=True))
    codes = Scale.from_json(label.pair.list.scale).codes
    low, high = answer.item.low, answer.item.high
    return Told(
        low=low,
        high=high,
        reason=answer.item.reason,
        is_right=label.grade is not None
        and error_of(label.grade, low=low, high=high, codes=codes) == 0,
        counts=answer.label_id == label.pk,
        right=errors.count(0),
        done=len(errors),
        pairs=attempt.pairs,
        needed=needed(attempt.pairs, attempt.percent),
        state=attempt.state,
    )


def list_attempts_qs(campaign: Campaign, person: User) -> QuerySet[TrainingAttempt]:
    """Someone's attempts, oldest first."""
    return TrainingAttempt.objects.filter(campaign=campaign, annotator=person).order_by("number")


def held_qs(context: AnnotatorContext) -> QuerySet[Assignment]:
    """The seats that the viewer holds."""
    return Assignment.objects.filter(
        annotator=context.viewer, state=Assignment.State.LEASED, pair__campaign=context.campaign
    )


def list_leases(context: AnnotatorContext) -> list[datetime]:
    """Until when the viewer holds each of their seats."""
    untils = held_qs(context).order_by().values_list("leased_until", flat=True)
    return [until for until in untils if until is not None]


def trainable_qs(campaign: Campaign, person: User) -> QuerySet[GoldItem]:
    """The gold that someone can learn by: of no query that they skip, never met, and not drawn
    to be met later."""
    met_qs = Assignment.objects.filter(annotator=person, pair=OuterRef("pair"))
    skips_qs = QuerySkip.objects.filter(campaign=campaign, annotator=person, returned_at=None)
    items_qs = GoldItem.objects.filter(campaign=campaign, retired_at=None)
    unmet_qs = items_qs.exclude(Exists(met_qs.exclude(state=Assignment.State.VOIDED)))
    drawn = StandIn.objects.filter(annotator=person, shown=OuterRef("pair"))
    unmet_qs = unmet_qs.exclude(Exists(drawn))
    return unmet_qs.exclude(pair__query__in=skips_qs.values("query"))


def is_lacking(campaign: Campaign, person: User) -> bool:
    """Whether someone who learns holds no pair, and too little gold is left to go on."""
    held = Assignment.objects.filter(
        annotator=person, state=Assignment.State.LEASED, pair__campaign=campaign
    )
    if held.exists():
        return False
    training = get_training(campaign, person)
    return trainable_qs(campaign, person).count() < training.pairs - training.done


def _is_new(campaign: Campaign, person: User) -> bool:
    labels_qs = Label.objects.filter(
        annotator=person, pair__campaign=campaign, assignment__purpose__in=OVERLAP_PURPOSES
    )
    return not labels_qs.exists()
