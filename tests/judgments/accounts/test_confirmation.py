"""Who changes what does most harm is asked again who they are, unless they just said so."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from judgments.accounts.second_factor import begin_set_up, confirm_set_up
from judgments.accounts.sessions import CONFIRMED
from judgments.accounts.tokens import create_token
from judgments.accounts.totp import STEP, code_at
from judgments.lists.queries import get_version
from judgments.models import ApiToken, Membership, Release, SecondFactor, User
from judgments.secrets.services import read_secret
from tests.builders import World, commit, make_user, make_world

pytestmark = pytest.mark.django_db
PASSWORD = "sturdy-otter-42-lamp"
TOKEN = {"name": "nightly “runs”", "scope": "read", "days": "7"}


@pytest.fixture
def world(settings: Any, tmp_path: Any) -> World:
    settings.HOME = tmp_path  # its encryption key
    world = make_world()
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    for user in (world.ada, make_user(username="root", is_superuser=True)):
        user.set_password(PASSWORD)
        user.save(update_fields=["password"])
    return world


def long_ago(username: str) -> Client:
    """A browser with a sign-in of yesterday."""
    client = Client()
    client.force_login(User.objects.get(username=username))
    store = client.session
    store[CONFIRMED] = int(time.time()) - 24 * 3600
    store.save()
    return client


def role_of_ben() -> str:
    return Membership.objects.get(user__username="ben").role


@dataclass(frozen=True)
class Change:
    """A form that is sent, and whether it was done."""

    username: str
    name: str
    path: dict[str, Any]
    data: dict[str, str]
    is_done: Callable[[], bool]


CHANGES = [
    Change("ada", "tokens", {}, TOKEN, ApiToken.objects.exists),
    # else a person who finds a browser open locks its owner out
    Change("ada", "second-factor-begin", {}, {}, SecondFactor.objects.exists),
    Change(
        "ada",
        "member-role",
        {"slug": "books", "username": "ben"},
        {"role": "researcher"},
        lambda: role_of_ben() == "researcher",
    ),
    Change(
        "ada",
        "release",
        {"slug": "books", "list_slug": "main", "number": 1},
        {"name": "spring"},
        Release.objects.exists,
    ),
    Change(
        "root",
        "account-act",
        {"username": "ben", "act": "make-administrator"},
        {},
        lambda: User.objects.get(username="ben").is_superuser,
    ),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_an_old_session_changes_nothing_without_the_password(world: World, change: Change) -> None:
    client, address = long_ago(change.username), reverse(change.name, kwargs=change.path)
    asked = client.post(address, change.data)
    assert (asked.status_code, change.is_done()) == (403, False)
    # what was filled in is sent once more, with the password
    assert dict(asked.context["form"].passed_on) == change.data
    wrong = client.post(address, change.data | {"confirm_secret": "a wrong password"})
    assert (wrong.status_code, change.is_done()) == (403, False)
    assert wrong.context["form"].errors["confirm_secret"]
    done = client.post(address, change.data | {"confirm_secret": PASSWORD})
    assert done.status_code in (200, 302)
    assert change.is_done()


def test_the_answer_counts_for_a_while_and_reading_needs_none(world: World) -> None:
    client = long_ago("ada")
    assert client.get(reverse("tokens")).status_code == 200
    client.post(reverse("tokens"), TOKEN | {"confirm_secret": PASSWORD})
    client.post(reverse("tokens"), TOKEN)
    assert ApiToken.objects.count() == 2
    assert not client.get(reverse("tokens")).context["form"].is_bound


def test_wrong_passwords_lock_out_as_at_the_sign_in(world: World, settings: Any) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    client = long_ago("ada")
    said = TOKEN | {"confirm_secret": "a wrong password"}
    assert [client.post(reverse("tokens"), said).status_code for _ in range(3)] == [403, 403, 429]
    (kept,) = AccessAttempt.objects.values_list("post_data", flat=True)
    assert "a wrong password" not in kept
    assert TOKEN["name"] not in kept
    right = client.post(reverse("tokens"), TOKEN | {"confirm_secret": PASSWORD})
    assert (right.status_code, ApiToken.objects.exists()) == (429, False)


def test_who_has_a_second_factor_is_asked_for_a_code(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: moment)
    step = int(moment.timestamp()) // STEP
    begin_set_up(user=world.ada, at=moment)
    origin = f"second-factor:{world.ada.public_id}"
    secret = read_secret(secret=world.ada.second_factor.secret, origin=origin)
    confirm_set_up(user=world.ada, code=code_at(secret, step - 1), at=moment)
    client = long_ago("ada")
    client.post(reverse("tokens"), TOKEN | {"confirm_secret": PASSWORD})
    assert not ApiToken.objects.exists()
    client.post(reverse("tokens"), TOKEN | {"confirm_secret": code_at(secret, step)})
    assert ApiToken.objects.count() == 1


def test_who_has_no_password_here_is_asked_to_sign_in_again(world: World) -> None:
    world.ada.set_unusable_password()
    world.ada.save(update_fields=["password"])
    asked = long_ago("ada").post(reverse("tokens"), TOKEN | {"confirm_secret": ""})
    assert (asked.status_code, asked.context["form"].proof) == (403, "sign_on")
    assert not ApiToken.objects.exists()


def test_over_rest_an_old_session_is_refused_and_a_token_is_not(world: World) -> None:
    address = "/api/v1/collections/books/lists/main/releases/"
    said: dict[str, Any] = {"data": {"name": "spring"}, "content_type": "application/json"}
    refused = long_ago("ada").post(address, **said)
    assert (refused.status_code, refused.json()["code"]) == (403, "confirmation_required")
    _, text = create_token(by=world.ada, name="ci", scope="write", days=7, at=timezone.now())
    script = Client(headers={"Authorization": f"Bearer {text}"})
    assert script.post(address, **said).status_code == 201
    assert get_version(judgment_list=world.judgments).number == 1


def test_a_new_session_is_asked_nothing(world: World) -> None:
    client = Client()
    client.post(reverse("login"), {"username": "ada", "password": PASSWORD})
    assert client.post(reverse("tokens"), TOKEN).context["made"]
