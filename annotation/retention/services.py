"""Choosing for how long records are kept, and deleting those that are older."""

from collections import defaultdict
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q, QuerySet

from annotation.models import JudgeAttempt, LabelTiming, LabelTimingDay, Retention
from annotation.models.retention import LONGEST
from annotation.retention.queries import Choice, get_choice
from judgments.audit import services as audit
from judgments.jobs.rounds import begin_round, is_round_due
from judgments.permissions import Access, Archived, check_may_archive
from touchstone.errors import DomainError

TASK: Final = "annotation.clear_old"
EVERY: Final = timedelta(hours=24)
PORTION: Final = 2_000  # rows of one transaction


class RetentionRefused(DomainError):
    """Records can't be kept for so long."""


@dataclass(frozen=True)
class Cleared:
    """How many times of labels were deleted, and answers of machine judges emptied."""

    timings: int
    answers: int


def choose_retention(*, access: Access, choice: Choice, at: datetime) -> None:
    """Keep a collection's records for so long from now on; for leads and administrators.

    Deleting begins with the next round, within a day. Raises RetentionRefused for what is not
    from 1 to 3650 days.
    """
    check_may_archive(access)
    if access.is_archived:
        raise Archived("collection")
    if any(days is not None and not 1 <= days <= LONGEST for days in asdict(choice).values()):
        raise RetentionRefused("retention_refused", f"Use 1 to {LONGEST} days, or none.")
    before = get_choice(access=access)
    if choice == before:
        return
    with transaction.atomic():
        Retention.objects.update_or_create(collection=access.collection, defaults=asdict(choice))
        audit.record_by(
            access,
            at,
            "retention.changed",
            access.collection.slug,
            before=asdict(before),
            after=asdict(choice),
        )


def is_clearing_due(at: datetime) -> bool:
    """Whether the last round was a day ago, and a collection limits what is kept."""
    return is_round_due(name=TASK, every=EVERY, at=at) and Retention.objects.exists()


def clear_old(*, at: datetime) -> Cleared | None:
    """Delete in every collection what is older than it keeps; None where that is not due."""
    if not Retention.objects.exists() or not begin_round(name=TASK, every=EVERY, at=at):
        return None
    timings = answers = 0
    for kept in Retention.objects.order_by("pk"):
        if kept.timing_days is not None:
            timings += forget_timings(
                LabelTiming.objects.filter(
                    label__pair__campaign__list__collection=kept.collection_id,
                    label__received_at__lt=at - timedelta(days=kept.timing_days),
                )
            )
        if kept.answer_days is not None:
            before = at - timedelta(days=kept.answer_days)
            answers += _empty_answers(kept.collection_id, before)
    return Cleared(timings, answers)


def forget_timings(timings_qs: QuerySet[LabelTiming]) -> int:
    """Delete times of labels, and keep how many there were on each day, and their sum."""
    deleted = 0
    while True:
        with transaction.atomic():
            # without the joins: nothing but the times is locked
            keys = list(timings_qs.order_by("pk").values_list("pk", flat=True)[:PORTION])
            locked_qs = LabelTiming.objects.filter(pk__in=keys).order_by("pk")
            held = list(locked_qs.select_for_update().values_list("pk", flat=True))
            _add_to_days(held)
            LabelTiming.objects.filter(pk__in=held).delete()
        deleted += len(held)
        if len(keys) < PORTION:
            return deleted


def _add_to_days(label_ids: list[UUID]) -> None:
    days: dict[tuple[int, date], list[float]] = defaultdict(list)
    timed_qs = LabelTiming.objects.filter(pk__in=label_ids, seconds__isnull=False).order_by("pk")
    rows: Any = timed_qs.values_list("label__pair__campaign", "label__received_at", "seconds")
    for campaign, received_at, taken in rows:
        days[campaign, received_at.date()].append(taken)
    for (campaign_id, day), seconds in sorted(days.items()):
        one, _ = LabelTimingDay.objects.get_or_create(
            campaign_id=campaign_id, day=day, defaults={"labels": 0, "seconds": 0.0}
        )
        LabelTimingDay.objects.filter(pk=one.pk).update(
            labels=F("labels") + len(seconds), seconds=F("seconds") + sum(seconds)
        )


def _empty_answers(collection_id: int, before: datetime) -> int:
    """Take the texts out of attempts; what came of each, its tokens and cost stay."""
    old_qs = JudgeAttempt.objects.filter(
        ~Q(answer=b"") | ~Q(detail=""),
        campaign__revision__judge__collection=collection_id,
        ended_at__lt=before,
    )
    emptied = 0
    while True:
        keys = list(old_qs.order_by("pk").values_list("pk", flat=True)[:PORTION])
        emptied += JudgeAttempt.objects.filter(pk__in=keys).update(answer=b"", detail="")
        if len(keys) < PORTION:
            return emptied
