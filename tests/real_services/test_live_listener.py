"""The listener as docker-compose.yml starts it, with PostgreSQL."""

import base64
import http.client
import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from django.conf import settings as django_settings
from django.core import signing
from django.db import connection
from django.test import Client

from config.healthcheck import answers
from config.live_listener import MOST_OF_ONE, SKEW
from judgments.live import (
    CHANNEL,
    PERSON,
    SALT,
    Part,
    Ticket,
    announce,
    board_topic,
    digest_of,
    make_ticket,
    now,
    pack_html,
    pieces_of,
)
from judgments.models import Membership, Session, User
from tests.annotation.page_reading import client_of
from tests.builders import World, commit, make_member, make_world
from tests.deployment import HOST, compose_command, production_environment
from tests.real_services.processes import eventually, process
from tests.services import free_port

pytestmark = [pytest.mark.postgres]
SECONDS = 5.0
SESSION = "a" * 32
BOARD = "/c/books/lists/main/leaderboard"


class Listening:
    """A running listener and its database, for one test: its people, topics and keys are its own.

    began: when the listener had begun, in milliseconds. number: of the test. first: its ids are
    greater by as much.
    """

    def __init__(self, port: int, database: str, began: int, number: int = 0) -> None:
        self.port, self._database, self.began = port, database, began
        self.first = 1000 * number

    def of_another_test(self, number: int) -> "Listening":
        return Listening(self.port, self._database, self.began, number)

    def ticket(
        self,
        person: int = 1,
        topic: int = 1,
        key: str = "",
        *,
        session: str = SESSION,
        ago: int = 0,
    ) -> str:
        """ago: milliseconds since the viewer was checked; usually long after what happens."""
        moment = now() - ago if ago else now() + 60_000
        own = (self.first + person, digest_of(session), self._topic(topic), self._key(key))
        return make_ticket(Ticket(*own, moment))

    def wait_for_old_age(self) -> None:
        """Until a ticket of a moment ago is of later than the listener's beginning."""
        time.sleep(max(0, self.began + 2 * SKEW - now()) / 1000)

    def change_topic(self, topic: int = 1) -> None:
        self.announce(self._topic(topic))

    def change_access(self, person: int = 1) -> None:
        self.announce(f"{PERSON}{self.first + person}")

    def announce(self, notice: str) -> None:
        self._say("SELECT pg_notify(%s, %s)", CHANNEL, notice)

    def bring(self, key: str, event: str, html: str, moment: int = 0) -> None:
        """As the web server does with the part that it answered with."""
        for piece in self.pieces(key, event, html, moment or now()):
            self.announce(piece)

    def pieces(self, key: str, event: str, html: str, moment: int) -> Sequence[str]:
        return pieces_of(Part(self._key(key), event, moment, pack_html(html)))

    def _topic(self, topic: int) -> str:
        return board_topic(self.first + topic)

    def _key(self, key: str) -> str:
        return key and f"{key}-{self.first}"

    def cut_off(self) -> None:
        """End the listener's connection to the database, as a restart does."""
        self._say(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )

    def _say(self, statement: str, *values: str) -> None:
        with psycopg.connect(self._database, autocommit=True) as database:
            database.execute(statement.encode(), values)

    @contextmanager
    def stream(
        self, ticket: str, cookie: str = f"csrftoken=x; sessionid={SESSION}"
    ) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            address = f"/live?ticket={quote(ticket)}"
            connection.request("GET", address, headers={"Cookie": cookie})
            yield connection.getresponse()
        finally:
            connection.close()

    def status(self, address: str, method: str = "GET") -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            connection.request(method, address)
            return connection.getresponse().status
        finally:
            connection.close()


