"""Translated pages are in the reader's language, and all others in English."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import translation

from judgments.models import User
from tests.builders import World

pytestmark = pytest.mark.django_db
GERMAN = {"accept-language": "de-AT,de;q=0.9,en;q=0.5"}


def language_of(text: str) -> str:
    return text.partition('<html lang="')[2].partition('"')[0]


@pytest.mark.parametrize(
    ("accepted", "language", "words"),
    [
        ("de-AT,de;q=0.9,en;q=0.5", "de", "Bei Touchstone anmelden"),
        ("en-GB,de;q=0.5", "en", "Sign in to Touchstone"),
        ("fr", "en", "Sign in to Touchstone"),
        ("", "en", "Sign in to Touchstone"),
        ("de;q=oops, \0", "en", "Sign in to Touchstone"),
    ],
)
def test_who_is_not_signed_in_reads_what_the_browser_asks_for(
    client: Client, world: World, accepted: str, language: str, words: str
) -> None:
    page = client.get(reverse("login"), headers={"accept-language": accepted})
    assert language_of(page.text) == language
    assert words in page.text


def test_an_account_s_language_goes_before_the_browser_s(client: Client, world: World) -> None:
    client.force_login(world.ben)
    page = client.get(reverse("my-campaigns"), headers=GERMAN)
    assert "Noch nichts zu bewerten" in page.text
    assert page["Content-Language"] == "de"
    chosen = client.post(reverse("language"), {"language": "en"}, headers=GERMAN)
    assert chosen.status_code == 302
    page = client.get(reverse("my-campaigns"), headers=GERMAN)
    assert language_of(page.text) == "en"
    assert "Language saved." in page.text
    client.post(reverse("language"), {"language": "auto"}, headers=GERMAN)
    assert User.objects.get(pk=world.ben.pk).language == ""
    page = client.get(reverse("my-campaigns"), headers=GERMAN)
    assert "Sprache gespeichert." in page.text


def test_a_language_that_there_is_not_is_refused(client: Client, world: World) -> None:
    client.force_login(world.ben)
    page = client.post(reverse("language"), {"language": "fr"}, headers=GERMAN)
    assert "Bitte eine gültige Auswahl treffen." in page.text
    assert User.objects.get(pk=world.ben.pk).language == ""


def test_a_page_that_is_not_translated_is_in_english_all_over(client: Client, world: World) -> None:
    client.force_login(world.ada)
    assert language_of(client.get(reverse("home"), headers=GERMAN).text) == "de"
    page = client.get(reverse("members", args=["books"]), headers=GERMAN).text
    assert language_of(page) == "en"
    assert "Change password" in page  # in the menu, which both have
    assert "Passwort" not in page
    missing = client.get("/nowhere", headers=GERMAN).text
    assert language_of(missing) == "en"
    assert "Page not found" in missing


def test_refusals_of_a_translated_page_are_translated(client: Client, world: World) -> None:
    client.force_login(world.ben)
    campaign = "00000000-0000-0000-0000-000000000000"
    missing = client.get(reverse("label", args=[campaign]), headers=GERMAN)
    assert missing.status_code == 404
    assert language_of(missing.text) == "de"
    assert "Seite nicht gefunden" in missing.text
    refused = client.get(reverse("api-campaign-next", args=[campaign]), headers=GERMAN)
    assert refused.json()["detail"] == "Nicht gefunden, oder Sie haben keinen Zugriff darauf."
    assert "Nicht" not in client.get("/api/v1/collections/none", headers=GERMAN).text


def test_a_request_leaves_no_language_behind(client: Client, world: World) -> None:
    client.get(reverse("login"), headers=GERMAN)
    assert translation.get_language() == "en"


def test_another_language_asks_the_database_for_nothing_more(client: Client, world: World) -> None:
    client.force_login(world.ben)
    counts = []
    for headers in ({}, GERMAN):
        with CaptureQueriesContext(connection) as queries:
            client.get(reverse("my-campaigns"), headers=headers)
        counts.append(len(queries))
    assert counts[0] == counts[1]
