"""Search commands to Redis: what is sent, what comes of each answer, and what is never asked."""

import json
import socket
import time
from typing import Any

import pytest

from judgments.outgoing.client import Limits, Outcome, OutgoingError
from judgments.outgoing.redis_client import RedisClient
from judgments.outgoing.rules import read_origins
from tests.judgments.outgoing.redis_servers import (
    RedisServer,
    Reply,
    resp2,
    resp3,
    send,
    serving_redis,
)

QUICK = Limits(seconds=0.4, size=100_000)
SEARCH = ["FT.SEARCH", "books", "wing|flow", "WITHSCORES", "LIMIT", 0, 10]
ROWS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("d1", "2.5", {"title": "“Wing”"}),
    ("d2", "0.1", {}),
)


def ask(server: RedisServer, command: Any = SEARCH, **given: Any) -> Any:
    body = json.dumps(command).encode()
    with RedisClient(read_origins([server.entry]), limits=QUICK) as client:
        return client.request("REDIS", server.url + "/2", body=body, **given)


def failure_of(server: RedisServer, command: Any = SEARCH) -> OutgoingError:
    with pytest.raises(OutgoingError) as failed:
        ask(server, command)
    return failed.value


@pytest.mark.parametrize("form", [resp3, resp2])
def test_both_protocols_give_the_same_results(form: Any) -> None:
    with serving_redis(send(form(2, *ROWS))) as server:
        answer = ask(server, headers=[("reader", "secret")])
    body = json.loads(answer.body)
    assert body["total_results"] == 2
    assert body["results"] == [
        {"id": "d1", "score": 2.5, "extra_attributes": {"title": "“Wing”"}},
        {"id": "d2", "score": 0.1, "extra_attributes": {}},
    ]
    assert ["HELLO", "3", "AUTH", "reader", "secret"] in server.commands
    assert ["SELECT", "2"] in server.commands
    assert server.commands[-1] == list(map(str, SEARCH))


def test_a_connection_is_used_again_also_after_an_error() -> None:
    replies = (send(b"-Syntax error at offset 2\r\n"), send(resp3(0)))
    with (
        serving_redis(*replies) as server,
        RedisClient(read_origins([server.entry]), limits=QUICK) as client,
    ):
        body = json.dumps(SEARCH).encode()
        with pytest.raises(OutgoingError, match="error") as failed:
            client.request("REDIS", server.url, body=body)
        assert json.loads(client.request("REDIS", server.url, body=body).body)["results"] == []
    assert (failed.value.outcome, failed.value.detail) == (
        Outcome.STATUS, "Syntax error at offset 2",
    )  # fmt: skip
    assert [words[0] for words in server.commands].count("HELLO") == 1


def hang(_: socket.socket) -> None:
    time.sleep(1)


def drip(connection: socket.socket) -> None:
    for byte in resp3(2, *ROWS):
        connection.sendall(bytes([byte]))
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (hang, Outcome.TIMEOUT),
        (drip, Outcome.TIMEOUT),
        (lambda connection: connection.shutdown(socket.SHUT_RDWR), Outcome.CONNECT),
        (send(b"$200000\r\n" + b"x" * 200_000 + b"\r\n"), Outcome.TOO_LARGE),
        (send(b"?what\r\n"), Outcome.MALFORMED),
        (send(b"*3\r\n:2\r\n$2\r\nd1\r\n$3\r\n2.5\r\n"), Outcome.MALFORMED),
        (send(b"*4\r\n:1\r\n$2\r\nd1\r\n$3\r\nmax\r\n*0\r\n"), Outcome.MALFORMED),
        (send(b"-books: no such index\r\n"), Outcome.STATUS),
        (send(b"-NOPERM this user has no permissions\r\n"), Outcome.STATUS),
    ],
)
def test_what_goes_wrong_has_its_outcome(reply: Reply, outcome: Outcome) -> None:
    with serving_redis(reply) as server:
        assert failure_of(server).outcome is outcome


@pytest.mark.parametrize(
    "command",
    [["FLUSHALL"], ["EVAL", "return 1", 0], ["ft.dropindex", "books"], [], "FT.SEARCH", [["x"]],
     ["FT.SEARCH", None], ["FT.SEARCH", True]],
)  # fmt: skip
def test_nothing_but_a_search_is_sent(command: Any) -> None:
    with serving_redis(send(resp3(0))) as server:
        assert failure_of(server, command).outcome is Outcome.REFUSED
    assert server.commands == []


def test_only_allowed_servers_are_connected_to() -> None:
    with serving_redis(send(resp3(0))) as server:
        for entries in ([], [f"http://127.0.0.1:{server.port}=127.0.0.0/8"], [server.url]):
            with (
                RedisClient(read_origins(entries), limits=QUICK) as client,
                pytest.raises(OutgoingError) as failed,
            ):
                client.request("REDIS", server.url, body=json.dumps(SEARCH).encode())
            assert failed.value.outcome is Outcome.REFUSED
        origins = read_origins([f"redis://search.internal:{server.port}=10.0.0.0/8"])
        with (
            RedisClient(origins, limits=QUICK, look_up=lambda *_: ["127.0.0.1"]) as client,
            pytest.raises(OutgoingError, match="not allowed") as failed,
        ):
            client.request("REDIS", str(origins[0]), body=json.dumps(SEARCH).encode())
        assert failed.value.outcome is Outcome.REFUSED
    assert server.commands == []
