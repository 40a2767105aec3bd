"""Which portions of an evaluation workers are told of, and who is at them.

A portion is claimed for a time, which its worker prolongs; a worker that was killed lets it lapse.
If two work on one portion nevertheless, both get the same result, and it is stored once.
"""

from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Final

from django.db.models import F, Min, Q, QuerySet
from django.utils import timezone

from evaluation.data_sets.services import TASK
from evaluation.models import DataSetEvaluation, DataSetPortion
from judgments.jobs.heartbeats import beating
from judgments.waking import publish

AT_ONCE: Final = 8  # portions of one evaluation that are with workers, or on their way to them
LEASE: Final = timedelta(seconds=40)
PULSE: Final = 10.0  # seconds
SILENCE: Final = timedelta(minutes=1)  # after which an announcement counts as lost
BACK_OFF: Final = timedelta(seconds=15)  # before a file that could not be read is tried again


def open_portions(evaluation_id: int) -> QuerySet[DataSetPortion]:
    """What is left of the step that an evaluation is at: list, spill or evaluate."""
    left = DataSetPortion.objects.filter(
        evaluation_id=evaluation_id,
        evaluation__state=DataSetEvaluation.State.RUNNING,
        done_at=None,
    )
    step = left.aggregate(step=Min("kind"))["step"]
    return left.filter(kind=step).order_by("number")


def is_with_no_one(at: datetime) -> Q:
    """Neither claimed nor announced a short while ago."""
    is_unclaimed = Q(leased_until=None) | Q(leased_until__lt=at)
    return is_unclaimed & (Q(announced_at=None) | Q(announced_at__lt=at - SILENCE))


def announce(evaluation_id: int, *, at: datetime) -> int:
    """Tell workers of as many portions as may be on their way; how many were announced."""
    left = open_portions(evaluation_id)
    waiting = left.filter(is_with_no_one(at))
    room = AT_ONCE - left.exclude(is_with_no_one(at)).count()
    announced = 0
    for portion in waiting[: max(room, 0)]:
        own = DataSetPortion.objects.filter(pk=portion.pk, announced_at=portion.announced_at)
        if own.update(announced_at=at):
            announced += publish(TASK, portion.pk)
    return announced


def claim(portion_id: int, *, at: datetime) -> DataSetPortion | None:
    """The portion, if it is left to do and no other worker is at it.

    The attempt is counted before the work, so that one that kills its worker counts too.
    """
    own = DataSetPortion.objects.filter(
        Q(leased_until=None) | Q(leased_until__lt=at),
        pk=portion_id,
        done_at=None,
        evaluation__state=DataSetEvaluation.State.RUNNING,
    )
    if not own.update(leased_until=at + LEASE, attempts=F("attempts") + 1):
        return None
    return DataSetPortion.objects.select_related("evaluation__data_set", "evaluation__other").get(
        pk=portion_id
    )


def put_back(portion: DataSetPortion, *, at: datetime) -> None:
    """Have it tried again in a while."""
    DataSetPortion.objects.filter(pk=portion.pk, done_at=None).update(
        leased_until=at + BACK_OFF, announced_at=None
    )


def prolonged(portion: DataSetPortion) -> AbstractContextManager[None]:
    """Keep the claim while the work runs."""
    own = DataSetPortion.objects.filter(pk=portion.pk, done_at=None)

    def prolong() -> None:
        own.update(leased_until=timezone.now() + LEASE)

    return beating(prolong, every=PULSE, name=f"portion {portion.pk}")
