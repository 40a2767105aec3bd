"""A hostile engine on loopback: each of its tricks is a clear outcome, and nothing is stored of it.

Others of its tricks are in test_snapshots.py (500, 429 with Retry-After, truncated JSON, NaN, an id
twice, redirects, spellings of local addresses), and at the client in
tests/judgments/outgoing/test_client.py.
"""

import socket
import sys
import time
from contextlib import suppress

import pytest

from evaluation.models import Run, SnapshotAnswer
from judgments.outgoing.rules import read_origins
from tests.builders import make_access, make_world
from tests.evaluation.live_rankers.engine import make_live, results, running
from tests.evaluation.live_rankers.test_snapshots import outcomes, take
from tests.judgments.outgoing.servers import answer, serving

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
PIECE = b'{"id": "a", "score": 1},' * 40_000  # about a megabyte
ROWS = b'{"results": [{"id": "d1", "score": 1}]}'
connected: list[str] = []


def note(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        connected.append(arguments[1][0])


sys.addaudithook(note)  # it can't be removed


@pytest.fixture
def world(settings, tmp_path):
    settings.HOME = tmp_path
    return make_world(queries=3, documents=2)


def snapshot_of(world, server_url, **given):
    make_live(world, server_url, **({"timeout": 0.5, "attempts": 1, "at_once": 1} | given))
    return take(world, make_access(collection=world.collection, username="dora"))


def is_stored_as_failed(snapshot, outcome):
    """Every query has this outcome and no results, and there is no run."""
    assert set(outcomes(snapshot).values()) == {outcome}
    assert {(one.row_count, one.outcome) for one in SnapshotAnswer.objects.all()} == {(0, outcome)}
    assert (snapshot.state, snapshot.run) == ("failed", None)
    assert "0 of 3 queries were answered" in snapshot.problem
    return not Run.objects.exists()


def test_an_answer_that_comes_byte_by_byte_runs_out_of_time(world, settings):
    def drip(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        with suppress(OSError):
            for _ in range(1000):
                connection.sendall(b" ")
                time.sleep(0.02)

    with serving(drip) as server:
        settings.OUTGOING = read_origins([server.entry])
        assert is_stored_as_failed(snapshot_of(world, server.url), "timeout")


def test_500_megabytes_of_json_are_cut_at_the_limit(world, settings):
    sent = []

    def flood(connection):
        size = len(b'{"results": [') + 500 * len(PIECE)
        connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
        with suppress(OSError):
            connection.sendall(b'{"results": [')
            for _ in range(500):
                connection.sendall(PIECE)
                sent.append(len(PIECE))

    with serving(flood) as server:
        settings.OUTGOING = read_origins([server.entry])
        assert is_stored_as_failed(snapshot_of(world, server.url, timeout=30.0), "too_large")
    assert sum(sent) < 3 * 40_000_000  # what the sockets hold beyond 10 MB of each of three


def test_a_name_whose_address_changes_between_look_ups_is_not_followed(
    world, settings, monkeypatch
):
    """The first look-up leads to the engine, later ones to another private address."""
    looked_up = []

    def name_server(host, port, *_, **__):
        looked_up.append(host)
        address = "127.0.0.1" if looked_up.count("engine.test") == 1 else "10.255.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    with serving(answer(ROWS, "Connection: close")) as server:
        url = f"http://engine.test:{server.port}"
        settings.OUTGOING = read_origins([f"{url}=127.0.0.0/8"])
        monkeypatch.setattr(socket, "getaddrinfo", name_server)
        connected.clear()
        snapshot = snapshot_of(world, url)
    assert sorted(outcomes(snapshot).values()) == ["ok", "refused", "refused"]
    assert set(connected) == {"127.0.0.1"}
    assert (snapshot.state, Run.objects.exists()) == ("failed", False)


@pytest.mark.parametrize(
    "address",
    ["10.0.0.5", "192.168.1.1", "169.254.169.254", "::1", "::ffff:10.0.0.5", "100.100.100.200"],
)
def test_a_name_that_resolves_to_another_address_than_it_may_is_refused(
    world, settings, monkeypatch, address
):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    found = [(family, socket.SOCK_STREAM, 6, "", (address, 80))]
    settings.OUTGOING = read_origins(["http://engine.test", "http://inner.test=172.16.0.0/12"])
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    connected.clear()
    for host in ("engine.test", "inner.test"):
        snapshot = snapshot_of(world, f"http://{host}")
        assert set(outcomes(snapshot).values()) == {"refused"}
        assert snapshot.run is None
    assert connected == []


def test_one_honest_answer_among_failures_makes_no_run(world, settings):
    first = world.queries[0].text

    def respond(text):
        return results([("d1", 1.0)]) if text == first else (200, {}, b'{"results": [')

    with running(respond) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        snapshot = snapshot_of(world, engine.url)
    assert sorted(outcomes(snapshot).values()) == ["bad_answer", "bad_answer", "ok"]
    assert (snapshot.state, snapshot.run) == ("failed", None)
