"""The training of a campaign for leads: who stands where, with what."""

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from annotation.campaigns.queries import get_annotator
from annotation.gold.queries import get_check_plan
from annotation.models import Campaign, CheckPlan, TrainingAttempt
from annotation.permissions import check_may_watch
from annotation.training.rules import Course, Stage, needed
from annotation.training.standing import course_of, get_stage, is_lacking
from judgments.models import User
from judgments.permissions import Access, NotFound


class AttemptRow(NamedTuple):
    """An attempt: so many right of so many answered."""

    attempt: TrainingAttempt
    right: int
    done: int


@dataclass(frozen=True)
class Learner:
    """Someone who annotates, and their attempts, the last first. lacks: too little gold is left
    for them to go on learning."""

    person: User
    stage: Stage
    lacks: bool
    attempts: tuple[AttemptRow, ...]

    @property
    def may_pass(self) -> bool:
        return self.stage in {Stage.LEARNING, Stage.WAITING}


@dataclass(frozen=True)
class TrainingPage:
    """gold: how many pairs with a known answer there are to learn by."""

    campaign: Campaign
    plan: CheckPlan
    course: Course
    needed: int
    gold: int
    people: tuple[Learner, ...]

    @property
    def is_little(self) -> bool:
        """Whether someone who needs every try runs out of pairs."""
        return self.gold < self.course.pairs * self.course.tries


def get_training_page(*, access: Access, campaign: Campaign) -> TrainingPage:
    """Who has qualified, with what, and what is asked; for leads and admins."""
    check_may_watch(access, campaign)
    plan = get_check_plan(campaign)
    course = course_of(plan)
    attempts = _list_attempts(campaign)
    annotators_qs = campaign.annotators.filter(is_active=True).select_related("user")
    return TrainingPage(
        campaign=campaign,
        plan=plan,
        course=course,
        needed=needed(course.pairs, course.percent),
        gold=campaign.gold.filter(retired_at=None).count(),
        people=tuple(
            _learner(campaign, annotator.user, attempts[annotator.user_id])
            for annotator in annotators_qs.order_by("user__username")
        ),
    )


def get_learner(*, access: Access, campaign: Campaign, username: str) -> User:
    """Someone who annotates in the campaign now; for leads and admins."""
    person = get_annotator(access=access, campaign=campaign, username=username)
    if not campaign.annotators.filter(user=person, is_active=True).exists():
        raise NotFound("annotator")
    return person


def count_waiting_to_qualify(campaign: Campaign) -> int:
    """How many people have used all their tries, or have too few pairs to learn by."""
    if not get_check_plan(campaign).training_pairs:
        return 0
    annotators_qs = campaign.annotators.filter(is_active=True, paused="").select_related("user")
    return sum(_is_stuck(campaign, annotator.user) for annotator in annotators_qs)


def _is_stuck(campaign: Campaign, person: User) -> bool:
    stage = get_stage(campaign, person)
    return stage == Stage.WAITING or (stage == Stage.LEARNING and is_lacking(campaign, person))


def _list_attempts(campaign: Campaign) -> dict[int, list[AttemptRow]]:
    result: dict[int, list[AttemptRow]] = defaultdict(list)
    attempts_qs = TrainingAttempt.objects.filter(campaign=campaign)
    attempts_qs = attempts_qs.select_related("decided_by").prefetch_related("answers")
    for attempt in attempts_qs.order_by("-number"):
        errors = [answer.error for answer in attempt.answers.all()]
        row = AttemptRow(attempt, errors.count(0), len(errors))
        result[attempt.annotator_id].append(row)
    return result


def _learner(campaign: Campaign, person: User, attempts: list[AttemptRow]) -> Learner:
    stage = get_stage(campaign, person)
    lacks = stage == Stage.LEARNING and is_lacking(campaign, person)
    return Learner(person, stage, lacks, tuple(attempts))
