"""The listener as docker-compose.yml starts it, with PostgreSQL."""

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from config.healthcheck import answers
from config.live_listener import MOST_OF_ONE
from judgments.live import CHANNEL, SALT, make_ticket
from tests.deployment import HOST, compose_command, production_environment
from tests.real_services.processes import eventually, process
from tests.services import free_port

pytestmark = [pytest.mark.postgres]
SECONDS = 5.0


class Listening:
    """A running listener, and its database."""

    def __init__(self, port: int, database: str) -> None:
        self.port, self._database = port, database

    def announce(self, topic: str) -> None:
        self._say("SELECT pg_notify(%s, %s)", CHANNEL, topic)

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
    def stream(self, ticket: str) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            connection.request("GET", f"/live?ticket={quote(ticket)}")
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


@pytest.fixture
def listening(tmp_path: Path, own_database_url: str, settings: object) -> Iterator[Listening]:
    port = free_port()
    environment = production_environment(tmp_path, own_database_url, "redis://none:6379/0")
    settings.SECRET_KEY = environment["TOUCHSTONE_SECRET_KEY"]  # type: ignore[attr-defined]
    here = {"0.0.0.0:8001": f"127.0.0.1:{port}", "/dev/shm": str(tmp_path)}
    command = [here.get(word, word) for word in compose_command("live")]
    log = tmp_path / "live.log"
    with process(command, environment, log):
        assert eventually(lambda: answers(port=port, hosts=HOST)), log.read_text()
        yield Listening(port, own_database_url)


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


def test_a_stream_hears_of_its_topic_at_once_and_of_no_other(listening: Listening) -> None:
    with listening.stream(make_ticket(person=1, topic="board-1")) as stream:
        assert stream.status == 200
        assert stream.headers["X-Accel-Buffering"] == "no"
        first = json.loads(next_event(stream)["data"])  # what it may have missed
        listening.announce("board-2")
        began = time.time()
        listening.announce("board-1")
        event = next_event(stream)
        assert time.time() - began < 1
    data = json.loads(event["data"])
    assert set(event) == {"data"}
    assert set(data) == {"event", "spread"}  # nothing of what changed
    assert abs(data["event"] / 1000 - began) < 1
    assert first["event"] < data["event"]
    with listening.stream(make_ticket(person=2, topic="board-1")) as stream:
        assert json.loads(next_event(stream)["data"])["event"] == data["event"]


def test_events_that_come_while_pages_still_ask_are_told_as_one_that_is_newer(
    listening: Listening,
) -> None:
    with listening.stream(make_ticket(person=1, topic="board-1")) as stream:
        next_event(stream)
        for _ in range(2):  # twice: the second row begins with a page that may be told at once
            began = time.time()
            while time.time() - began < 0.5:
                listening.announce("board-1")
            last = time.time()
            told: list[float] = []
            while not told or told[-1] < last - 0.001:  # the clock of an event: milliseconds
                told.append(json.loads(next_event(stream)["data"])["event"] / 1000)
            assert told[0] - began < 0.2
            assert 2 <= len(told) <= 8  # one page is given a tenth of a second
            time.sleep(0.3)


def test_what_is_no_valid_ticket_opens_nothing(listening: Listening) -> None:
    from django.core import signing

    good = make_ticket(person=1, topic="board-1")
    other_key = signing.dumps([1, "board-1"], key="k" * 50, salt=SALT)
    other_purpose = signing.dumps([1, "board-1"], salt="something else")
    for ticket in ("", "x", good[:-1], other_key, other_purpose):
        assert listening.status(f"/live?ticket={ticket}") == 403, ticket
    assert listening.status("/live") == 403
    assert listening.status(f"/live?ticket={good}&ticket={good}") == 403
    assert listening.status("/") == listening.status("/login") == 404
    assert listening.status("/live", method="POST") == 405


def test_one_person_has_so_many_streams_and_gets_one_back_by_leaving(listening: Listening) -> None:
    from contextlib import ExitStack

    ticket = make_ticket(person=1, topic="board-1")
    with ExitStack() as stack:
        for _ in range(MOST_OF_ONE):
            assert stack.enter_context(listening.stream(ticket)).status == 200
        with listening.stream(ticket) as refused:
            assert refused.status == 503
        with listening.stream(make_ticket(person=2, topic="board-1")) as others:
            assert others.status == 200

    def opens() -> bool:
        with listening.stream(ticket) as stream:
            return stream.status == 200

    assert eventually(opens)


def test_without_its_database_streams_end_and_it_comes_back_by_itself(listening: Listening) -> None:
    ticket = make_ticket(person=1, topic="board-1")
    with listening.stream(ticket) as stream:
        next_event(stream)
        listening.cut_off()
        assert next_event(stream) == {"event": "over", "data": "{}"}
        assert next_event(stream) == {}
    assert eventually(lambda: listening.status("/healthz") == 200)
    with listening.stream(ticket) as stream:
        next_event(stream)
        listening.announce("board-1")
        assert "spread" in next_event(stream)["data"]
