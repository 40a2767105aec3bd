"""A forgotten password: by e-mail, and by a link from an administrator."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from judgments.accounts.password_reset import create_reset_token
from judgments.accounts.services import resume_account
from judgments.accounts.tokens import create_token
from judgments.messages.sending import send_due
from judgments.models import ApiToken, AuditEntry, OutboxMessage, User
from judgments.permissions import NotFound
from tests.builders import NOW, World

pytestmark = pytest.mark.django_db
NEW = "an entirely new phrase"


@pytest.fixture
def mail_on(settings: Any) -> None:
    settings.MAIL_ON, settings.SITE_URL = True, "https://labels.example"


def link_for(user: User) -> str:
    token = create_reset_token(user=user, by=None, at=NOW)
    return reverse("password-reset", args=[user.public_id, token])


def ask(username: str) -> str:
    answer = Client().post(reverse("password-forgotten"), {"username": username})
    assert answer.status_code == 200
    return re.sub(r"\b\w{64}\b", "", answer.text)  # the tokens of its forms


def test_a_link_sets_a_password_once_and_ends_sessions_and_tokens(world: World) -> None:
    create_token(by=world.ben, name="t", scope="read", days=7, at=timezone.now())
    elsewhere = Client()
    elsewhere.force_login(world.ben)
    link = link_for(world.ben)
    assert Client().get(link).status_code == 200
    answer = Client().post(link, {"password": NEW})
    assert (answer.status_code, answer["Location"]) == (302, reverse("login"))
    world.ben.refresh_from_db()
    assert world.ben.check_password(NEW)
    assert not ApiToken.objects.exists()
    assert elsewhere.get(reverse("tokens")).status_code == 302
    assert Client().get(link).status_code == 404
    actions = AuditEntry.objects.filter(action__startswith="password.").order_by("pk")
    assert [entry.action for entry in actions] == [
        "password.reset_link_created",
        "password.changed",
    ]


def test_a_weak_password_is_refused_and_the_link_still_works(world: World) -> None:
    link = link_for(world.ben)
    answer = Client().post(link, {"password": "short"})
    assert answer.status_code == 200
    assert "at least 12" in answer.text
    assert Client().get(link).status_code == 200


def test_a_link_ends_with_the_next_sign_in_and_after_a_day(world: World, settings: Any) -> None:
    link = link_for(world.ben)
    User.objects.filter(pk=world.ben.pk).update(last_login=timezone.now() + timedelta(seconds=2))
    assert Client().get(link).status_code == 404
    link = link_for(User.objects.get(pk=world.ben.pk))
    assert Client().get(link).status_code == 200
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert Client().get(link).status_code == 404


def test_a_suspended_account_gets_no_link_and_a_link_does_not_resume_it(world: World) -> None:
    link = link_for(world.ben)
    User.objects.filter(pk=world.ben.pk).update(is_active=False, suspended_at=NOW)
    world.ben.refresh_from_db()
    assert Client().get(link).status_code == 404
    with pytest.raises(NotFound):
        create_reset_token(user=world.ben, by=None, at=NOW)
    assert resume_account(user=world.ben, by=None, at=NOW)


def test_a_link_of_one_account_does_not_work_for_another(world: World) -> None:
    token = create_reset_token(user=world.ben, by=None, at=NOW)
    other = reverse("password-reset", args=[world.cem.public_id, token])
    assert Client().get(other).status_code == 404


def test_without_a_mail_server_there_is_nothing_to_ask_for(world: World) -> None:
    assert "Forgot your password?" not in Client().get(reverse("login")).text
    assert Client().get(reverse("password-forgotten")).status_code == 404


@pytest.mark.usefixtures("mail_on")
def test_a_forgotten_password_is_reset_by_e_mail(world: World) -> None:
    assert "Forgot your password?" in Client().get(reverse("login")).text
    ask("BEN")
    ask("ben")  # within the hour: the same message
    assert send_due(clock=timezone.now) == 1
    (message,) = mail.outbox
    assert message.to == ["ben@people.example"]
    (link,) = re.findall(r"https://labels\.example(/password/reset/\S+)", str(message.body))
    assert Client().post(link, {"password": NEW}).status_code == 302
    world.ben.refresh_from_db()
    assert world.ben.check_password(NEW)


@pytest.mark.usefixtures("mail_on")
def test_the_answer_does_not_tell_whether_there_is_such_an_account(world: World) -> None:
    User.objects.filter(username="cem").update(email="")
    assert ask("ben") == ask("nobody") == ask("cem")
    assert OutboxMessage.objects.count() == 1
