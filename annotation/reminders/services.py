"""A round over all campaigns: who has to be told what. Run twice, it tells no one twice."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from django.db.models import Count, Exists

from annotation.campaigns.cached_counts import get_or_count
from annotation.campaigns.notices import (
    adjudication_key,
    tell_adjudication,
    tell_deadline,
    tell_report_ready,
)
from annotation.campaigns.queries import IN_GOLD, PairCounts, count_pairs
from annotation.models import Campaign, GoldItem, Pair, QualityReport
from annotation.quality.due import is_report_due
from judgments.jobs.rounds import begin_round, is_round_due
from judgments.messages.services import list_leads
from judgments.models import Notice, User
from judgments.waking import wake

TASK: Final = "annotation.remind"
EVERY: Final = timedelta(minutes=1)
DUE_SOON: Final = timedelta(days=2)
REPORTED: Final = timedelta(days=1)  # after a closing, for which its report is seen to


def is_reminding_due(at: datetime) -> bool:
    """Whether the last round is long enough ago."""
    return is_round_due(name=TASK, every=EVERY, at=at)


def remind(*, at: datetime) -> bool:
    """Make the round, if it is due and no other worker makes it; whether it was made."""
    if not begin_round(name=TASK, every=EVERY, at=at):
        return False
    tell_about_adjudication(at=at)
    tell_about_reports(at=at)
    tell_about_deadlines(at=at)
    return True


def tell_about_adjudication(*, at: datetime) -> None:
    """Bring each lead's notice of each campaign to the number of pairs that need adjudication."""
    counts = _count_tied()
    told: dict[str, dict[int, int]] = {}
    notices_qs = Notice.objects.filter(kind="adjudication").order_by()
    for key, recipient, count in notices_qs.values_list("key", "recipient", "count"):
        told.setdefault(key, {})[recipient] = count
    leads: dict[int, list[User]] = {}
    for campaign in _concerned(counts, told):
        count, collection = counts.get(campaign.pk, 0), campaign.list.collection
        if collection.pk not in leads:
            leads[collection.pk] = list_leads(collection)
        known = told.get(adjudication_key(campaign.pk), {})
        if any(known.get(lead.pk, 0) != count for lead in leads[collection.pk]):
            tell_adjudication(campaign, count=count, leads=leads[collection.pk], at=at)


def tell_about_reports(*, at: datetime) -> None:
    """Have the reports of campaigns computed that were closed lately, and tell leads of them."""
    closed_qs = Campaign.objects.filter(
        state=Campaign.State.CLOSED, closed_at__gt=at - REPORTED
    ).select_related("list__collection")
    reports = {
        report.campaign_id: report
        for report in QualityReport.objects.filter(campaign__in=closed_qs).defer("figures")
    }
    for campaign in closed_qs.order_by("pk"):
        report = reports.get(campaign.pk)
        if is_report_due(campaign, report):
            wake("annotation.refresh_quality", campaign.pk)
        elif report is not None and report.seen:
            tell_report_ready(campaign, at=at)


def tell_about_deadlines(*, at: datetime) -> None:
    """Tell people of open campaigns that are due soon, or should have been done by now."""
    today = at.astimezone(UTC).date()
    due_qs = Campaign.objects.filter(
        state=Campaign.State.OPEN, due_on__lte=today + DUE_SOON
    ).select_related("list__collection")
    for campaign in due_qs.order_by("pk"):
        assert campaign.due_on is not None
        counts = get_or_count(campaign, "pairs", PairCounts, partial(count_pairs, campaign))
        if counts.concluded < counts.all:
            tell_deadline(
                campaign,
                is_over=campaign.due_on < today,
                done=counts.concluded,
                pairs=counts.all,
                at=at,
            )


def _count_tied() -> dict[int, int]:
    """How many pairs need adjudication, by campaign; without gold, as on the campaign's page."""
    tied_qs = Pair.objects.filter(state=Pair.State.TIED)
    tied_qs = tied_qs.exclude(Exists(GoldItem.objects.filter(IN_GOLD)))
    return dict(tied_qs.order_by().values_list("campaign").annotate(Count("pk")))


def _concerned(counts: dict[int, int], told: dict[str, dict[int, int]]) -> Iterator[Campaign]:
    """The campaigns with such pairs, and those whose leads were told of some."""
    numbers = set(counts)
    for key, known in told.items():
        if any(known.values()):
            numbers.add(int(key.split(":")[1]))
    yield from Campaign.objects.filter(pk__in=numbers).select_related("list__collection")
