"""Campaigns are kept to their budgets; deadlines and targets."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.budgets.services import (
    EVERY,
    check_budgets,
    check_due_budgets,
    plan_work,
    subject_of,
)
from annotation.campaigns.services import open_campaign
from annotation.labelling.leasing import lease_next
from annotation.models import Assignment, Campaign
from annotation.reminders.services import tell_about_deadlines
from annotation.tasks import check_campaign_budgets
from annotation.training.standing import get_standing
from config.sweep import list_due
from judgments.budgets.services import COLLECTION, BudgetRefused, set_budgets
from judgments.messages.queries import get_notices_page
from judgments.models import AuditEntry, Budget, User
from judgments.permissions import NotFound
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import context_of, label, lease, make_campaign, make_draft

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    world = make_world(queries=4, documents=10)
    return world, make_campaign(world=world)


def limit(
    world: World,
    value: int | None,
    *,
    unit: str = "labels",
    period: str = "total",
    subject: str = COLLECTION,
    stops: bool = True,
) -> None:
    set_budgets(
        access=make_access(collection=world.collection),
        subject=subject,
        name="Books",
        limits={(unit, period): value},
        warn_percent=80,
        stops=stops,
        at=NOW,
    )
    check(world)


def check(world: World, at: Any = NOW) -> None:
    check_budgets(collection_id=world.collection.pk, at=at)


def price(world: World, campaign: Campaign, amount: int) -> None:
    access = make_access(collection=world.collection)
    plan: dict[str, Any] = {"due_on": None, "daily_target": None, "label_price": amount}
    plan_work(access=access, campaign=campaign, at=NOW, **plan)


def give(campaign: Campaign, count: int) -> None:
    for pair in campaign.pairs.select_related("campaign__list").order_by("pk")[:count]:
        label(pair=pair, username="ben", grade=2)


def free(campaign: Campaign) -> None:
    Assignment.objects.filter(state=Assignment.State.LEASED).update(
        state=Assignment.State.FREE, annotator=None, leased_until=None
    )


def subjects(user: User) -> list[str]:
    return [row.subject for row in get_notices_page(user=user, page="").rows]


def test_nothing_more_is_leased_once_a_budget_is_used_up(world: World, campaign: Campaign) -> None:
    give(campaign, 5)
    limit(world, 5, subject=subject_of(campaign))
    context = context_of(campaign, "ben")
    assert lease_next(context=context, count=60, at=NOW) == 0
    assert "nothing left for you to label" in get_standing(context).pause
    limit(world, None, subject=subject_of(campaign))
    assert lease_next(context=context_of(campaign, "ben"), count=60, at=NOW) > 0


def test_what_is_leased_already_can_be_labelled(world: World, campaign: Campaign) -> None:
    seats = lease(campaign=campaign, username="ben", count=4)
    limit(world, 1, subject=subject_of(campaign))
    context = context_of(campaign, "ben")
    assert get_standing(context).pause == ""
    assert lease_next(context=context, count=60, at=NOW) == len(seats)
    label(pair=seats[0].pair, username="ben", grade=1)


def test_leases_count_as_used_so_that_people_together_stay_within_the_limit(
    world: World, campaign: Campaign
) -> None:
    limit(world, 10, subject=subject_of(campaign))
    for username in ("ben", "cem"):  # five each, of ten
        assert lease_next(context=context_of(campaign, username), count=60, at=NOW) == 5
    check(world)
    campaign.refresh_from_db()
    assert campaign.stopped
    assert "Books: 0 % of the budget used" not in subjects(world.ada)
    free(campaign)
    check(world)
    campaign.refresh_from_db()
    assert not campaign.stopped


def test_a_budget_of_a_collection_is_shared_by_its_campaigns() -> None:
    world = make_world(slug="films", queries=4, documents=10)
    q1, q2, *_ = world.queries
    first = make_campaign(world=world, name="One", pairs=[(q1, d) for d in world.documents])
    second = make_campaign(world=world, name="Two", pairs=[(q2, d) for d in world.documents])
    give(first, 4)
    limit(world, 5)
    assert lease_next(context=context_of(second, "ben"), count=60, at=NOW) == 1
    check(world)
    assert lease_next(context=context_of(first, "cem"), count=60, at=NOW) == 0


def test_a_month_begins_anew(world: World, campaign: Campaign) -> None:
    give(campaign, 5)
    limit(world, 5, period="month", subject=subject_of(campaign))
    campaign.refresh_from_db()
    assert campaign.stopped
    check(world, NOW + timedelta(days=31))
    campaign.refresh_from_db()
    assert not campaign.stopped
    assert Budget.objects.get().used_in == "2026-04"


def test_money_is_labels_at_their_price(world: World, campaign: Campaign) -> None:
    price(world, campaign, 25)
    give(campaign, 3)
    limit(world, 100, unit="money", subject=subject_of(campaign))
    assert Budget.objects.get().used == 75
    assert lease_next(context=context_of(campaign, "ben"), count=60, at=NOW) == 1
    check(world)
    campaign.refresh_from_db()
    assert campaign.stopped


def test_a_budget_that_only_warns_stops_nobody(world: World, campaign: Campaign) -> None:
    give(campaign, 5)
    limit(world, 5, subject=subject_of(campaign), stops=False)
    campaign.refresh_from_db()
    assert not campaign.stopped
    assert subjects(world.ada) == ["First: 100 % of the budget used"]


def test_leads_are_told_once_when_it_is_near_and_once_when_it_is_over(
    world: World, campaign: Campaign
) -> None:
    limit(world, 5, subject=subject_of(campaign))
    give(campaign, 4)
    for _ in range(3):
        check(world)
    assert subjects(world.ada) == ["First: 80 % of the budget used"]
    last = campaign.pairs.select_related("campaign__list").order_by("-pk")[0]
    label(pair=last, username="ben", grade=1)
    for _ in range(3):
        check(world)
    assert sorted(subjects(world.ada)) == [
        "First: 100 % of the budget used",
        "First: 80 % of the budget used",
    ]


def test_budgets_are_found_due_and_checked_by_one_worker_at_a_time(
    world: World, campaign: Campaign
) -> None:
    assert ("annotation.check_budgets", ()) not in list_due()
    limit(world, 5)
    assert ("annotation.check_budgets", ()) in list_due()
    check_campaign_budgets()
    assert ("annotation.check_budgets", ()) not in list_due()
    assert check_due_budgets(at=NOW + timedelta(days=10_000))
    assert not check_due_budgets(at=NOW + timedelta(days=10_000) + EVERY / 2)


def test_a_budget_that_ended_holds_nobody_even_if_nobody_checked_then(
    world: World, campaign: Campaign
) -> None:
    give(campaign, 5)
    limit(world, 5)
    Budget.objects.all().delete()
    assert check_due_budgets(at=NOW)
    campaign.refresh_from_db()
    assert not campaign.stopped


def test_a_draft_is_held_before_it_opens() -> None:
    world = make_world(slug="films", queries=4, documents=10)
    draft = make_draft(world=world)
    limit(world, 4, subject=subject_of(draft))
    opened = open_campaign(access=make_access(collection=world.collection), campaign=draft, at=NOW)
    assert lease_next(context=context_of(opened, "ben"), count=60, at=NOW) == 2


def test_labels_ask_nothing_of_budgets(
    world: World, campaign: Campaign, django_assert_num_queries: Any
) -> None:
    lease(campaign=campaign, username="ben", count=4)
    with CaptureQueriesContext(
        connection,
    ) as without:
        lease_next(context=context_of(campaign, "ben"), count=4, at=NOW)
    limit(world, 1_000, subject=subject_of(campaign))
    with django_assert_num_queries(len(without)):
        lease_next(context=context_of(campaign, "ben"), count=4, at=NOW)


def test_only_leads_set_budgets_and_changes_are_logged(world: World, campaign: Campaign) -> None:
    limit(world, 5)
    limit(world, 5)
    limit(world, 6)
    assert AuditEntry.objects.filter(action="budget.changed").count() == 2
    with pytest.raises(NotFound):
        set_budgets(
            access=make_access(collection=world.collection, username="dora"),
            subject=COLLECTION,
            name="Books",
            limits={},
            warn_percent=80,
            stops=True,
            at=NOW,
        )
    with pytest.raises(BudgetRefused, match="above 0"):
        limit(world, 0)


def test_people_are_told_of_a_deadline_once_near_and_once_over(
    world: World, campaign: Campaign
) -> None:
    due = date(2026, 3, 20)
    plan: dict[str, Any] = {"due_on": due, "daily_target": 50, "label_price": None}
    plan_work(access=make_access(collection=world.collection), campaign=campaign, at=NOW, **plan)
    for days in (0, 4, 5, 7, 8):
        tell_about_deadlines(at=NOW + timedelta(days=days))
    assert sorted(subjects(world.ada)) == ["First is due on 20 March", "First is overdue"]
    assert "First is due on 20 March" in subjects(world.ben)
    assert "First is overdue" not in subjects(world.ben)


def test_a_target_out_of_bounds_is_refused(world: World, campaign: Campaign) -> None:
    plan: dict[str, Any] = {"due_on": None, "daily_target": 0, "label_price": None}
    with pytest.raises(BudgetRefused, match="daily target"):
        plan_work(
            access=make_access(collection=world.collection), campaign=campaign, at=NOW, **plan
        )
