"""What is left to do, found by comparing rows; for the sweep and for workers."""

from datetime import datetime

from django.db.models import Count, F, Sum

from annotation.models import Assignment, Pair


def list_due_lists() -> list[int]:
    """The lists with a pair whose newest label has not been consolidated yet.

    Only pairs of open campaigns: what arrives after the closing waits for a reopening.
    """
    due_qs = Pair.objects.filter(is_open=True, label_seq__gt=F("consolidated_seq"))
    return sorted(due_qs.order_by().values_list("list_id", flat=True).distinct())


def count_due() -> tuple[int, int]:
    """How many pairs of open campaigns are due, and how many labels they have had by now."""
    due_qs = Pair.objects.filter(is_open=True, label_seq__gt=F("consolidated_seq"))
    found = due_qs.aggregate(pairs=Count("pk"), labels=Sum("label_seq"))
    return found["pairs"], found["labels"] or 0


def is_lease_due(*, at: datetime) -> bool:
    """Whether some lease has run out and is still there."""
    return Assignment.objects.filter(state=Assignment.State.LEASED, leased_until__lt=at).exists()