@contextmanager
def started(home: Path, database: str) -> Iterator[tuple[Listening, str]]:
    """A listener, and its secret key."""
    port = free_port()
    environment = production_environment(home, database, "redis://none:6379/0")
    here = {"0.0.0.0:8001": f"127.0.0.1:{port}", "/dev/shm": str(home)}
    command = [here.get(word, word) for word in compose_command("live")]
    log = home / "live.log"
    with process(command, environment, log):
        assert eventually(lambda: answers(port=port, hosts=HOST)), log.read_text()
        yield Listening(port, database, now()), environment["TOUCHSTONE_SECRET_KEY"]


@pytest.fixture(scope="module")
def of_all_tests(
    django_db_setup: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Listening, str, Iterator[int]]]:
    """A listener on the tests' own database, and numbers for the tests."""
    server = urlsplit(os.environ["DATABASE_URL"])
    address = server._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    with started(tmp_path_factory.mktemp("live"), address) as (listening, secret):
        yield listening, secret, count(1)


@pytest.fixture
def listening(of_all_tests: tuple[Listening, str, Iterator[int]], settings: Any) -> Listening:
    one, settings.SECRET_KEY, numbers = of_all_tests
    return one.of_another_test(next(numbers))


def next_event(stream: http.client.HTTPResponse) -> dict[str, str]:
    """The fields of the next event that is no sign of life; empty at the end of the stream."""
    fields: dict[str, str] = {}
    for line in stream:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name in ("event", "data"):
            fields[name] = value
        elif not name and fields:
            return fields
    return fields


def next_data(stream: http.client.HTTPResponse) -> dict[str, Any]:
    return dict(json.loads(next_event(stream)["data"]))


def next_html(stream: http.client.HTTPResponse) -> str:
    return html_in(next_data(stream))


def html_in(data: dict[str, Any]) -> str:
    assert set(data) == {"part"}, data
    return zlib.decompress(base64.b64decode(data["part"])).decode()


OVER = {"event": "over", "data": "{}"}


def test_a_stream_hears_of_its_topic_at_once_and_of_no_other(listening: Listening) -> None:
    with listening.stream(listening.ticket()) as stream:
        assert stream.status == 200
        assert stream.headers["X-Accel-Buffering"] == "no"
        listening.change_topic(2)
        time.sleep(0.3)
        began = time.time()
        listening.change_topic()
        event = next_event(stream)
        assert time.time() - began < 1
    assert set(event) == {"data"}
    assert json.loads(event["data"]) == {"event": "0", "spread": 100}  # nothing of what changed


def test_a_page_is_told_at_once_of_what_it_may_have_missed(listening: Listening) -> None:
    listening.wait_for_old_age()
    listening.change_topic()
    time.sleep(0.3)
    with listening.stream(listening.ticket(ago=100)) as stream:
        assert next_data(stream) == {"event": "0", "spread": 1000}
    with listening.stream(listening.ticket(topic=2, ago=100)) as stream:
        listening.bring("", "x" * 12, "no one's")
        listening.change_topic(2)
        assert next_data(stream)["spread"] == 100


def test_a_page_that_comes_late_is_brought_what_the_others_show(listening: Listening) -> None:
    listening.wait_for_old_age()
    with listening.stream(listening.ticket(1, key="k")) as first:
        listening.change_topic()
        listening.bring("k", next_data(first)["event"], "<p>1</p>")
        assert next_html(first) == "<p>1</p>"
        with (
            listening.stream(listening.ticket(2, key="k", ago=100)) as late,
            listening.stream(listening.ticket(3, key="other", ago=100)) as other,
        ):
            assert next_html(late) == "<p>1</p>"
            assert next_data(other) == {"event": "0", "spread": 1000}


def test_events_that_come_while_pages_still_ask_are_told_as_one(listening: Listening) -> None:
    with listening.stream(listening.ticket()) as stream:
        began, sent = time.time(), 0
        while time.time() - began < 0.5:
            listening.change_topic()
            sent += 1
        time.sleep(0.3)
        listening.change_access()
        told = 0
        while next_event(stream) != OVER:
            told += 1
        assert 2 <= told <= 8 < sent  # one page is given a tenth of a second


