"""Gold as leads see it, and as no one else does."""

import pytest
from django.urls import reverse

from annotation.gold.services import mark_gold
from annotation.models import Campaign, CheckPlan, GoldItem, Pair
from tests.annotation.page_reading import client_of, of, words
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import label, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    world = make_world()
    return world, make_campaign(world=world)


def first(campaign: Campaign) -> Pair:
    return campaign.pairs.select_related("campaign__list").order_by("pk")[0]


def test_a_lead_makes_a_pair_gold_on_its_page_and_retires_it(campaign: Campaign) -> None:
    ada, pair = client_of("ada"), first(campaign)
    said = {"low": 3, "high": 4, "gold_reason": "The title says it. 📁"}
    page = ada.post(reverse("pair-gold", args=["books", pair.pk]), said, follow=True)
    assert "3 to 4 are right for this pair" in words(page)
    assert "The title says it. 📁" in words(ada.get(of("campaign-gold", campaign)))
    item = GoldItem.objects.get()
    page = ada.post(reverse("gold-retire", args=["books", item.pk]), follow=True)
    assert "No gold yet" in words(page)
    assert "The title says it. 📁" in words(
        ada.get(of("campaign-gold", campaign) + "?show=retired")
    )


def test_a_decision_can_make_gold_as_well(campaign: Campaign) -> None:
    pair = first(campaign)
    label(pair=pair, username="ben", grade=2)
    said = {"grade": 2, "reason": "Clear.", "as_gold": "on"}
    client_of("ada").post(reverse("pair", args=["books", pair.pk]), said)
    item = GoldItem.objects.get()
    assert (item.pair_id, item.low, item.high, item.reason) == (pair.pk, 2, 2, "Clear.")
    assert pair.adjudications.get().grade == 2


def test_the_lead_says_how_much_is_planted(campaign: Campaign) -> None:
    said = {"gold_percent": 5, "repeat_percent": 3, "when_used_up": "go_on", "feedback_after": 10}
    page = client_of("ada").post(of("campaign-gold", campaign), said, follow=True)
    plan = CheckPlan.objects.get(campaign=campaign)
    assert (plan.gold_percent, plan.repeat_percent, plan.when_used_up) == (5, 3, "go_on")
    assert "5 %" in words(page)
    assert "5 % of pairs shown are gold" in words(client_of("ada").get(of("campaign", campaign)))


def test_little_gold_is_said_to_be_little(campaign: Campaign, world: World) -> None:
    ada = make_access(collection=world.collection)
    CheckPlan.objects.create(campaign=campaign, gold_percent=5)
    assert "Not enough gold" in words(client_of("ada").get(of("campaign-gold", campaign)))
    mark_gold(access=ada, pair=first(campaign), low=3, high=3, reason="", at=NOW)
    assert "Not enough gold" not in words(client_of("ada").get(of("campaign-gold", campaign)))


def test_no_grade_is_gold_by_a_slip_and_one_grade_is_enough(campaign: Campaign) -> None:
    ada, pair = client_of("ada"), first(campaign)
    place = reverse("pair-gold", args=["books", pair.pk])
    page = ada.get(reverse("pair", args=["books", pair.pk]))
    assert '<option value="" selected>Choose</option>' in page.content.decode()
    refused = ada.post(place, {"low": "", "high": ""}, follow=True)
    assert "Choose the right grade" in words(refused)
    assert not GoldItem.objects.exists()
    ada.post(place, {"low": 2, "high": ""})
    item = GoldItem.objects.get()
    assert (item.low, item.high) == (2, 2)
