"""The pages on which deadlines and budgets are set."""

from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Campaign
from judgments.models import Budget
from tests.annotation.page_reading import client_of
from tests.builders import World, make_world
from tests.builders_annotation import label, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(queries=1, documents=3)


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_campaign(world=world)


def post(url: str, **data: Any) -> str:
    return client_of("ada").post(url, {"warn_percent": 80, **data}, follow=True).text


def test_a_lead_sets_deadline_target_price_and_limits(world: World, campaign: Campaign) -> None:
    label(pair=campaign.pairs.select_related("campaign")[0], username="ben", grade=2)
    url = reverse("campaign-budget", args=["books", campaign.public_id])
    page = post(
        url,
        due_on="2026-01-31",
        daily_target=40,
        label_price="0.25",
        labels_total=1,
        money_month="12.50",
        stops="on",
    )
    assert 'value="0.25"' in page
    assert 'value="12.50"' in page
    assert "0.00 EUR" in page or "0.25 EUR" in page
    assert "used up" in page
    shown = client_of("ada").get(reverse("campaign", args=["books", campaign.public_id])).text
    assert "31 Jan 2026" in shown
    assert "overdue" in shown
    assert "40 labels per person and day" in shown
    post(url, due_on="", daily_target="", label_price="", labels_total="", money_month="")
    assert not Budget.objects.exists()


def test_money_needs_a_price(world: World, campaign: Campaign) -> None:
    url = reverse("campaign-budget", args=["books", campaign.public_id])
    assert "Enter the price of a label as well." in post(url, money_total="5")
    assert not Budget.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"), [("labels_total", "0"), ("money_total", "x"), ("warn_percent", "101")]
)
def test_what_makes_no_sense_is_refused(world: World, field: str, value: str) -> None:
    page = post(reverse("collection-budget", args=["books"]), **{field: value})
    assert "error" in page
    assert not Budget.objects.exists()