def test_one_page_of_a_key_asks_and_all_of_it_and_no_others_are_brought_the_part(
    listening: Listening,
) -> None:
    with ExitStack() as stack:

        def follow(person: int, topic: int, key: str) -> http.client.HTTPResponse:
            return stack.enter_context(listening.stream(listening.ticket(person, topic, key)))

        first, second = follow(1, 1, "ours"), follow(2, 1, "ours")
        theirs, own = follow(3, 1, "theirs"), follow(4, 1, "")
        elsewhere = follow(5, 2, "elsewhere")
        listening.change_topic()
        asked = next_data(first)  # the one that came first is told first
        other = next_data(theirs)
        assert asked["event"] != other["event"]
        assert next_data(own)["event"] == "0"
        listening.bring("ours", asked["event"], "<p>ours</p>")
        assert [next_html(first), next_html(second)] == ["<p>ours</p>"] * 2
        listening.bring("theirs", other["event"], "<p>theirs</p>")
        listening.bring("elsewhere", "x", "<p>elsewhere</p>")
        listening.bring("", "x", "<p>no one's</p>")
        # the first that each is brought
        assert next_html(theirs) == "<p>theirs</p>"
        assert next_html(elsewhere) == "<p>elsewhere</p>"
        listening.change_topic()
        assert next_data(own) == {"event": "0", "spread": 100}
        assert next_data(second)["event"] not in (asked["event"], "0")  # by turns


@contextmanager
def two_pages(
    listening: Listening,
) -> Iterator[tuple[http.client.HTTPResponse, http.client.HTTPResponse]]:
    """The open pages of two people who are shown the same."""
    with (
        listening.stream(listening.ticket(1, key="k")) as first,
        listening.stream(listening.ticket(2, key="k")) as other,
    ):
        yield first, other


