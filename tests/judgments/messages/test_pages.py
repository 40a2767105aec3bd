"""The bell, the page of notices, and the settings."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from judgments.messages.services import notify
from judgments.models import MessageChoice, Notice, User
from tests.builders import NOW, World

pytestmark = pytest.mark.django_db


def client_of(username: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=username))
    return client


def tell(world: World, key: str = "k") -> Notice:
    notify(
        kind="report",
        key=key,
        people=[world.ada],
        payload={"campaign": "<First>", "collection": "Books"},
        page=("collection", "books"),
        collection=world.collection,
        at=NOW,
    )
    return Notice.objects.get(key=key)


def test_the_bell_counts_what_is_unread(world: World) -> None:
    ada = client_of("ada")
    assert "unread:" not in ada.get("/c/books").text
    tell(world)
    tell(world, "other")
    assert 'unread:</span><span class="badge is-info">2</span>' in ada.get("/c/books").text


def test_opening_a_notice_marks_it_as_read_and_leads_to_its_page(world: World) -> None:
    notice = tell(world)
    ada = client_of("ada")
    page = ada.get(reverse("notices")).text
    assert "&lt;First&gt;: the quality report is ready" in page
    answer = ada.post(reverse("notice-open", args=[notice.public_id]))
    assert answer["Location"] == "/c/books"
    assert "unread:" not in ada.get("/c/books").text


def test_a_notice_can_be_marked_as_read_without_opening_it(world: World) -> None:
    notice = tell(world)
    answer = client_of("ada").post(reverse("notice-open", args=[notice.public_id]), {"stay": "1"})
    assert answer["Location"] == reverse("notices")
    notice.refresh_from_db()
    assert notice.read_at is not None


def test_the_settings_say_that_e_mail_is_off(world: World) -> None:
    page = client_of("ada").get(reverse("message-settings")).text
    assert "this server sends no e-mail" in page
    assert 'name="address"' not in page


def test_what_is_chosen_is_kept(world: World, settings: Any) -> None:
    settings.MAIL_ON = True
    ada, url = client_of("ada"), reverse("message-settings")
    ada.post(url, {"wanted": ["report email"]})
    assert MessageChoice.objects.filter(user=world.ada, is_on=True).count() == 1
    page = ada.get(url).text
    assert page.count("checked") == 1
    assert "ada@people.example" in page
    answer = ada.post(reverse("message-address"), {"address": "not one"})
    assert "valid email address" in answer.text
