"""Notices: once for an event, a digest for what piles up, read and settled."""

from datetime import timedelta
from string import Formatter
from typing import Any

import pytest
from django.core import mail
from django.utils import translation

from annotation.gold.actions import BY_LEAD
from judgments.members.services import accept_invitation, invite, withdraw_invitation
from judgments.messages.formatting import words_of
from judgments.messages.kinds import KINDS, pattern_of
from judgments.messages.queries import count_unread, get_message_settings, get_notices_page
from judgments.messages.sending import send_due
from judgments.messages.services import (
    AddressRefused,
    choose_messages,
    confirm_address,
    mark_notices_read,
    notify,
    notify_digest,
    request_address,
)
from judgments.messages.tokens import confirmation_token
from judgments.models import Invitation, Notice, OutboxMessage, Role, User
from judgments.permissions import NotFound
from tests.builders import NOW, World, make_access, make_user

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=1)


@pytest.fixture
def mail_server(settings: Any) -> None:
    settings.MAIL_ON = True
    settings.SITE_URL = "https://labels.example"
    settings.DEFAULT_FROM_EMAIL = "touchstone@labels.example"


def digest(world: World, count: int, at: Any = NOW) -> None:
    notify_digest(
        kind="adjudication",
        key="campaign:1:adjudication",
        people=[world.ada],
        count=count,
        payload={"campaign": "First", "collection": "Books", "pairs": f"{count} pairs wait"},
        page=("collection", "books"),
        collection=world.collection,
        at=at,
    )


def unread(user: User) -> list[str]:
    rows = get_notices_page(user=user, page="").rows
    return [row.subject for row in rows if not row.is_read]


def test_a_digest_is_one_notice_kept_to_the_count(world: World) -> None:
    digest(world, 3)
    digest(world, 5)
    digest(world, 4)
    assert unread(world.ada) == ["First: 4 pairs wait"]
    assert Notice.objects.count() == 1


def test_a_digest_that_was_read_comes_back_only_when_it_has_grown(world: World) -> None:
    digest(world, 3)
    mark_notices_read(user=world.ada, at=NOW)
    digest(world, 2)
    assert count_unread(world.ada) == 0
    digest(world, 3, LATER)
    assert unread(world.ada) == ["First: 3 pairs wait"]
    assert Notice.objects.get().changed_at == LATER


def test_a_digest_is_settled_when_nothing_waits(world: World) -> None:
    digest(world, 3)
    digest(world, 0)
    assert count_unread(world.ada) == 0
    digest(world, 1)
    assert unread(world.ada) == ["First: 1 pairs wait"]


@pytest.mark.usefixtures("mail_server")
def test_a_digest_is_mailed_once_a_day_however_much_piles_up(world: World) -> None:
    for count in (3, 5, 8):
        digest(world, count)
    digest(world, 13, NOW + timedelta(days=1))
    digest(world, 13, NOW + timedelta(days=2))
    assert OutboxMessage.objects.count() == 2


def test_who_wants_no_notices_of_a_kind_gets_no_digest_however_it_grows(world: World) -> None:
    choose_messages(user=world.ada, wanted=set())
    digest(world, 3)
    digest(world, 8)
    assert count_unread(world.ada) == 0


def test_people_read_their_own_notices_alone(world: World) -> None:
    digest(world, 3)
    eve = make_user(username="eve")
    with pytest.raises(NotFound):
        mark_notices_read(user=eve, at=NOW, notice_id=Notice.objects.get().public_id)
    mark_notices_read(user=eve, at=NOW)
    assert count_unread(world.ada) == 1


def test_who_leaves_a_collection_no_longer_reads_of_it(world: World) -> None:
    digest(world, 3)
    world.ada.memberships.update(ended_at=NOW)
    assert count_unread(world.ada) == 0
    assert not get_notices_page(user=world.ada, page="").rows.object_list


def test_every_kind_can_be_switched_and_is_on_at_first(world: World) -> None:
    rows = get_message_settings(user=world.ada).rows
    assert {row.kind for row in rows} == {name for name, kind in KINDS.items() if kind.is_chosen}
    assert all(is_on for row in rows for _, _, is_on in row.channels)
    choose_messages(user=world.ada, wanted={("report", "notice")})
    chosen = get_message_settings(user=world.ada).rows
    on = [(row.kind, name) for row in chosen for name, _, is_on in row.channels if is_on]
    assert on == [("report", "notice")]


def test_annotators_choose_among_what_they_can_get_and_keep_the_rest(world: World) -> None:
    ben = world.ben
    rows = get_message_settings(user=ben).rows
    assert [row.kind for row in rows] == ["invited", "paused", "deadline"]
    choose_messages(user=ben, wanted=set())
    rows = get_message_settings(user=ben).rows
    assert not any(is_on for row in rows for *_, is_on in row.channels)
    ben.memberships.update(role=Role.LEAD)
    on = {row.kind for row in get_message_settings(user=ben).rows if row.channels[0][2]}
    assert {"adjudication", "report", "budget"} <= on


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_kind_has_words(language: str) -> None:
    for name, kind in KINDS.items():
        for variant in ({}, *({"variant": one} for one in kind.variants)):
            pattern = pattern_of(name, variant)
            named = {each for _, each, *_ in Formatter().parse(pattern.subject + pattern.text)}
            values: dict[str, object] = {each: "x" for each in named if each}
            with translation.override(language):
                words = words_of(name, values | {"due": "2026-06-05"} | variant)
            assert words.subject
            assert words.text
        assert kind.label


