"""What people are told of campaigns: invited, paused, needs adjudication, report ready."""

from datetime import timedelta
from typing import Any

import pytest

from annotation.campaigns.services import add_annotators, close_campaign, open_campaign
from annotation.consolidation.services import consolidate
from annotation.gold.actions import pause_people
from annotation.models import Campaign, Pair
from annotation.quality.services import refresh_quality
from annotation.reminders.services import EVERY, remind
from annotation.tasks import remind_people
from config.sweep import list_due
from judgments.messages.queries import get_notices_page
from judgments.models import Notice, User
from tests.builders import NOW, World, make_access, make_member, make_world
from tests.builders_annotation import label, make_campaign, make_draft

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(queries=1, documents=3)


def subjects(user: User) -> list[str]:
    rows = get_notices_page(user=user, page="").rows
    return [row.subject for row in rows if not row.is_read]


def differ(campaign: Campaign, count: int) -> None:
    """So many pairs on which Ben and Cem differ."""
    pairs_qs = campaign.pairs.select_related("campaign__list").filter(state=Pair.State.OPEN)
    for pair in pairs_qs.order_by("pk")[:count]:
        label(pair=pair, username="ben", grade=0)
        label(pair=pair, username="cem", grade=4)
    consolidate(list_id=campaign.list_id, at=NOW)


def test_annotators_are_told_once_when_their_campaign_opens(world: World) -> None:
    access = make_access(collection=world.collection)
    campaign = make_draft(world=world)
    assert subjects(world.ben) == []
    open_campaign(access=access, campaign=campaign, at=NOW)
    assert subjects(world.ben) == ["You can label in First"]
    assert subjects(world.ada) == []
    fay = make_member(collection=world.collection, username="fay", role="annotator")
    campaign.refresh_from_db()
    add_annotators(access=access, campaign=campaign, people=[fay, world.ben], at=NOW)
    assert subjects(fay) == ["You can label in First"]
    assert Notice.objects.filter(recipient=world.ben).count() == 1


def test_who_is_paused_by_a_lead_is_told_and_leads_are_not(world: World) -> None:
    campaign = make_campaign(world=world)
    Notice.objects.all().delete()
    access = make_access(collection=world.collection)
    pause_people(access=access, campaign=campaign, people=[world.ben], at=NOW)
    assert subjects(world.ben) == ["First: you are paused"]
    assert subjects(world.ada) == []


def test_leads_are_told_how_many_pairs_need_adjudication(world: World) -> None:
    campaign = make_campaign(world=world)
    differ(campaign, 1)
    remind(at=NOW)
    assert subjects(world.ada) == ["First: 1 pair needs adjudication"]
    differ(campaign, 2)
    assert not remind(at=NOW + EVERY / 2)
    assert remind(at=NOW + EVERY)
    assert subjects(world.ada) == ["First: 3 pairs need adjudication"]
    Pair.objects.update(state=Pair.State.ADJUDICATED)
    remind(at=NOW + 2 * EVERY)
    assert subjects(world.ada) == []


def test_a_round_without_news_writes_nothing(
    world: World, django_assert_max_num_queries: Any
) -> None:
    campaign = make_campaign(world=world)
    differ(campaign, 1)
    remind(at=NOW)
    before = list(Notice.objects.values())
    with django_assert_max_num_queries(8):
        remind(at=NOW + EVERY)
    assert list(Notice.objects.values()) == before


def test_leads_are_told_when_the_report_of_a_closed_campaign_is_ready(world: World) -> None:
    campaign = make_campaign(world=world)
    label(pair=campaign.pairs.select_related("campaign__list")[0], username="ben", grade=2)
    access = make_access(collection=world.collection)
    close_campaign(access=access, campaign=campaign, at=NOW)
    remind(at=NOW)
    assert subjects(world.ada) == []
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    remind(at=NOW + EVERY)
    remind(at=NOW + 2 * EVERY)
    assert subjects(world.ada) == ["First: the quality report is ready"]


def test_of_campaigns_that_were_closed_long_ago_nothing_is_told(world: World) -> None:
    campaign = make_campaign(world=world)
    label(pair=campaign.pairs.select_related("campaign__list")[0], username="ben", grade=2)
    close_campaign(access=make_access(collection=world.collection), campaign=campaign, at=NOW)
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    remind(at=NOW + timedelta(days=2))
    assert subjects(world.ada) == []


def test_a_round_is_found_due_and_two_workers_make_one(world: World) -> None:
    make_campaign(world=world)
    assert ("annotation.remind", ()) in list_due()
    remind_people()
    before = list(Notice.objects.values())
    remind_people()
    assert list(Notice.objects.values()) == before
    assert ("annotation.remind", ()) not in list_due()
