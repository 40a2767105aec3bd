"""A lead's overview: what waits first, the same counts as on the campaigns' pages, few queries."""

from datetime import date
from typing import Any

import pytest
from django.urls import reverse

from annotation.budgets.services import plan_work
from annotation.consolidation.services import consolidate
from annotation.dashboards.work_overview import CampaignRow, get_work_overview
from annotation.models import Campaign, Pair
from annotation.quality.services import refresh_quality
from judgments.models import User
from tests.annotation.page_reading import client_of
from tests.builders import (
    NOW,
    World,
    make_access,
    make_collection,
    make_list,
    make_user,
    make_world,
)
from tests.builders_annotation import label, make_campaign, make_draft

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(queries=3, documents=3)


def rows(user: User) -> list[CampaignRow]:
    return list(get_work_overview(viewer=user, now=NOW, page="").rows)


def decisions(row: CampaignRow) -> dict[str, int]:
    return {one.kind: one.count for one in row.decisions}


def disagree(campaign: Campaign, count: int) -> None:
    for pair in campaign.pairs.select_related("campaign__list").order_by("pk")[:count]:
        label(pair=pair, username="ben", grade=0)
        label(pair=pair, username="cem", grade=4)
    consolidate(list_id=campaign.list_id, at=NOW)


def of_query(world: World, number: int, **draft: Any) -> Campaign:
    pairs = [(world.queries[number], document) for document in world.documents]
    return make_campaign(world=world, pairs=pairs, **draft)


def test_what_waits_for_a_decision_comes_first_and_says_what(world: World) -> None:
    quiet = of_query(world, 0, name="Quiet")
    waits = of_query(world, 1, name="Waits")
    late = of_query(world, 2, name="Late")
    disagree(waits, 2)
    access = make_access(collection=world.collection)
    plan: dict[str, Any] = {"due_on": date(2026, 3, 1), "daily_target": None, "label_price": 50}
    plan_work(access=access, campaign=late, at=NOW, **plan)
    found = rows(world.ada)
    assert [row.campaign for row in found] == [late, waits, quiet]
    assert decisions(found[0]) == {"overdue": 1}
    assert decisions(found[1]) == {"adjudication": 2}
    assert found[2].decisions == ()
    assert (found[0].spent_words, found[1].spent_words) == ("0.00 EUR", "")


def test_counts_are_those_of_the_campaign_s_page(world: World) -> None:
    campaign = of_query(world, 0)
    disagree(campaign, 2)
    (row,) = rows(world.ada)
    page = client_of("ada").get(reverse("campaign", args=["books", campaign.public_id])).text
    tied = campaign.pairs.filter(state=Pair.State.TIED).count()
    assert decisions(row)["adjudication"] == tied == 2
    assert f'<span class="value">{tied}</span>' in page.replace("\n", "")
    overview = client_of("ada").get(reverse("work-overview")).text
    assert "2 pairs need adjudication" in overview
    assert reverse("campaign-queue", args=["books", campaign.public_id]) in overview


def test_a_campaign_without_open_pairs_is_to_be_closed(world: World) -> None:
    campaign = of_query(world, 0, people=("ben", "cem"))
    for pair in campaign.pairs.select_related("campaign__list"):
        label(pair=pair, username="ben", grade=3)
        label(pair=pair, username="cem", grade=3)
    consolidate(list_id=campaign.list_id, at=NOW)
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    (row,) = rows(world.ada)
    assert decisions(row) == {"close": 1}
    assert (row.done, row.pairs, row.at_work, row.people) == (3, 3, 2, 2)
    assert row.verdict[0]


@pytest.mark.parametrize("username", ["ben", "dora", "eve"])
def test_nobody_sees_campaigns_that_they_do_not_lead(world: World, username: str) -> None:
    make_draft(world=world)
    make_user(username="eve")
    assert rows(User.objects.get(username=username)) == []


def test_an_administrator_sees_all(world: World) -> None:
    make_draft(world=world)
    assert len(rows(make_user(username="root", is_superuser=True))) == 1


def test_collections_without_campaigns_are_named(world: World) -> None:
    make_collection(slug="films")
    page = client_of("ada").get(reverse("work-overview")).text
    assert "No campaigns yet" in page
    make_draft(world=world)
    assert "Films" in client_of("ada").get(reverse("work-overview")).text


def test_the_number_of_queries_does_not_grow_with_the_campaigns(
    world: World, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        judgments = make_list(collection=world.collection, slug=f"l{number}")
        make_draft(world=world, name=f"C{number}", judgment_list=judgments)
    with django_assert_max_num_queries(14):
        assert len(rows(world.ada)) == 12
