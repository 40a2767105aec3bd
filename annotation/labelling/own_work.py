"""What annotators see of their own work in a campaign.

Every label counts alike here, whatever it was for: so no figure moves with some labels and not
with others, which would tell the checks. Figures that compare labels with anything come once the
campaign is closed, as sums.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date, datetime
from statistics import median
from typing import Final

from django.db.models import Exists, F, OuterRef, Q

from annotation.consolidation.overlap import overlap_labels
from annotation.gold.feedback import Told, count_feedback, show_told
from annotation.gold.queries import list_alike
from annotation.models import (
    OVERLAP_PURPOSES,
    Assignment,
    Campaign,
    Label,
    Pair,
    TrainingAnswer,
)
from annotation.models.labels import MADE_AT
from annotation.permissions import AnnotatorContext
from annotation.training.standing import TrainingShown, find_training
from judgments.lists.queries import GradeShown, show_grade
from touchstone.scales import Scale

MOST_DAYS: Final = 31
TRAINING: Final = Assignment.Purpose.TRAINING


@dataclass(frozen=True)
class Day:
    """The labels of a day (UTC). seconds: the middle of their active times; None: none measured."""

    day: date
    labels: int
    seconds: float | None


@dataclass(frozen=True)
class Share:
    """How often one gave a grade; shown is None where no grade was given."""

    shown: GradeShown | None
    labels: int


@dataclass(frozen=True)
class Alike:
    """So many of so many were the same."""

    same: int
    all: int


@dataclass(frozen=True)
class Answered:
    """A training pair, and in which attempt it was. told: None where no grade was given."""

    attempt: int
    is_right: bool
    told: Told | None


@dataclass(frozen=True)
class OwnWork:
    """agreed: with the agreed grades, where others had their say; again: with oneself. Both are
    None while the campaign is open."""

    campaign: Campaign
    labels: int
    seconds: float | None
    days: tuple[Day, ...]
    grades: tuple[Share, ...]
    training: TrainingShown | None
    answers: tuple[Answered, ...]
    feedback: int
    agreed: Alike | None
    again: Alike | None

    @property
    def is_closed(self) -> bool:
        return self.campaign.state == Campaign.State.CLOSED


def get_own_work(context: AnnotatorContext) -> OwnWork:
    """The viewer's labels that hold, by day and grade, and what they were told."""
    rows = _list_rows(context)
    is_closed = context.campaign.state == Campaign.State.CLOSED
    return OwnWork(
        campaign=context.campaign,
        labels=len(rows),
        seconds=_middle([seconds for _, seconds, _ in rows]),
        days=tuple(_by_day(rows)),
        grades=tuple(_by_grade(rows, Scale.from_json(context.campaign.list.scale))),
        training=find_training(context.campaign, context.viewer),
        answers=tuple(_list_answers(context)),
        feedback=count_feedback(context),
        agreed=_count_agreed(context) if is_closed else None,
        again=_count_again(context) if is_closed else None,
    )


Row = tuple[datetime, float | None, int | None]  # made at, seconds, grade


def _list_rows(context: AnnotatorContext) -> list[Row]:
    labels_qs = Label.objects.filter(
        annotator=context.viewer, pair__campaign=context.campaign, superseded_by__isnull=True
    )
    labels_qs = labels_qs.exclude(outcome=Label.Outcome.RETRACTED)
    counted_qs = labels_qs.exclude(assignment__purpose=TRAINING).order_by(MADE_AT, "pk")
    return list(counted_qs.values_list(MADE_AT, "timing__seconds", "grade"))


def _middle(seconds: list[float | None]) -> float | None:
    measured = [one for one in seconds if one is not None]
    return median(measured) if measured else None


def _by_day(rows: list[Row]) -> list[Day]:
    """The newest days first."""
    result: dict[date, list[float | None]] = defaultdict(list)
    for made_at, seconds, _ in rows:
        result[made_at.date()].append(seconds)
    days = sorted(result, reverse=True)[:MOST_DAYS]
    return [Day(day, len(result[day]), _middle(result[day])) for day in days]


def _by_grade(rows: list[Row], scale: Scale) -> list[Share]:
    counts = Counter(grade for _, _, grade in rows)
    shares = [Share(show_grade(scale, code), counts[code]) for code in reversed(scale.codes)]
    return [*shares, *([Share(None, counts[None])] if counts[None] else [])]


def _list_answers(context: AnnotatorContext) -> list[Answered]:
    answers_qs = TrainingAnswer.objects.select_related(
        "item", "attempt", "label__pair__query", "label__pair__document"
    )
    own_qs = answers_qs.filter(
        attempt__campaign=context.campaign, attempt__annotator=context.viewer
    )
    scale = Scale.from_json(context.campaign.list.scale)
    return [
        Answered(
            attempt=answer.attempt.number,
            is_right=answer.error == 0,
            told=show_told(
                answer.label, answer.item.low, answer.item.high, answer.item.reason, scale
            ),
        )
        for answer in own_qs.order_by("-pk")
    ]


def _count_agreed(context: AnnotatorContext) -> Alike:
    others = overlap_labels().filter(pair=OuterRef("pair")).exclude(annotator=context.viewer)
    labels_qs = Label.objects.filter(
        annotator=context.viewer,
        pair__campaign=context.campaign,
        pair__grade__isnull=False,
        outcome=Label.Outcome.GRADED,
        superseded_by__isnull=True,
        assignment__purpose__in=OVERLAP_PURPOSES,
    )
    decided = Q(pair__state=Pair.State.ADJUDICATED) | Q(
        Exists(others), pair__state=Pair.State.COMPLETE
    )
    compared_qs = labels_qs.filter(decided)
    return Alike(compared_qs.filter(grade=F("pair__grade")).count(), compared_qs.count())


def _count_again(context: AnnotatorContext) -> Alike:
    alike = list_alike(context.campaign).get(context.viewer.pk, [])
    return Alike(sum(alike), len(alike))