def test_a_part_that_is_old_or_shown_or_not_made_here_is_not_passed_on(
    listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening.stream(listening.ticket(key="k")) as stream:
        at = now()
        listening.bring("k", "x", "<p>1</p>", at)
        listening.bring("k", "x", "<p>1</p>", at + 1)
        listening.bring("k", "x", "<p>older</p>", at - 1)
        with monkeypatch.context() as change:
            change.setattr(django_settings, "SECRET_KEY", "k" * 60)
            listening.bring("k", "x", "<p>forged</p>", at + 2)
        whole = listening.pieces("k", "x", "<p>cut</p>", at + 3)
        listening.announce(whole[0][:-1])
        listening.bring("k", "x", "<p>2</p>", at + 4)
        assert [next_html(stream), next_html(stream)] == ["<p>1</p>", "<p>2</p>"]


def test_another_page_is_told_where_the_first_brings_nothing(listening: Listening) -> None:
    with two_pages(listening) as (first, other):
        listening.change_topic()
        asked = next_data(first)
        began = time.time()
        assert next_data(other) == asked
        assert 0.5 < time.time() - began < 2


def test_of_what_happens_while_a_part_is_made_another_is_asked_for(listening: Listening) -> None:
    with two_pages(listening) as (first, other):
        listening.change_topic()
        asked = next_data(first)
        for _ in range(5):
            listening.change_topic()
        time.sleep(0.3)
        began = time.time()
        listening.bring("k", asked["event"], "<p>1</p>")
        assert next_html(other) == "<p>1</p>"
        assert next_data(other)["event"] != asked["event"]
        assert time.time() - began < 1


def test_a_part_that_is_too_large_makes_all_pages_ask(
    listening: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judgments.live.LARGEST", 10)
    with two_pages(listening) as (first, other):
        listening.change_topic()
        listening.bring("k", next_data(first)["event"], "<p>large</p>")
        assert next_data(first) == next_data(other) == {"event": "0", "spread": 100}


def test_what_is_no_valid_ticket_opens_nothing(listening: Listening) -> None:
    good = listening.ticket()
    said = [1, digest_of(SESSION), "board-1", "", now() + 60_000]
    other_key = signing.dumps(said, key="k" * 50, salt=SALT)
    other_purpose = signing.dumps(said, salt="something else")
    for wrong in ("", "x", good[:-1], other_key, other_purpose):
        assert listening.status(f"/live?ticket={wrong}") == 403, wrong
    assert listening.status("/live") == 403
    assert listening.status(f"/live?ticket={good}&ticket={good}") == 403
    assert listening.status("/") == listening.status("/login") == 404
    assert listening.status("/live", method="POST") == 405


def test_a_ticket_counts_in_its_own_browser_alone(listening: Listening) -> None:
    for cookie in ("", "sessionid=", f"sessionid={'b' * 32}", f"sessionid={digest_of(SESSION)}"):
        with listening.stream(listening.ticket(), cookie) as stream:
            assert stream.status == 403, cookie
    with listening.stream(
        listening.ticket(), f"strange=é,;=; __Host-sessionid={SESSION}"
    ) as stream:
        assert stream.status == 200


def test_when_access_changes_streams_end_and_only_a_later_check_counts(
    listening: Listening,
) -> None:
    with (
        listening.stream(listening.ticket(1, key="k")) as stream,
        listening.stream(listening.ticket(2, key="k")) as others,
    ):
        listening.change_access()
        listening.bring("k", "x", "<p>secret</p>")
        assert [next_event(stream), next_event(stream)] == [OVER, {}]
        assert next_html(others) == "<p>secret</p>"
    with listening.stream(listening.ticket(1, key="k", ago=1)) as refused:
        assert refused.status == 403
    with listening.stream(listening.ticket(1, key="k")) as stream:
        assert stream.status == 200


def test_one_person_has_so_many_streams_and_gets_one_back_by_leaving(listening: Listening) -> None:
    with ExitStack() as stack:
        for _ in range(MOST_OF_ONE):
            assert stack.enter_context(listening.stream(listening.ticket())).status == 200
        with listening.stream(listening.ticket()) as refused:
            assert refused.status == 503
        with listening.stream(listening.ticket(2)) as others:
            assert others.status == 200

    def opens() -> bool:
        with listening.stream(listening.ticket()) as stream:
            return stream.status == 200

    assert eventually(opens)


def test_without_its_database_streams_end_and_it_comes_back_by_itself(
    tmp_path: Path, own_database_url: str, settings: Any
) -> None:
    with started(tmp_path, own_database_url) as (listening, settings.SECRET_KEY):
        check_cut_off(listening)


def check_cut_off(listening: Listening) -> None:
    with listening.stream(listening.ticket()) as stream:
        listening.cut_off()
        assert next_event(stream) == OVER
        assert next_event(stream) == {}
    assert eventually(lambda: listening.status("/healthz") == 200)
    with listening.stream(
        listening.ticket(ago=1)
    ) as refused:  # what was told meanwhile is not known
        assert refused.status == 403
    with listening.stream(listening.ticket()) as stream:
        listening.change_topic()
        assert "spread" in next_data(stream)


# With the pages' own views, on the same database


ENDINGS: dict[str, Callable[[User], object]] = {
    "suspended": lambda user: User.objects.filter(pk=user.pk).update(is_active=False),
    "another password": lambda user: User.objects.filter(pk=user.pk).update(password="x"),
    "all sessions ended": lambda user: User.objects.filter(pk=user.pk).update(session_epoch=9),
    "this session ended": lambda user: Session.objects.filter(user=user).delete(),
    "another role": lambda user: Membership.objects.filter(user=user).update(role="annotator"),
    "annotates now": lambda user: Membership.objects.filter(user=user).update(is_annotating=True),
    "no member any more": lambda user: Membership.objects.filter(user=user).update(
        ended_at=user.date_joined
    ),
    "deleted as a member": lambda user: Membership.objects.filter(user=user).delete(),
}


@pytest.fixture
def world(transactional_db: None, listening: Listening, settings: Any) -> World:
    """Researchers beside the cast: Fay, and one for each of ENDINGS. The ids are the test's own."""
    with connection.cursor() as cursor:
        for table in ("user", "judgmentlist"):
            cursor.execute(
                f"ALTER SEQUENCE judgments_{table}_id_seq RESTART WITH {listening.first + 1}"
            )
    settings.LIVE = True
    world = make_world()
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 1})
    for name in ("fay", *map(name_of, ENDINGS)):
        make_member(collection=world.collection, username=name, role="researcher")
    time.sleep(SKEW / 1000)
    return world


