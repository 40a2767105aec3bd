"""What is left to do, found by comparing rows; for the sweep, the commands and the metrics."""

from datetime import datetime

from django.db.models import Count, F, Min, Sum

from annotation.gold.queries import list_unchecked
from annotation.models import Assignment, Label, Pair
from annotation.pooling.snapshot_pools import is_pool_due


def list_due_lists() -> list[int]:
    """The lists with a pair whose newest label has not been consolidated yet, or with a label
    of a gold pair that has not been checked.

    Only pairs of open campaigns are consolidated: what arrives after the closing waits for a
    reopening.
    """
    due_qs = Pair.objects.filter(is_open=True, label_seq__gt=F("consolidated_seq"))
    due = set(due_qs.order_by().values_list("list_id", flat=True).distinct())
    unchecked = list_unchecked().order_by().values_list("pair__list", flat=True)
    return sorted(due | set(unchecked.distinct()))


def count_due() -> tuple[int, int]:
    """How many pairs of open campaigns and labels of gold are due; how many labels the pairs have
    had by now."""
    due_qs = Pair.objects.filter(is_open=True, label_seq__gt=F("consolidated_seq"))
    result = due_qs.aggregate(pairs=Count("pk"), labels=Sum("label_seq"))
    return result["pairs"] + list_unchecked().count(), result["labels"] or 0


def find_oldest_due() -> datetime | None:
    """When the oldest label came that is not in its pair's grade yet, or not checked."""
    waiting_qs = Label.objects.filter(
        pair__is_open=True,
        pair__label_seq__gt=F("pair__consolidated_seq"),
        pair_seq__gt=F("pair__consolidated_seq"),
    )
    result = [
        qs.aggregate(first=Min("received_at"))["first"] for qs in (waiting_qs, list_unchecked())
    ]
    return min((first for first in result if first is not None), default=None)


def count_labels() -> int:
    """How many labels there are: all that were ever given."""
    return Label.objects.count()


def is_lease_due(at: datetime) -> bool:
    """Whether some lease has run out and is still there."""
    return Assignment.objects.filter(state=Assignment.State.LEASED, leased_until__lt=at).exists()


def is_snapshot_pool_due(_: datetime) -> bool:
    """Whether the snapshots that some pool waits for have ended."""
    return is_pool_due()
