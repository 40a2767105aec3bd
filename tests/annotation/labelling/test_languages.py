"""The labelling page's script in each language, and what REST says to an annotator."""

import re
import uuid

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.gold.actions import BY_LEAD
from annotation.labelling.script_views import get_script
from annotation.models import Campaign
from tests.builders import NOW, World, make_world
from tests.builders_annotation import lease, make_campaign

pytestmark = pytest.mark.django_db
GERMAN = {"accept-language": "de"}
ENGLISH = {"accept-language": "en"}
ASK = {"count": 1, "held": [], "begins": False, "characters": None}


@pytest.fixture
def world() -> World:
    return make_world(queries=2, documents=4)


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_campaign(world=world)


def script_of(page: str) -> str:
    (found,) = re.findall(r'src="(/label/script-[0-9a-f]{16}\.js)"', page)
    return str(found)


def test_each_language_has_a_script_of_its_own_that_a_browser_keeps(
    client: Client, world: World, campaign: Campaign
) -> None:
    client.force_login(world.ben)
    label = reverse("label", args=[campaign.public_id])
    pages = {
        name: client.get(label, headers=headers).text
        for name, headers in (("de", GERMAN), ("en", ENGLISH))
    }
    assert "Unklar" in pages["de"]
    assert "Unklar" not in pages["en"]
    german, english = (script_of(pages[name]) for name in ("de", "en"))
    assert german != english
    for address, said, other in (
        (german, "Alles gespeichert", "All saved"),
        (english, "All saved", "Alles gespeichert"),
    ):
        # whatever the browser asks for: the address names the script
        script = client.get(address, headers=GERMAN)
        assert said in script.text
        assert other not in script.text
        assert "immutable" in script["Cache-Control"]


def test_a_script_from_before_an_update_comes_in_the_reader_s_language(
    client: Client, world: World
) -> None:
    old = reverse("label-script", args=["0123456789abcdef"])
    script = client.get(old, headers=GERMAN)
    assert script.text == get_script("de").text
    assert script["Cache-Control"] == "no-store"
    assert client.get(old).text == get_script("en").text


def test_a_refused_label_says_why_in_the_reader_s_language(
    client: Client, world: World, campaign: Campaign
) -> None:
    client.force_login(world.ben)
    (seat, *_) = lease(campaign=campaign, username="ben")
    label = {
        "id": str(uuid.uuid4()),
        "assignment": str(seat.public_id),
        "guideline_revision": 1,
        "made_at": NOW.isoformat(),
        "grade": 9,
    }
    address = reverse("api-campaign-labels", args=[campaign.public_id])
    for headers, words in (
        (GERMAN, "Die Skala hat keine Stufe 9."),
        (ENGLISH, "The scale has no grade 9."),
    ):
        answer = client.post(
            address, {"labels": [label]}, content_type="application/json", headers=headers
        )
        (receipt,) = answer.json()["labels"]
        assert (receipt["code"], receipt["message"]) == ("grade_unknown", words)


def test_what_is_stored_in_english_is_shown_in_the_reader_s_language(
    client: Client, world: World, campaign: Campaign
) -> None:
    campaign.annotators.filter(user=world.ben).update(paused=BY_LEAD)
    client.force_login(world.ben)
    address = reverse("api-campaign-next", args=[campaign.public_id])
    assert client.get(address, headers=ENGLISH).json()["paused"] == BY_LEAD
    said = client.get(address, headers=GERMAN).json()["paused"]
    assert said.startswith("Die Leitung dieser Kampagne hat Ihre Arbeit angehalten")


def test_a_label_in_another_language_asks_the_database_for_nothing_more(
    client: Client, world: World, campaign: Campaign
) -> None:
    client.force_login(world.ben)
    address = reverse("api-campaign-labels", args=[campaign.public_id])
    seats = lease(campaign=campaign, username="ben", count=4)
    counts = []
    for seat, headers in zip(seats, (ENGLISH, ENGLISH, GERMAN), strict=False):
        label = {
            "id": str(uuid.uuid4()),
            "assignment": str(seat.public_id),
            "guideline_revision": 1,
            "made_at": NOW.isoformat(),
            "grade": 2,
        }
        with CaptureQueriesContext(connection) as queries:
            answer = client.post(
                address, {"labels": [label]}, content_type="application/json", headers=headers
            )
        assert answer.json()["labels"][0]["status"] == "stored"
        counts.append(len(queries))
    assert counts[1] == counts[2]
