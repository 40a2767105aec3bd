"""Pages of campaigns that are not open promise nothing, and no one is at work in them."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns.queries import get_dashboard
from annotation.campaigns.services import close_campaign, reopen_campaign
from annotation.dashboards.monitoring import get_monitor_page
from annotation.guidelines.services import revise_guideline
from annotation.models import Campaign, CampaignAnnotator
from judgments.models import User
from tests.builders import World, make_access, make_world
from tests.builders_annotation import grades_text, label, lease, make_campaign, make_draft

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]

LEAD_PAGES = ("campaign", "campaign-live", "campaign-gold", "campaign-training", "campaign-pairs")


@pytest.fixture
def world() -> World:
    return make_world()


@pytest.fixture
def campaign(world: World) -> Campaign:
    """Open; Ben has labelled two of its pairs a minute ago, each of which wants two labels."""
    campaign = make_campaign(world=world)
    at = timezone.now() - timedelta(minutes=1)
    for seat in lease(campaign=campaign, username="ben", at=at)[:2]:
        label(pair=seat.pair, username="ben", grade=2, at=at)
    return campaign


def close(campaign: Campaign) -> None:
    access = make_access(collection=campaign.list.collection)
    close_campaign(access=access, campaign=campaign, at=timezone.now())
    campaign.refresh_from_db()


def get(name: str, *args: Any, who: str = "ada") -> str:
    client = Client()
    client.force_login(User.objects.get(username=who))
    response = client.get(reverse(name, args=args))
    assert response.status_code == 200, name
    return response.content.decode()


def of(campaign: Campaign, name: str) -> str:
    return get(name, "books", campaign.public_id)


def workers(campaign: Campaign) -> tuple[int, list[bool]]:
    access = make_access(collection=campaign.list.collection)
    page = get_monitor_page(access=access, campaign=campaign, now=timezone.now())
    return page.at_work, [row.is_at_work for row in page.workers if row.username == "ben"]


def test_somebody_who_labelled_just_now_is_at_work_while_the_campaign_is_open(campaign):
    assert workers(campaign) == (1, [True])
    assert "Active now" in of(campaign, "campaign-live")


def test_nobody_is_at_work_in_a_closed_campaign(campaign):
    close(campaign)
    assert workers(campaign)[0] == 0
    page = of(campaign, "campaign-live")
    assert not re.search("(?i)active now|estimated completion|labels to go", page)
    reopen_campaign(
        access=make_access(collection=campaign.list.collection),
        campaign=campaign,
        at=timezone.now(),
    )
    campaign.refresh_from_db()
    assert workers(campaign) == (1, [True])


@pytest.mark.parametrize("changed", [{"paused": "Wait."}, {"is_active": False}])
def test_who_is_paused_or_has_left_is_not_at_work(campaign, changed):
    CampaignAnnotator.objects.filter(campaign=campaign, user__username="ben").update(**changed)
    assert workers(campaign) == (0, [False])


def test_the_plan_of_a_closed_campaign_is_not_offered_for_change(campaign):
    close(campaign)
    page = of(campaign, "campaign-change")
    assert 'data-campaign-state="closed"' in page
    assert 'name="overlap"' not in page
    assert "campaign is open" not in page


def test_the_plan_of_an_open_campaign_says_that_its_guideline_can_be_revised(campaign):
    page = of(campaign, "campaign-change")
    assert 'name="overlap"' in page
    assert "the guideline can be revised" in page


def test_a_closed_campaign_that_lacks_labels_is_not_called_done(campaign):
    assert "data-labels-missing" not in of(campaign, "campaign")
    close(campaign)
    page = of(campaign, "campaign")
    assert 'data-labels-missing="28"' in page
    assert "<strong>Done.</strong>" not in page


def test_no_pair_of_a_closed_campaign_is_called_open(campaign):
    assert re.search(r'class="badge[^>]*>\s*open', of(campaign, "campaign-pairs"))
    close(campaign)
    assert not re.search(r'class="badge[^>]*>\s*open', of(campaign, "campaign-pairs"))


@pytest.mark.parametrize("name", ["campaign-gold", "campaign-training"])
def test_what_is_changed_in_a_closed_campaign_is_said_to_wait(campaign, name):
    assert "data-campaign-state" not in of(campaign, name)
    close(campaign)
    assert 'data-campaign-state="closed"' in of(campaign, name)


@pytest.mark.parametrize("name", LEAD_PAGES)
def test_a_draft_has_every_page_and_nobody_at_work(world, name):
    draft = make_draft(world=world)
    assert not re.search("(?i)active now|estimated completion", of(draft, name))


def test_who_revises_a_guideline_of_closed_campaigns_is_told_that_nobody_labels_by_it(campaign):
    args = ("guideline-revise", "books", campaign.guideline_id)
    assert "Annotators see the new one immediately" in get(*args)
    close(campaign)
    assert "Annotators see the new one immediately" not in get(*args)


def test_an_annotator_is_not_sent_back_to_labelling_in_a_closed_campaign(campaign):
    args = (campaign.public_id,)
    assert "Back to labelling" in get("label-feedback", *args, who="ben")
    close(campaign)
    for name in ("label-feedback", "label-own-work"):
        assert "Back to labelling" not in get(name, *args, who="ben")


def test_a_closed_campaign_shows_the_guideline_that_its_labels_were_made_under(campaign):
    close(campaign)
    access = make_access(collection=campaign.list.collection)
    revise_guideline(
        access=access,
        at=timezone.now(),
        guideline=campaign.guideline,
        judgment_list=campaign.list,
        text="Quite another text.",
        grades=grades_text(judgment_list=campaign.list),
    )

    def shown() -> list[bool]:
        pages = [get("campaign", "books", campaign.public_id, who=who) for who in ("ben", "dora")]
        return ["Quite another text." in page for page in pages]

    def revision() -> int:
        now = timezone.now()
        return get_dashboard(access=access, campaign=campaign, now=now).guideline_revision

    assert (shown(), revision()) == ([False, False], 1)
    reopen_campaign(access=access, campaign=campaign, at=timezone.now())
    campaign.refresh_from_db()
    assert revision() == 2
    assert "Quite another text." in get("campaign", "books", campaign.public_id, who="ben")
