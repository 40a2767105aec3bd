"""What is left to do, found by comparing rows; for the sweep and for workers."""

from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, Exists, F, Min, OuterRef, QuerySet, Sum

from annotation.models import Assignment, Campaign, GoldCheck, Label, Pair, QualityReport
from annotation.quality import REVISION
from annotation.selectors.material import key_of

# Figures of a campaign in which people are labelling are always a little behind. They are due
# again after this many seconds, and after this many times what they last took.
REPORT_EVERY: Final = 30.0
REPORT_TIMES: Final = 20.0


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


def list_unchecked() -> QuerySet[Label]:
    """The labels of gold pairs that nobody has compared with the right answer yet."""
    # not `gold_check__isnull`: without statistics PostgreSQL takes nearly all labels as checked
    # then, and begins with all there are instead of with those of gold
    unchecked = ~Exists(GoldCheck.objects.filter(label=OuterRef("pk")))
    gold_qs = Label.objects.filter(unchecked, assignment__purpose=Assignment.Purpose.GOLD)
    return gold_qs.exclude(outcome=Label.Outcome.RETRACTED)


def count_due() -> tuple[int, int]:
    """How many pairs of open campaigns and labels of gold are due; how many labels the pairs have
    had by now."""
    due_qs = Pair.objects.filter(is_open=True, label_seq__gt=F("consolidated_seq"))
    found = due_qs.aggregate(pairs=Count("pk"), labels=Sum("label_seq"))
    return found["pairs"] + list_unchecked().count(), found["labels"] or 0


def find_oldest_due() -> datetime | None:
    """When the oldest label came that is not in its pair's grade yet, or not checked."""
    waiting_qs = Label.objects.filter(
        pair__is_open=True,
        pair__label_seq__gt=F("pair__consolidated_seq"),
        pair_seq__gt=F("pair__consolidated_seq"),
    )
    found = [
        qs.aggregate(first=Min("received_at"))["first"] for qs in (waiting_qs, list_unchecked())
    ]
    return min((first for first in found if first is not None), default=None)


def count_labels() -> int:
    """How many labels there are: all that were ever given."""
    return Label.objects.count()


def is_lease_due(*, at: datetime) -> bool:
    """Whether some lease has run out and is still there."""
    return Assignment.objects.filter(state=Assignment.State.LEASED, leased_until__lt=at).exists()


def list_due_reports(*, at: datetime) -> list[int]:
    """The open campaigns whose quality figures are behind their labels, and old enough.

    A campaign that is not open gets its figures when somebody looks at them.
    """
    open_qs = Campaign.objects.filter(state=Campaign.State.OPEN).order_by("pk")
    reports = {report.campaign_id: report for report in _reports()}
    return [
        campaign.pk
        for campaign in open_qs
        if _is_old_enough(reports.get(campaign.pk), at)
        and is_report_due(campaign, reports.get(campaign.pk))
    ]


def is_report_due(campaign: Campaign, report: QualityReport | None) -> bool:
    """Whether there are labels or gold that the stored figures have not seen."""
    key = key_of(campaign)
    if report is None or not report.seen:
        return not key.startswith("0:")
    return (report.seen, report.revision) != (key, REVISION)


def _reports() -> list[QualityReport]:
    return list(QualityReport.objects.filter(campaign__state=Campaign.State.OPEN).defer("figures"))


def _is_old_enough(report: QualityReport | None, at: datetime) -> bool:
    if report is None or report.computed_at is None:
        return True
    wait = max(REPORT_EVERY, REPORT_TIMES * report.took_seconds)
    return at - report.computed_at >= timedelta(seconds=wait)
