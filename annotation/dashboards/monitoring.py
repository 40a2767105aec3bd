"""A campaign while people label in it: who is at work, how fast it goes, and when it may end."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Avg, Count, Max, Q, QuerySet

from annotation.campaigns.cached_counts import get_or_count
from annotation.campaigns.queries import count_seats_left
from annotation.models import Assignment, Campaign, CampaignAnnotator, Label, QuerySkip
from annotation.permissions import check_may_watch
from annotation.quality.events import list_marked
from annotation.quality.figures import Event
from judgments.permissions import Access

AT_WORK: Final = timedelta(minutes=10)  # since the last label
HOUR: Final = timedelta(hours=1)
HOURS: Final = 24


@dataclass(frozen=True)
class WorkerRow:
    """One person at work. an_hour: labels in an hour of active time; None without any measured."""

    username: str
    name: str
    is_active: bool
    is_suspended: bool
    is_paused: bool
    is_at_work: bool
    last_hour: int
    last_day: int
    an_hour: float | None
    last_seen_at: datetime | None
    leased: int
    leased_until: datetime | None


@dataclass(frozen=True)
class Pace:
    """Labels of all people. by_hour: of the last 24 hours, the oldest first.

    hours_of_work: for one person, at the active time that a label takes. ends_at: if it goes on
    as in the last day, nights included. Both None where nothing was labelled in the last day.
    """

    left: int
    by_hour: tuple[int, ...]
    hours_of_work: float | None
    ends_at: datetime | None

    @property
    def last_hour(self) -> int:
        return self.by_hour[-1]


@dataclass(frozen=True)
class MonitorPage:
    """What a lead looks at while people label, `now`. events: of the last hours."""

    campaign: Campaign
    pace: Pace
    workers: tuple[WorkerRow, ...]
    skips: QuerySet[QuerySkip]
    surplus: int
    events: tuple[Event, ...]
    now: datetime

    @property
    def at_work(self) -> int:
        """How many people labelled in the last minutes; no one, unless the campaign is open."""
        if self.campaign.state != Campaign.State.OPEN:
            return 0
        return sum(worker.is_at_work for worker in self.workers)

    @property
    def leased(self) -> int:
        return sum(worker.leased for worker in self.workers)


def get_monitor_page(
    *, access: Access, campaign: Campaign, now: datetime, is_fresh: bool = False
) -> MonitorPage:
    """How the labelling goes at this moment; for leads and admins.

    is_fresh: counted at this moment too, be it a large campaign.
    """
    check_may_watch(access, campaign)
    skips_qs = QuerySkip.objects.filter(campaign=campaign, returned_at=None)
    return MonitorPage(
        campaign=campaign,
        pace=get_or_count(
            campaign, "pace", Pace, lambda: _get_pace(campaign, now), is_fresh=is_fresh
        ),
        workers=tuple(
            get_or_count(
                campaign,
                "workers",
                list[WorkerRow],
                lambda: _list_workers(campaign, now),
                is_fresh=is_fresh,
            )
        ),
        skips=skips_qs.select_related("query", "annotator").order_by("-skipped_at", "-pk"),
        surplus=_count_surplus(campaign),
        events=tuple(list_marked(campaign, since=now - HOURS * HOUR)),
        now=now,
    )


def _get_pace(campaign: Campaign, now: datetime) -> Pace:
    left = count_seats_left(campaign)
    hours = {
        f"hour_{ago}": Count(
            "pk",
            filter=Q(received_at__gt=now - (ago + 1) * HOUR, received_at__lte=now - ago * HOUR),
        )
        for ago in range(HOURS)
    }
    result = _recent(campaign, now).aggregate(seconds=Avg("timing__seconds"), **hours)
    by_hour = tuple(result[f"hour_{ago}"] for ago in reversed(range(HOURS)))
    seconds = result["seconds"]
    return Pace(
        left=left,
        by_hour=by_hour,
        hours_of_work=left * seconds / 3600 if seconds is not None else None,
        ends_at=_end(campaign, now, left=left, done=sum(by_hour)),
    )


def _end(campaign: Campaign, now: datetime, *, left: int, done: int) -> datetime | None:
    """When what is left is done at the pace of the last day, or of the time since the opening."""
    if not done or not left or campaign.state != Campaign.State.OPEN:
        return None
    began = max(campaign.opened_at or now, now - HOURS * HOUR)
    try:
        return now + max(now - began, HOUR) / done * left
    except OverflowError:  # in more than 8,000 years
        return None


def _recent(campaign: Campaign, now: datetime) -> QuerySet[Label]:
    """The labels of the last day, each pair and person once; found by the people's index."""
    people = campaign.annotators.values("user")
    return Label.objects.filter(
        annotator__in=people,
        received_at__gt=now - HOURS * HOUR,
        received_at__lte=now,
        pair__campaign=campaign,
        supersedes=None,
    ).order_by()


def _list_workers(campaign: Campaign, now: datetime) -> list[WorkerRow]:
    recent = {
        row["annotator"]: row
        for row in _recent(campaign, now)
        .values("annotator")
        .annotate(
            day=Count("pk"),
            hour=Count("pk", filter=Q(received_at__gt=now - HOUR)),
            mean_seconds=Avg("timing__seconds"),
            last=Max("received_at"),
        )
    }
    held_qs = Assignment.objects.filter(
        annotator__in=campaign.annotators.values("user"),
        state=Assignment.State.LEASED,
        pair__campaign=campaign,
    ).order_by()
    rows = held_qs.values_list("annotator").annotate(Count("pk"), Max("leased_until"))
    held = {user: (count, until) for user, count, until in rows}
    annotators_qs = campaign.annotators.select_related("user").order_by("user__username")
    workers = [
        _worker(one, recent.get(one.user_id, {}), held.get(one.user_id), now)
        for one in annotators_qs
    ]
    return sorted(workers, key=lambda one: (not one.is_at_work, -one.last_hour, -one.last_day))


def _worker(
    annotator: CampaignAnnotator,
    recent: Mapping[str, Any],
    held: tuple[int, datetime] | None,
    now: datetime,
) -> WorkerRow:
    last, seconds = recent.get("last"), recent.get("mean_seconds")
    leased, leased_until = held or (0, None)
    return WorkerRow(
        username=annotator.user.username,
        name=str(annotator.user),
        is_active=annotator.is_active,
        is_suspended=annotator.user.is_suspended,
        is_paused=bool(annotator.paused),
        is_at_work=(
            annotator.is_active
            and not annotator.user.is_suspended
            and not annotator.paused
            and last is not None
            and now - last < AT_WORK
        ),
        last_hour=recent.get("hour", 0),
        last_day=recent.get("day", 0),
        an_hour=3600 / seconds if seconds else None,
        last_seen_at=last,
        leased=leased,
        leased_until=leased_until,
    )


def _count_surplus(campaign: Campaign) -> int:
    """Labels that hold and stand outside the overlap."""
    surplus_qs = Label.objects.filter(
        pair__campaign=campaign, assignment=None, superseded_by__isnull=True
    )
    return surplus_qs.exclude(outcome=Label.Outcome.RETRACTED).count()