def name_of(ending: str) -> str:
    return ending.replace(" ", "-")


@contextmanager
def board_of(client: Client, listening: Listening) -> Iterator[http.client.HTTPResponse]:
    """The stream of an open board."""
    text = client.get(BOARD, headers={"HX-Request": "true"})["X-Live-Ticket"]
    with listening.stream(text, f"sessionid={client.cookies['sessionid'].value}") as stream:
        assert stream.status == 200
        yield stream


def answer(client: Client, stream: http.client.HTTPResponse) -> str:
    """Ask for the part because the stream's next event says so; the answer."""
    while (data := next_data(stream)).get("event", "0") == "0":
        pass  # what it may have missed
    headers = {"HX-Request": "true", "X-Board-State": "x", "X-Live-Event": data["event"]}
    return client.get(BOARD, headers=headers).text


def next_brought(stream: http.client.HTTPResponse) -> str:
    while "part" not in (data := next_data(stream)):
        pass
    return html_in(data)


def test_pages_of_a_role_are_brought_what_one_of_them_was_answered_and_no_other_role_is(
    world: World, listening: Listening
) -> None:
    dora, fay, ada = (client_of(name) for name in ("dora", "fay", "ada"))
    with (
        board_of(dora, listening) as first,
        board_of(fay, listening) as second,
        board_of(ada, listening) as lead,
    ):
        announce(board_topic(world.judgments.pk))
        html = answer(dora, first)
        assert 'id="board"' in html
        assert next_brought(second) == html == next_brought(first)
        own = answer(ada, lead)
        assert next_brought(lead) == own  # the first that it was brought
    for name in ("ben", "eve"):
        refused = client_of(name).get(BOARD, headers={"HX-Request": "true"})
        assert (refused.status_code, "X-Live-Ticket" in refused) == (404, False)


def test_who_loses_access_is_brought_nothing_from_then_on_and_all_others_are(
    world: World, listening: Listening
) -> None:
    """To sign in again or to be renamed is no loss."""
    clients = {name: client_of(name) for name in ("dora", "fay", *map(name_of, ENDINGS))}
    tickets = {
        name: client.get(BOARD, headers={"HX-Request": "true"})["X-Live-Ticket"]
        for name, client in clients.items()
    }
    cookies = {
        name: f"sessionid={client.cookies['sessionid'].value}" for name, client in clients.items()
    }
    with ExitStack() as stack:
        streams = {
            name: stack.enter_context(board_of(client, listening))
            for name, client in clients.items()
        }
        for ending, end in ENDINGS.items():
            end(User.objects.get(username=name_of(ending)))
        client_of("fay")
        User.objects.filter(username="fay").update(name="Fay", last_login=world.dora.date_joined)
        announce(board_topic(world.judgments.pk))
        html = answer(clients["dora"], streams["dora"])
        assert next_brought(streams["dora"]) == next_brought(streams["fay"]) == html
        for name in map(name_of, ENDINGS):
            seen = []
            while event := next_event(streams[name]):
                seen.append(event)
            assert seen[-1] == OVER, name
            assert not any("part" in event["data"] for event in seen), name
    for name in map(name_of, ENDINGS):
        with listening.stream(tickets[name], cookies[name]) as refused:
            assert refused.status == 403, name
        page = clients[name].get(BOARD, headers={"HX-Request": "true"})
        assert "X-Live-Ticket" not in page, name
