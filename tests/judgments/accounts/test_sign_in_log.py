"""Sign-ins and failures are in the audit log, for administrators."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from judgments.models import AuditEntry
from tests.builders import World, make_user, make_world

pytestmark = pytest.mark.django_db
PASSWORD = "sturdy-otter-42-lamp"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0"


@pytest.fixture
def world() -> World:
    world = make_world()
    world.ben.set_password(PASSWORD)
    world.ben.save(update_fields=["password"])
    return world


def attempt(username: str, password: str) -> None:
    client = Client(headers={"User-Agent": FIREFOX}, REMOTE_ADDR="192.0.2.7")
    client.post(reverse("login"), {"username": username, "password": password})


def logged() -> list[tuple[str, str, str]]:
    """Action, who and about whom, oldest first."""
    entries = AuditEntry.objects.filter(action__startswith="sign_in.").order_by("pk")
    return [(one.action, one.actor.username if one.actor else "", one.subject) for one in entries]


def admin() -> Client:
    client = Client()
    client.force_login(make_user(username="root", is_superuser=True))
    return client


def test_a_sign_in_and_a_failure_are_noted_with_address_and_browser(world: World) -> None:
    attempt("BEN", "a wrong password")
    attempt("ben", PASSWORD)
    assert logged() == [("sign_in.failed", "", "ben"), ("sign_in.succeeded", "ben", "ben")]
    assert AuditEntry.objects.latest("pk").after == {
        "by": "password",
        "address": "192.0.2.7",
        "browser": "Firefox on Linux",
    }


def test_what_is_typed_as_an_unknown_username_is_not_kept(world: World) -> None:
    attempt("my secret password", "x")
    assert logged() == []


def test_attempts_during_a_lock_out_do_not_fill_the_log(world: World, settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    for _ in range(6):
        attempt("ben", "a wrong password")
    attempt("ben", PASSWORD)
    assert [action for action, *_ in logged()] == ["sign_in.failed"] * 3


def test_administrators_read_the_log_of_the_installation_and_filter_it(world: World) -> None:
    attempt("ben", "a wrong password")
    attempt("ben", PASSWORD)
    client = admin()
    page = client.get(reverse("site-audit"), {"action": "sign_in.failed"})
    assert [(row.who, row.subject) for row in page.context["page"].rows] == [("Someone", "ben")]
    # of one person: what they did, and what happened to their account
    file: Any = client.get(reverse("site-audit-file"), {"person": "ben"})
    lines = [json.loads(line) for line in file.getvalue().decode().splitlines()]
    assert {("sign_in.failed", None), ("sign_in.succeeded", "ben")} <= {
        (line["action"], line["actor"]) for line in lines
    }
    assert all(line["subject"] == "ben" or line["actor"] == "ben" for line in lines)
    everything = client.get(reverse("site-audit")).context["page"].rows
    assert {"", "books"} <= {row.collection for row in everything}
    ada = Client()
    ada.force_login(world.ada)
    assert ada.get(reverse("site-audit")).status_code == 404
    assert "sign_in" not in ada.get(reverse("audit", args=["books"])).text
