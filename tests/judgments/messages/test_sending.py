"""The outbox: claimed, sent once, tried again, given up, dropped."""

import smtplib
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.mail import EmailMessage

from config.sweep import list_due
from judgments.messages import email
from judgments.messages.kinds import EMAIL
from judgments.messages.sending import LEASE, _claim, send_due
from judgments.messages.services import choose_messages, notify
from judgments.models import Notice, OutboxMessage
from judgments.tasks import send_messages
from tests.builders import NOW, World

pytestmark = pytest.mark.django_db
WORDS = {"campaign": "First", "collection": "Books"}


@pytest.fixture(autouse=True)
def mail_server(settings: Any) -> None:
    """As if an administrator had named a mail server; pytest-django keeps what is sent."""
    settings.MAIL_ON = True
    settings.SITE_URL = "https://labels.example"
    settings.DEFAULT_FROM_EMAIL = "touchstone@labels.example"


def tell(world: World, key: str = "campaign:1:report", at: datetime = NOW) -> None:
    notify(
        kind="report",
        key=key,
        people=[world.ada],
        payload=WORDS,
        page=("collection", "books"),
        collection=world.collection,
        at=at,
    )


def send(at: datetime = NOW) -> int:
    return send_due(clock=lambda: at)


def refuse(monkeypatch: pytest.MonkeyPatch, error: Exception) -> list[int]:
    """A mail server that answers with an error; how often it was asked."""
    asked: list[int] = []

    def fail(message: EmailMessage, **_: Any) -> int:
        asked.append(1)
        raise error

    monkeypatch.setattr(EmailMessage, "send", fail)
    return asked


def test_an_event_is_mailed_once_with_its_words_and_a_link(world: World) -> None:
    tell(world)
    tell(world)
    assert (send(), send()) == (1, 0)
    (sent,) = mail.outbox
    assert sent.to == ["ada@people.example"]
    assert sent.subject == "First: the quality report is ready"
    assert "https://labels.example/c/books" in sent.body
    assert "https://labels.example/account/messages" in sent.body
    assert Notice.objects.count() == 1


def test_what_was_sent_is_not_kept(world: World) -> None:
    tell(world)
    send()
    row = OutboxMessage.objects.get()
    assert (row.state, row.payload, row.address, row.page) == ("sent", {}, "", "")
    assert row.ended_at == NOW


def test_a_message_that_waits_is_found_by_the_sweep_and_sent_by_the_task(world: World) -> None:
    tell(world)
    assert ("judgments.send_messages", ()) in list_due()
    send_messages()
    send_messages()
    assert len(mail.outbox) == 1
    assert ("judgments.send_messages", ()) not in list_due()


def test_a_killed_worker_delays_a_message_and_loses_none(world: World) -> None:
    tell(world)
    assert _claim(NOW) is not None  # and nothing more was heard of this worker
    assert send(NOW + LEASE / 2) == 0
    assert send(NOW + LEASE) == 1
    assert len(mail.outbox) == 1
    assert OutboxMessage.objects.get().attempts == 2


def test_a_worker_that_was_thought_dead_ends_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(world)
    late = NOW + LEASE

    def slow(message: OutboxMessage) -> None:
        if len(mail.outbox) == 0:
            mail.outbox.append(EmailMessage())
            send(late)  # another worker takes it over meanwhile
            raise OSError("gone")
        email.send(message)

    channel = email.CHANNEL
    monkeypatch.setitem(
        __import__("judgments.messages.channels", fromlist=["_channels"])._channels,
        EMAIL,
        type(channel)(EMAIL, channel.is_on, slow, channel.back_off),
    )
    send()
    row = OutboxMessage.objects.get()
    assert (row.state, row.attempts) == ("sent", 2)


def test_an_error_of_the_server_is_tried_again_ever_later_and_then_given_up(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = refuse(monkeypatch, smtplib.SMTPServerDisconnected("ada@people.example"))
    tell(world)
    at, pauses = NOW, []
    while True:
        assert send(at) == 1
        row = OutboxMessage.objects.get()
        if row.state != "waiting":
            break
        assert send(row.due_at - timedelta(seconds=1)) == 0
        pauses.append(row.due_at - at)
        at = row.due_at
    assert tuple(pauses) == email.BACK_OFF
    assert row.state == "given_up"
    assert len(asked) == len(email.BACK_OFF) + 1
    assert "ada" not in row.problem


def test_a_refused_address_is_given_up_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = smtplib.SMTPRecipientsRefused({"ada@people.example": (550, b"no such user")})
    refuse(monkeypatch, refused)
    tell(world)
    send()
    row = OutboxMessage.objects.get()
    assert (row.state, row.attempts) == ("given_up", 1)
    assert row.problem == "The mail server refused the address (550)."


def test_an_address_that_is_refused_for_now_is_tried_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, smtplib.SMTPRecipientsRefused({"a": (451, b"later")}))
    tell(world)
    send()
    assert OutboxMessage.objects.get().state == "waiting"


def test_who_switched_a_kind_off_is_not_told(world: World) -> None:
    choose_messages(user=world.ada, wanted={("paused", "email")})
    tell(world)
    assert not OutboxMessage.objects.exists()
    assert Notice.objects.get().read_at == NOW


def test_switching_off_holds_for_what_waits(world: World) -> None:
    tell(world)
    choose_messages(user=world.ada, wanted=set())
    send()
    assert OutboxMessage.objects.get().state == "dropped"
    assert not mail.outbox


@pytest.mark.parametrize("gone", ["suspended", "left"])
def test_who_can_no_longer_see_the_page_gets_no_message(world: World, gone: str) -> None:
    tell(world)
    if gone == "suspended":
        world.ada.is_active = False
        world.ada.save(update_fields=["is_active"])
    else:
        world.ada.memberships.update(ended_at=NOW)
    send()
    assert OutboxMessage.objects.get().state == "dropped"
    assert not mail.outbox


def test_without_a_mail_server_there_are_notices_alone(world: World, settings: Any) -> None:
    settings.MAIL_ON = False
    tell(world)
    assert not OutboxMessage.objects.exists()
    assert Notice.objects.get().read_at is None


def test_a_line_break_in_a_name_makes_no_header(world: World) -> None:
    notify(
        kind="report",
        key="k",
        people=[world.ada],
        payload={"campaign": "First\nBcc: eve@x.example", "collection": "Books"},
        page=("home",),
        collection=world.collection,
        at=NOW,
    )
    send()
    (sent,) = mail.outbox
    assert sent.subject.startswith("First Bcc: eve@x.example:")
    assert sent.recipients() == ["ada@people.example"]
