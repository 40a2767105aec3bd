"""What is left to do, found by comparing rows; for the sweep and for workers."""

from datetime import datetime, timedelta
from typing import Final

from annotation.models import Campaign, QualityReport
from annotation.quality.figures import REVISION
from annotation.quality.material import key_of

# Figures of a campaign in which people are labelling are always a little behind. They are due
# again after this many seconds, and after this many times what they last took.
REPORT_EVERY: Final = 30.0
REPORT_TIMES: Final = 20.0


def list_due_reports(*, at: datetime) -> list[int]:
    """The open campaigns whose quality figures are behind their labels, and old enough.

    A campaign that is not open gets its figures when someone looks at them.
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
