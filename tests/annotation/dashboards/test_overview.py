"""What a collection's overview says of campaigns: each step once it can be done, to whom it may."""

import pytest

from annotation.campaigns.queries import list_candidates
from annotation.campaigns.services import close_campaign
from annotation.tasks import consolidate_list, refresh_campaign_quality
from judgments.collections.overview_parts import Standing, Step, list_standings, list_steps
from judgments.members.services import end_membership
from judgments.permissions import Access
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import label, make_campaign, make_draft, make_guideline

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(queries=1, documents=2)


def steps_of(world: World, username: str) -> dict[str, Step]:
    access: Access = make_access(collection=world.collection, username=username)
    return {step.title: step for step in list_steps(access)}


def standings_of(world: World, username: str) -> list[Standing]:
    access = make_access(collection=world.collection, username=username)
    return [card for card in list_standings(access) if card.kind.startswith("Campaign")]


def test_a_lead_is_led_from_the_guideline_to_an_open_campaign(world: World) -> None:
    steps = steps_of(world, "ada")
    assert not steps["Write the guideline"].is_done
    assert steps["Write the guideline"].url
    assert steps["Create a campaign"].url == ""
    make_guideline(world=world)
    steps = steps_of(world, "ada")
    assert steps["Write the guideline"].is_done
    assert steps["Create a campaign"].url
    make_campaign(world=world)
    steps = steps_of(world, "ada")
    assert all(steps[title].is_done for title in ("Create a campaign", "Open the campaign"))


def test_a_campaign_without_pairs_wants_its_pool(world: World) -> None:
    make_draft(world=world, pairs=[])
    step = steps_of(world, "ada")["Build its pool"]
    assert not step.is_done
    assert step.url.endswith("/pool")


def test_an_annotator_is_led_to_the_campaign_while_it_is_open_and_to_nothing_else(
    world: World,
) -> None:
    campaign = make_campaign(world=world, name="Spring")
    assert list(steps_of(world, "ben")) == ["Label in Spring"]
    close_campaign(access=make_access(collection=world.collection), campaign=campaign, at=NOW)
    assert steps_of(world, "ben") == {}


def test_a_researcher_hears_nothing_of_campaigns(world: World) -> None:
    make_campaign(world=world)
    titles = set(steps_of(world, "dora"))
    assert titles.isdisjoint({"Write the guideline", "Create a campaign", "Open the campaign"})


def test_whoever_left_can_no_longer_be_added_to_a_campaign(world: World) -> None:
    draft = make_draft(world=world)
    ada = make_access(collection=world.collection)
    before = {user.username for user in list_candidates(access=ada, campaign=draft)}
    end_membership(access=ada, username="dora", at=NOW)
    after = {user.username for user in list_candidates(access=ada, campaign=draft)}
    assert before - after == {"dora"}


def test_a_lead_sees_at_a_glance_how_far_campaigns_are_and_what_their_reports_say(
    world: World,
) -> None:
    make_draft(world=world, name="Later")
    campaign = make_campaign(world=world, name="Spring")
    (card,) = standings_of(world, "ada")
    assert (card.title, card.kind, card.verdict) == ("Spring", "Campaign, open", "")
    assert (card.done, card.total) == (0, 2)
    for pair in campaign.pairs.select_related("campaign"):
        for username in ("ben", "cem"):
            label(pair=pair, username=username, grade=1)
    consolidate_list(world.judgments.pk)
    refresh_campaign_quality(campaign.pk)
    (card,) = standings_of(world, "ada")
    assert (card.done, card.tone) == (2, "warn")
    assert card.verdict
    assert standings_of(world, "ben") == standings_of(world, "dora") == []
