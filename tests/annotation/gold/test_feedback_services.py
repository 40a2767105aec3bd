"""What annotators are told of their own labels: in batches, mixed, and only their own."""

import pytest
from django.urls import reverse

from annotation.adjudication.services import adjudicate
from annotation.consolidation.services import consolidate
from annotation.gold.services import change_checks, mark_gold
from annotation.models import Campaign, Feedback, GoldItem, Label
from tests.annotation.gold.test_actions import check
from tests.annotation.page_reading import client_of, of, words
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import label, make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    """The pairs of q2 are gold; of q1 three are decided, six are agreed upon."""
    world = make_world(queries=2, documents=12)
    campaign = make_campaign(world=world)
    ada = make_access(collection=world.collection)
    for pair in campaign.pairs.select_related("campaign__list").filter(query__qid="q2"):
        mark_gold(access=ada, pair=pair, low=3, high=4, reason="The title has it.", at=NOW)
    plain = campaign.pairs.select_related("campaign", "list").filter(query__qid="q1")
    for number, pair in enumerate(plain.order_by("pk")[:9]):
        for username in ("ben", "cem"):
            label(pair=pair, username=username, grade=2)
        if number < 3:
            adjudicate(access=ada, pair=pair, grade=1, reason="Only a mention.", at=NOW)
    consolidate(list_id=campaign.list_id, at=NOW)
    return world, campaign


def address(campaign: Campaign) -> str:
    return reverse("label-feedback", args=[campaign.public_id])


def test_feedback_comes_after_enough_checks_and_is_mixed(world: World, campaign: Campaign) -> None:
    ada = make_access(collection=world.collection)
    change_checks(access=ada, campaign=campaign, at=NOW, feedback_after=5)
    check(campaign, [0, 4, 4, 4])
    assert not Feedback.objects.exists()
    assert "No feedback yet" in words(client_of("ben").get(address(campaign)))
    check(campaign, [3], start=4)
    items = Feedback.objects.get().items
    told = Label.objects.filter(pk__in=[item["label"] for item in items])
    assert told.filter(annotator=world.ben).count() == len(items) == 10
    gold = set(GoldItem.objects.values_list("pair", flat=True))
    assert sum(one.pair_id in gold for one in told) == 5
    page = words(client_of("ben").get(address(campaign)))
    assert "The title has it." in page
    assert "of 10 as agreed" in page
    assert "gold" not in page.lower()
    assert "There is feedback" in words(
        client_of("ben").get(reverse("label", args=[campaign.public_id]))
    )
    assert "Feedback" in words(client_of("ben").get(of("campaign", campaign)))
    assert "No feedback yet" in words(client_of("cem").get(address(campaign)))


def test_nobody_is_told_twice_of_the_same_label(world: World, campaign: Campaign) -> None:
    ada = make_access(collection=world.collection)
    change_checks(access=ada, campaign=campaign, at=NOW, feedback_after=5)
    check(campaign, [4] * 10)
    told = [item["label"] for one in Feedback.objects.all() for item in one.items]
    assert len(told) == len(set(told)) == 10 + 9


def test_without_the_leads_leave_nobody_is_told_anything(campaign: Campaign) -> None:
    check(campaign, [0] * 12)
    assert not Feedback.objects.exists()
