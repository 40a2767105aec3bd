"""Tickets for the listener, who is given one, and parts on their way to it."""

import base64
import time
import zlib

import pytest
from django.core import signing
from django.test import Client
from django.utils import timezone

from annotation.models import Campaign
from judgments.live import (
    LARGEST,
    PIECE,
    SALT,
    SECONDS,
    Part,
    Pieces,
    Ticket,
    board_topic,
    digest_of,
    labels_topic,
    make_ticket,
    pack_html,
    pieces_of,
    read_ticket,
)
from judgments.models import Collection, Membership
from judgments.pages.streams import TICKET_HEADER, share_part
from tests.annotation.page_reading import client_of
from tests.builders import World, make_list, make_member, make_user, make_world
from tests.builders_annotation import make_campaign

BOARD = "/c/books/lists/main/leaderboard"
PART = {"HX-Request": "true"}


@pytest.fixture
def world(db: None, settings: object) -> World:
    settings.LIVE = True  # type: ignore[attr-defined]
    return make_world()


def ticket_of(client: Client, address: str) -> Ticket | None:
    response = client.get(address, headers=PART)
    return read_ticket(response.headers.get(TICKET_HEADER, ""))


def key_of(name: str, address: str = BOARD) -> str:
    ticket = ticket_of(client_of(name), address)
    assert ticket
    return ticket.key


def test_a_ticket_says_who_follows_what_until_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Ticket(person=3, session="s", topic="board-7", key="k", moment=5)
    ticket = make_ticket(made)
    said = [3, "s", "board-7", "k", 5]
    assert read_ticket(ticket) == made
    assert read_ticket(ticket + "x") is None
    assert read_ticket(signing.dumps(said, salt="other")) is None
    past = time.time() - SECONDS - 1
    monkeypatch.setattr("django.core.signing.time.time", lambda: past)
    old = signing.dumps(said, salt=SALT)
    monkeypatch.undo()
    assert read_ticket(old) is None


def test_an_open_board_gets_a_ticket_of_its_list_also_with_an_empty_answer(world: World) -> None:
    dora = client_of("dora")
    before = time.time()
    ticket = ticket_of(dora, BOARD)
    assert ticket
    assert (ticket.person, ticket.topic) == (world.dora.pk, board_topic(world.judgments.pk))
    assert ticket.session == digest_of(dora.cookies["sessionid"].value)
    assert before - 1 <= ticket.moment / 1000 <= time.time()
    state = {"X-Board-State": "other"}
    assert TICKET_HEADER in dora.get(BOARD, headers=PART | state).headers


def test_leads_get_a_ticket_of_labels_and_those_who_label_get_none(world: World) -> None:
    campaign: Campaign = make_campaign(world=world)
    pages = [f"/c/books/campaigns/{campaign.public_id}{end}" for end in ("", "/live")]
    tickets = [ticket_of(client_of("ada"), page) for page in pages]
    expected = (world.ada.pk, labels_topic(world.judgments.pk))
    assert [one and (one.person, one.topic) for one in tickets] == [expected] * 2
    for name in ("ben", "dora"):
        answers = [client_of(name).get(page, headers=PART) for page in pages]
        assert all(TICKET_HEADER not in answer.headers for answer in answers), name
    ben = client_of("ben").get(BOARD, headers=PART)
    assert (ben.status_code, TICKET_HEADER in ben.headers) == (404, False)


def test_only_pages_that_show_the_same_have_the_same_key(world: World) -> None:
    make_list(collection=world.collection, slug="other")
    make_user(username="root", is_superuser=True)
    make_member(collection=world.collection, username="fay", role="researcher")
    own = key_of("dora")
    assert own == key_of("fay")
    others = [
        key_of("ada"),
        key_of("root"),
        key_of("dora", BOARD + "?sort=name"),
        key_of("dora", BOARD.replace("main", "other")),
    ]
    Collection.objects.update(archived_at=timezone.now())
    others += [key_of("dora"), key_of("ada")]
    assert len({own, *others}) == 1 + len(others)


def test_pages_whose_parts_are_one_persons_alone_have_no_key(world: World) -> None:
    campaign = make_campaign(world=world)
    assert key_of("dora", BOARD + "?set=any") == ""
    assert key_of("ada", f"/c/books/campaigns/{campaign.public_id}") == ""
    assert key_of("ada", f"/c/books/campaigns/{campaign.public_id}/live")
    with pytest.raises(ValueError, match="one session"):
        share_part('<input name="csrfmiddlewaretoken">', key="k", event="e" * 12, moment=1)


def test_a_part_is_put_together_from_its_pieces_and_from_no_others() -> None:
    part = Part(key="k", event="e", moment=3, body="x" * (2 * PIECE))
    pieces, other = pieces_of(part), pieces_of(part)
    assert len(pieces) == 3
    assert max(map(len, pieces)) < 8000  # what PostgreSQL takes
    reader = Pieces()
    assert [reader.add(piece) for piece in pieces] == [None, None, part]
    assert [reader.add(piece) for piece in (pieces[0], other[1], pieces[2])] == [None] * 3
    forged = [piece.replace("x", "y") for piece in pieces]
    assert [reader.add(piece) for piece in forged] == [None] * 3


def test_html_is_packed_as_a_browser_unpacks_it_unless_it_is_too_large() -> None:
    html = "<p>é</p>" * 1000
    assert zlib.decompress(base64.b64decode(pack_html(html))).decode() == html
    large = "".join(chr(0x4E00 + number * 7919 % 20000) for number in range(LARGEST))
    assert pack_html(large) == ""


def test_who_begins_to_annotate_gets_no_further_ticket_of_the_board(world: World) -> None:
    dora = client_of("dora")
    assert ticket_of(dora, BOARD)
    Membership.objects.filter(user=world.dora).update(is_annotating=True)
    answer = dora.get(BOARD, headers=PART)
    assert (answer.status_code, TICKET_HEADER in answer.headers) == (404, False)


def test_without_a_listener_no_page_is_given_a_ticket(world: World, settings: object) -> None:
    settings.LIVE = False  # type: ignore[attr-defined]
    assert ticket_of(client_of("dora"), BOARD) is None
