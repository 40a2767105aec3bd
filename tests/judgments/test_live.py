"""Tickets for the listener, and who is given one."""

import time

import pytest
from django.core import signing
from django.test import Client

from annotation.models import Campaign
from judgments.live import (
    SALT,
    SECONDS,
    board_topic,
    labels_topic,
    make_ticket,
    read_ticket,
)
from judgments.models import Membership
from judgments.pages.streams import TICKET_HEADER
from tests.annotation.page_reading import client_of
from tests.builders import World, make_world
from tests.builders_annotation import make_campaign

BOARD = "/c/books/lists/main/leaderboard"
PART = {"HX-Request": "true"}


@pytest.fixture
def world(db: None, settings: object) -> World:
    settings.LIVE = True  # type: ignore[attr-defined]
    return make_world()


def ticket_of(client: Client, address: str) -> tuple[int, str] | None:
    response = client.get(address, headers=PART)
    return read_ticket(response.headers.get(TICKET_HEADER, ""))


def test_a_ticket_says_who_follows_what_until_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    ticket = make_ticket(person=3, topic="board-7")
    assert read_ticket(ticket) == (3, "board-7")
    assert read_ticket(ticket + "x") is None
    assert read_ticket(signing.dumps([3, "board-7"], salt="other")) is None
    past = time.time() - SECONDS - 1
    monkeypatch.setattr("django.core.signing.time.time", lambda: past)
    old = signing.dumps([3, "board-7"], salt=SALT)
    monkeypatch.undo()
    assert read_ticket(old) is None


def test_an_open_board_gets_a_ticket_of_its_list_also_with_an_empty_answer(world: World) -> None:
    dora = client_of("dora")
    assert ticket_of(dora, BOARD) == (world.dora.pk, board_topic(world.judgments.pk))
    state = {"X-Board-State": "other"}
    assert TICKET_HEADER in dora.get(BOARD, headers=PART | state).headers


def test_leads_get_a_ticket_of_labels_and_those_who_label_get_none(world: World) -> None:
    campaign: Campaign = make_campaign(world=world)
    pages = [f"/c/books/campaigns/{campaign.public_id}{end}" for end in ("", "/live")]
    expected = (world.ada.pk, labels_topic(world.judgments.pk))
    assert [ticket_of(client_of("ada"), page) for page in pages] == [expected] * 2
    for name in ("ben", "dora"):
        answers = [client_of(name).get(page, headers=PART) for page in pages]
        assert all(TICKET_HEADER not in answer.headers for answer in answers), name
    ben = client_of("ben").get(BOARD, headers=PART)
    assert (ben.status_code, TICKET_HEADER in ben.headers) == (404, False)


def test_who_begins_to_annotate_gets_no_further_ticket_of_the_board(world: World) -> None:
    dora = client_of("dora")
    assert ticket_of(dora, BOARD)
    Membership.objects.filter(user=world.dora).update(is_annotating=True)
    answer = dora.get(BOARD, headers=PART)
    assert (answer.status_code, TICKET_HEADER in answer.headers) == (404, False)


def test_without_a_listener_no_page_is_given_a_ticket(world: World, settings: object) -> None:
    settings.LIVE = False  # type: ignore[attr-defined]
    assert ticket_of(client_of("dora"), BOARD) is None
