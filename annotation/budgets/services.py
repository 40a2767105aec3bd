"""Keeping campaigns to their budgets, and planning when and how fast they are labelled.

Labels know nothing of budgets. A worker counts every few seconds, and writes to the campaign's
row, which leasing reads anyway, that nothing more is handed out, or how much at a time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Count, Q

from annotation.campaigns.cached_counts import get_or_count
from annotation.labelling.leasing import MOST
from annotation.machine_judges.spending import count_cost
from annotation.models import Assignment, Campaign, Label
from annotation.permissions import check_may_run
from annotation.training.standing import STOPPED_WORDS
from judgments.audit import services as audit
from judgments.budgets.queries import list_budgets
from judgments.budgets.rules import month_start, room_of
from judgments.budgets.services import COLLECTION, BudgetRefused, note_use
from judgments.jobs.rounds import begin_round, is_round_due
from judgments.models import Budget
from judgments.permissions import Access

TASK: Final = "annotation.check_budgets"
EVERY: Final = timedelta(seconds=10)
LONGEST_TARGET: Final = 100_000


@dataclass(frozen=True)
class Given:
    """Labels of a campaign: ever, and in this month; all that were given, as in its cost."""

    total: int
    month: int


def subject_of(campaign: Campaign) -> str:
    """What the budgets of a campaign are filed under."""
    return f"campaign:{campaign.pk}"


def plan_work(
    *,
    access: Access,
    campaign: Campaign,
    due_on: date | None,
    daily_target: int | None,
    label_price: int | None,
    at: datetime,
) -> None:
    """When a campaign is due, how many labels a person is to give a day, and what one costs, in
    hundredths of the currency; for leads. Raises BudgetRefused for numbers out of bounds."""
    check_may_run(access, campaign)
    if daily_target is not None and not 1 <= daily_target <= LONGEST_TARGET:
        raise BudgetRefused("target_invalid", "A daily target must be 1 to 100,000 labels.")
    if label_price is not None and not 1 <= label_price <= 10**9:
        raise BudgetRefused("price_invalid", "A price must be above 0, and at most ten million.")
    after = {"due_on": due_on, "daily_target": daily_target, "label_price": label_price}
    with transaction.atomic():
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        before = {name: getattr(locked, name) for name in after}
        if before == after:
            return
        Campaign.objects.filter(pk=campaign.pk).update(**after)
        audit.record_by(
            access,
            at,
            "campaign.schedule_changed",
            campaign.name,
            before=_plain(before),
            after=_plain(after),
        )


def is_check_due(at: datetime) -> bool:
    """Whether there are budgets, and the last look at them is long enough ago."""
    return is_round_due(name=TASK, every=EVERY, at=at) and bool(_list_collections())


def check_due_budgets(*, at: datetime) -> bool:
    """Look at all budgets, if that is due and no other worker does; whether it was done."""
    if not begin_round(name=TASK, every=EVERY, at=at):
        return False
    for collection_id in sorted(_list_collections()):
        check_budgets(collection_id=collection_id, at=at)
    return True


def _list_collections() -> set[int]:
    """Those with budgets, and those whose campaigns were held to one that has ended."""
    held = Q(most_leases__isnull=False) | ~Q(stopped="")
    held_qs = Campaign.objects.filter(held).order_by()
    budgets_qs = Budget.objects.order_by()
    return set(held_qs.values_list("list__collection", flat=True)) | set(
        budgets_qs.values_list("collection", flat=True)
    )


def check_budgets(*, collection_id: int, at: datetime) -> None:
    """Stop the campaigns of a collection whose budget is used up, and let the others go on."""
    campaigns = list(
        Campaign.objects.filter(list__collection=collection_id)
        .select_related("list__collection")
        .order_by("pk")
    )
    if not campaigns:
        return
    budgets = Budget.objects.filter(collection=collection_id).select_related("collection")
    by_subject: dict[str, list[Budget]] = {}
    for budget in budgets.order_by("pk"):
        by_subject.setdefault(budget.subject, []).append(budget)
    of_all = by_subject.get(COLLECTION, [])
    counted = campaigns if of_all else [one for one in campaigns if subject_of(one) in by_subject]
    given = {one.pk: _count_given(one, at) for one in counted}
    leased = _count_leased(counted)
    rooms = [_room(budget, campaigns, given, leased, at) for budget in of_all]
    shared = [room for room in rooms if room]
    for campaign in campaigns:
        own = [
            _room(budget, [campaign], given, leased, at)
            for budget in by_subject.get(subject_of(campaign), [])
        ]
        limits = [room[campaign.pk] for room in (*shared, *own) if campaign.pk in room]
        _keep_to(campaign, min(limits, default=None))


def _room(
    budget: Budget,
    campaigns: Iterable[Campaign],
    given: Mapping[int, Given],
    leased: Mapping[int, int],
    at: datetime,
) -> dict[int, int]:
    """How many seats more may be leased in each of the campaigns, as far as this budget stops."""
    used = reserved = 0
    prices: dict[int, int] = {}
    for one in campaigns:
        price = 1 if budget.unit == Budget.Unit.LABELS else one.label_price or 0
        counts = given[one.pk]
        is_month = budget.period == Budget.Period.MONTH
        used += price * (counts.month if is_month else counts.total)
        reserved += price * leased.get(one.pk, 0)
        prices[one.pk] = price
    own = list(campaigns)
    if (budget.subject, budget.unit) == (COLLECTION, Budget.Unit.MONEY):
        is_month = budget.period == Budget.Period.MONTH
        since = month_start(at) if is_month else None
        used += count_cost(collection_id=budget.collection_id, since=since)
    is_of_one = len(own) == 1 and budget.subject != COLLECTION
    collection = own[0].list.collection
    page = ("campaign-budget", collection.slug, str(own[0].public_id))
    note_use(
        budget=budget,
        used=used,
        each=min((price for price in prices.values() if price), default=0),
        name=own[0].name if is_of_one else collection.name,
        page=page if is_of_one else ("collection-budget", collection.slug),
        at=at,
    )
    if not budget.stops:
        return {}
    rooms = {
        pk: room_of(limit=budget.limit, used=used, reserved=reserved, each=price)
        for pk, price in prices.items()
    }
    return {pk: room for pk, room in rooms.items() if room is not None}


def _keep_to(campaign: Campaign, room: int | None) -> None:
    """Write down whether and how much may be leased at a time; nothing where it stays so."""
    stopped = STOPPED_WORDS if room == 0 else ""
    most = None
    if room and room < MOST * MOST:
        people = campaign.annotators.filter(is_active=True, paused="").count()
        share = max(1, room // max(1, people))
        most = share if share < MOST else None
    if (campaign.stopped, campaign.most_leases) != (stopped, most):
        Campaign.objects.filter(pk=campaign.pk).update(stopped=stopped, most_leases=most)


def _count_given(campaign: Campaign, at: datetime) -> Given:
    """Of a large campaign, as it was up to a minute ago."""

    def count() -> Given:
        month = Count("pk", filter=Q(received_at__gte=month_start(at)))
        result = Label.objects.filter(pair__campaign=campaign).aggregate(
            total=Count("pk"), month=month
        )
        return Given(total=result["total"], month=result["month"])

    return get_or_count(campaign, "given", Given, count)


def _count_leased(campaigns: Iterable[Campaign]) -> dict[int, int]:
    """How many seats are out, by campaign: their labels will count."""
    leased_qs = Assignment.objects.filter(
        state=Assignment.State.LEASED, pair__campaign__in=[one.pk for one in campaigns]
    )
    rows = leased_qs.order_by().values_list("pair__campaign").annotate(Count("pk"))
    return dict(rows)


def _plain(values: Mapping[str, object]) -> dict[str, object]:
    return {
        name: value.isoformat() if isinstance(value, date) else value
        for name, value in values.items()
    }


def list_own_budgets(campaign: Campaign) -> list[Budget]:
    """The budgets of a campaign alone."""
    return list_budgets(campaign.list.collection, subject_of(campaign))
