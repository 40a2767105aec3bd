"""Pages of training for leads and annotators, and an annotator's own work."""

import re

import pytest
from django.urls import reverse

from annotation.campaigns.services import close_campaign
from annotation.consolidation.services import consolidate
from annotation.gold.services import change_checks, mark_gold
from annotation.labelling.own_work import get_own_work
from annotation.labelling.services import submit_label
from annotation.models import Campaign
from tests.annotation.page_reading import client_of, links, of, words
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import context_of, lease, make_campaign, said

pytestmark = pytest.mark.django_db
SETTINGS = {"training_pairs": 3, "training_percent": 100, "training_tries": 1}


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    """Every other pair is gold: 4 is right."""
    world = make_world(queries=4, documents=10)
    made = make_campaign(world=world, overlap=1)
    access = make_access(collection=world.collection)
    for pair in made.pairs.select_related("campaign__list").order_by("pk")[::2]:
        mark_gold(access=access, pair=pair, low=4, high=4, reason="It is just that.", at=NOW)
    return world, made


def test_a_lead_asks_for_training_sees_who_passed_and_decides(campaign: Campaign) -> None:
    ada, page = client_of("ada"), of("campaign-training", campaign)
    assert page in links(ada.get(of("campaign", campaign)))
    assert page in links(ada.get(of("campaign-gold", campaign)))
    assert "No training" in words(ada.get(page))
    for wrong in ({"training_pairs": 2}, {"training_percent": 0}, {"training_tries": 11}):
        assert ada.post(page, SETTINGS | wrong).status_code == 200
    assert ada.post(page, SETTINGS).status_code == 302
    seats = lease(campaign=campaign, username="ben")
    for seat in seats:
        submit_label(
            context=context_of(campaign, "ben"), submission=said(seat=seat, grade=0), at=NOW
        )
    seen = words(ada.get(page))
    assert "needs your decision" in seen
    assert "0 right of 3" in seen
    assert "1 person waits for you" in words(ada.get(of("campaign", campaign)))
    refused = ada.post(of("campaign-training-pass", campaign, username="dora"))
    assert refused.status_code == 404
    ada.post(of("campaign-training-pass", campaign, username="ben"))
    assert "passed by Ada" in words(ada.get(page))
    again = ada.post(of("campaign-training-again", campaign, username="ben"), follow=True)
    assert "training was reset" in words(again)


def own_work(campaign: Campaign) -> str:
    return reverse("label-own-work", args=[campaign.public_id])


def test_ones_own_page_moves_with_every_label_alike_until_the_campaign_is_closed(
    world: World, campaign: Campaign
) -> None:
    access = make_access(collection=world.collection)
    plan = {"gold_percent": 30, "repeat_percent": 10}
    change_checks(access=access, campaign=campaign, at=NOW, **plan)
    ben = client_of("ben")
    assert "Nothing labelled yet" in words(ben.get(own_work(campaign)))
    assert own_work(campaign) in links(ben.get(reverse("my-campaigns")))
    assert own_work(campaign) in links(ben.get(of("campaign", campaign)))
    context, count, met, shapes = context_of(campaign, "ben"), 0, set[str](), set[str]()
    while seats := lease(campaign=campaign, username="ben"):
        for seat in seats:
            submit_label(context=context, submission=said(seat=seat, grade=3), at=NOW)
            consolidate(list_id=campaign.list_id, at=NOW)
            count += 1
            seat.refresh_from_db()  # with its label, a stand-in's seat is one of the gold pair
            met.add(seat.purpose)
            own = get_own_work(context)
            graded = {share.shown.code: share.labels for share in own.grades if share.shown}
            assert (own.labels, own.days[0].labels, own.seconds) == (count, count, 4.5)
            assert graded == {0: 0, 1: 0, 2: 0, 3: count, 4: 0}
            # and nothing else differs
            shapes.add(re.sub(r"\d+", "", words(ben.get(own_work(campaign)))))
    assert {"pool", "gold"} <= met
    assert len(shapes) == 1
    assert "Matches final grade" not in words(ben.get(own_work(campaign)))
    close_campaign(access=access, campaign=campaign, at=NOW)
    assert "Matches final grade" in words(ben.get(own_work(campaign)))
