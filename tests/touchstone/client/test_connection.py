"""What a client does with answers that are not the ones it asked for: from small servers here."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from touchstone import Client
from touchstone.client.connection import Connection
from touchstone.client.credentials import Credentials
from touchstone.client.errors import RequestRefusedError, ServerUnavailableError

OWN = "/api/v1/"
TOKEN = "secret"


class Server(ThreadingHTTPServer):
    """Answers each path with its status, headers and body, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: list[tuple[str, str | None]] = []

    def connection(self, token: str | None = TOKEN) -> Connection:
        return Connection(Credentials(self.url, token), timeout=20)


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        status, headers, body = self.server.answers[self.path]
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


def serve() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    yield from serve()


@pytest.fixture
def other() -> Iterator[Server]:
    yield from serve()


def problem(status: int, code: str, **more: object) -> tuple[int, dict[str, str], bytes]:
    body = {"title": code.replace("_", " "), "status": status, "code": code, **more}
    return status, {"Content-Type": "application/problem+json"}, json.dumps(body).encode()


def test_a_redirect_to_another_server_is_not_followed(server: Server, other: Server) -> None:
    server.answers[f"{OWN}x"] = (302, {"Location": f"{other.url}{OWN}x"}, b"")
    with pytest.raises(
        ServerUnavailableError, match=f"leads to {other.url}.*never sent to another server"
    ):
        server.connection().get("x")
    assert other.asked == []


def test_a_redirect_on_the_same_server_is_followed_with_the_token(server: Server) -> None:
    server.answers[f"{OWN}x"] = (301, {"Location": f"{OWN}x/"}, b"")
    server.answers[f"{OWN}x/"] = (200, {}, b"[1]")
    assert server.connection().get("x") == [1]
    assert server.asked == [(f"{OWN}x", f"Bearer {TOKEN}"), (f"{OWN}x/", f"Bearer {TOKEN}")]


def test_a_body_follows_no_redirect(server: Server) -> None:
    server.answers[f"{OWN}x"] = (307, {"Location": f"{OWN}y"}, b"")
    with pytest.raises(ServerUnavailableError, match="leads to"):
        server.connection().post_json("x", {})


@pytest.mark.parametrize(
    ("token", "says"), [(None, "Authorization: Bearer"), ("old", "does not accept this token")]
)
def test_it_says_which_token_is_missing(server: Server, token: str | None, says: str) -> None:
    server.answers[f"{OWN}x"] = problem(401, "not_authenticated", detail="…")
    with pytest.raises(RequestRefusedError, match=says) as caught:
        server.connection(token).get("x")
    assert caught.value.status == 401


def test_the_lines_of_a_refused_file_are_in_the_error(server: Server) -> None:
    rows = [
        {"file": "a.run", "line": n, "column": 3, "rule": "score", "message": "no number."}
        for n in range(1, 31)
    ]
    server.answers[f"{OWN}x"] = problem(422, "file_refused", problems=rows, total=4000, detail="…")
    with pytest.raises(RequestRefusedError) as caught:
        server.connection().get("x")
    lines = caught.value.message.splitlines()
    assert lines[:2] == ["file refused:", "a.run:1:3: score: no number."]
    assert (len(lines), lines[-1]) == (22, "… 4,000 problems in all")


def test_the_fields_of_a_refused_request_are_in_the_error(server: Server) -> None:
    errors = {"measure": ["Unknown parameter; known: none."]}
    server.answers[f"{OWN}x"] = problem(400, "invalid", detail="…", errors=errors)
    with pytest.raises(RequestRefusedError, match=r"invalid:\nmeasure: Unknown parameter"):
        server.connection().get("x")


def test_one_that_is_too_busy_says_when_to_come_again(server: Server) -> None:
    status, headers, body = problem(429, "throttled", detail="Too many requests.")
    server.answers[f"{OWN}x"] = (status, headers | {"Retry-After": "7"}, body)
    with pytest.raises(ServerUnavailableError, match=r"429: Too many requests\.; try again in 7 s"):
        server.connection().get("x")


@pytest.mark.parametrize("status", [200, 404, 500])
def test_an_answer_of_another_kind_of_server_is_none(server: Server, status: int) -> None:
    server.answers[f"{OWN}x"] = (status, {}, b"<html>")
    with pytest.raises(ServerUnavailableError, match=r"not.* as a Touchstone server does"):
        server.connection().get("x")


def test_all_pages_are_read(server: Server) -> None:
    pages = {"limit=1000": ("after=1&limit=1000", [1, 2]), "after=1&limit=1000": (None, [3])}
    for query, (following, results) in pages.items():
        # by the name that the server has behind its proxy
        address = following and f"http://inside.example{OWN}x/?{following}"
        body = json.dumps({"results": results, "next": address}).encode()
        server.answers[f"{OWN}x/?{query}"] = (200, {}, body)
    assert list(server.connection().get_all("x/")) == [1, 2, 3]


def test_one_that_is_silent_or_breaks_off_or_is_not_there_is_named(server: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ServerUnavailableError, match=r"no answer in 0\.05 s"):
            Connection(Credentials(url, None), timeout=0.05).get("x")
    with pytest.raises(ServerUnavailableError, match=f"no connection to {url}"):
        Connection(Credentials(url, None), timeout=20).get("x")
    server.answers[f"{OWN}x"] = (200, {"Content-Length": "100"}, b"[")
    with pytest.raises(ServerUnavailableError, match="was lost"):
        server.connection().get("x")


def test_one_that_speaks_no_https_is_named(server: Server) -> None:
    url = server.url.replace("http:", "https:")
    with pytest.raises(ServerUnavailableError, match="does not speak https"):
        Connection(Credentials(url, TOKEN), timeout=20).get("x")


RUN = "collections/shop/rankers/bm25/runs/7"


def answer_of_a_run(state: str, problem: str = "") -> tuple[int, dict[str, str], bytes]:
    lists = [{"list": "main", "version": 0, "state": state, "problem": problem}]
    return 200, {}, json.dumps({"state": state, "lists": lists}).encode()


def test_waiting_ends_when_the_time_is_over(server: Server) -> None:
    server.answers[f"{OWN}{RUN}?wait=0"] = answer_of_a_run("waiting")
    with pytest.raises(
        ServerUnavailableError, match="not evaluated within 0 s; is a worker running"
    ):
        Client(server.url, TOKEN).wait("shop/bm25/7", patience=0)


def test_waiting_ends_where_no_values_will_come(server: Server) -> None:
    server.answers[f"{OWN}{RUN}?wait=60"] = answer_of_a_run("failed", "out of memory")
    with pytest.raises(RequestRefusedError, match=r"7 is failed\nmain: out of memory") as caught:
        Client(server.url, TOKEN).wait("shop/bm25/7", patience=100)
    assert caught.value.code == "failed"


def test_waiting_asks_again_until_the_values_are_there(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("touchstone.client.api.PAUSE", 0.01)
    server.answers[f"{OWN}{RUN}?wait=2"] = answer_of_a_run("waiting")
    server.answers[f"{OWN}{RUN}?wait=1"] = answer_of_a_run("evaluated")
    Client(server.url, TOKEN).wait("shop/bm25/7", patience=2.05)
    assert {path.partition("?")[2] for path, _ in server.asked} == {"wait=2", "wait=1"}