def test_notices_and_e_mails_are_in_the_readers_language(world: World, mail_server: None) -> None:
    """What is stored are values: a date, counts, the text of a reason that catalogues have."""
    User.objects.filter(pk=world.ben.pk).update(language="de", email="ben@people.example")
    world.ben.refresh_from_db()
    names = {"campaign": "First", "collection": "Books"}
    told = {
        "deadline": {"due": "2026-06-05", "done": 1200, "pairs": 2000},
        "paused": {"reason": BY_LEAD},
    }
    for kind, values in told.items():
        notify(
            kind=kind,
            key=kind,
            people=[world.ben],
            payload=names | values,
            page=("collection", "books"),
            collection=world.collection,
            at=NOW,
        )
    with translation.override("de"):
        rows = {row.subject: row for row in get_notices_page(user=world.ben, page="").rows}
    assert "1.200 von 2.000" in rows["First endet am 5. Juni"].text
    assert "Leitung" in rows["First: Ihre Arbeit ist angehalten"].text
    assert {row.language for row in rows.values()} == {""}
    send_due(clock=lambda: NOW)
    assert {sent.subject for sent in mail.outbox} == set(rows)
    assert all("Wählen Sie, welche Nachrichten" in sent.body for sent in mail.outbox)


def test_an_address_that_is_confirmed_keeps_the_language_of_the_page(
    world: World, mail_server: None
) -> None:
    with translation.override("de"):
        request_address(user=world.ben, address="ben@post.example", at=NOW, nonce="n")
    send_due(clock=lambda: NOW)
    (sent,) = mail.outbox
    assert sent.subject == "Bestätigen Sie Ihre E-Mail-Adresse"
    with translation.override("de"):
        token = confirmation_token(user_id=world.ben.pk, address="ben@post.example")
        confirm_address(user=world.ben, token=token)
    assert User.objects.get(pk=world.ben.pk).language == "de"


@pytest.mark.usefixtures("mail_server")
def test_an_invitation_is_mailed_with_a_link_that_no_row_holds(world: World) -> None:
    access = make_access(collection=world.collection)
    _, token = invite(
        access=access, role="annotator", note="Fay", days=7, at=NOW, email="fay@post.example"
    )
    row = OutboxMessage.objects.get()
    assert token not in str(row.payload)
    send_due(clock=lambda: NOW)
    (sent,) = mail.outbox
    assert sent.to == ["fay@post.example"]
    assert f"https://labels.example/invitations/{token}" in sent.body
    fay = make_user(username="fay")
    accept_invitation(token=token, user=fay, at=NOW)
    assert unread(world.ada) == ["Fay joined Books"]
    notice = Notice.objects.get(recipient=world.ada, kind="joined")
    assert "Fay" not in str(notice.payload)
    assert notice.payload["person"] == fay.pk
    User.objects.filter(pk=fay.pk).update(name="Fay Other")
    assert unread(world.ada) == ["Fay Other joined Books"]


@pytest.mark.usefixtures("mail_server")
def test_a_withdrawn_invitation_is_not_mailed(world: World) -> None:
    access = make_access(collection=world.collection)
    made, _ = invite(
        access=access, role="annotator", note="", days=7, at=NOW, email="fay@post.example"
    )
    withdraw_invitation(access=access, invitation_id=made.pk, at=NOW)
    assert send_due(clock=lambda: NOW) == 0
    assert OutboxMessage.objects.get().address == ""


def test_without_a_mail_server_no_invitation_is_mailed(world: World) -> None:
    with pytest.raises(Exception, match="sends no e-mail"):
        invite(
            access=make_access(collection=world.collection),
            role="annotator",
            note="",
            days=7,
            at=NOW,
            email="fay@post.example",
        )
    assert not Invitation.objects.exists()


@pytest.mark.usefixtures("mail_server")
def test_an_address_is_used_once_its_link_was_opened_by_its_owner(world: World) -> None:
    request_address(user=world.ada, address="ada@new.example", at=NOW, nonce="1")
    world.ada.refresh_from_db()
    assert world.ada.email == "ada@people.example"
    send_due(clock=lambda: NOW)
    (sent,) = mail.outbox
    assert sent.to == ["ada@new.example"]
    token = sent.body.split("/account/address/")[1].split()[0]
    with pytest.raises(NotFound):
        confirm_address(user=make_user(username="eve"), token=token)
    with pytest.raises(NotFound):
        confirm_address(user=world.ada, token=token[:-1])
    confirm_address(user=world.ada, token=token)
    world.ada.refresh_from_db()
    assert world.ada.email == "ada@new.example"


@pytest.mark.usefixtures("mail_server")
def test_nobody_sends_many_messages_to_addresses_that_they_type(world: World) -> None:
    for number in range(5):
        request_address(user=world.ada, address="b@c.example", at=NOW, nonce=str(number))
    with pytest.raises(AddressRefused, match="Too many"):
        request_address(user=world.ada, address="b@c.example", at=NOW, nonce="6")
    with pytest.raises(AddressRefused, match="valid"):
        request_address(user=world.ben, address="b c", at=NOW, nonce="1")


def test_an_event_told_again_by_another_worker_changes_nothing(world: World) -> None:
    for subject in ("First", "Second"):
        notify(
            kind="report",
            key="k",
            people=[world.ada],
            payload={"campaign": subject, "collection": "Books"},
            page=("home",),
            collection=None,
            at=NOW,
        )
    assert unread(world.ada) == ["First: the quality report is ready"]
