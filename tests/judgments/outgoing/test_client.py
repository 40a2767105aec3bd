"""The client for requests to other servers, against servers that do it no good."""

import gzip
import itertools
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from judgments.outgoing.client import MESSAGES, Client, Limits, Outcome, OutgoingError
from judgments.outgoing.rules import read_origins
from tests.judgments.outgoing.servers import Reply, Server, answer, serving
from tests.judgments.outgoing.spellings import HOSTS

QUICK = Limits(seconds=0.6, size=100_000)

# what this process connected to and looked up, while a test listens
heard: list[tuple[str, Any]] | None = None


def hear(event: str, arguments: tuple[Any, ...]) -> None:
    if heard is not None and event in ("socket.connect", "socket.getaddrinfo"):
        heard.append((event, arguments[1] if event == "socket.connect" else arguments[0]))


sys.addaudithook(hear)


@pytest.fixture
def network() -> Iterator[list[tuple[str, Any]]]:
    """Every connection and look-up of this process, as the interpreter reports them."""
    global heard  # noqa: PLW0603  (an audit hook can't be removed)
    heard = []
    yield heard
    heard = None


def ask(server: Server, path: str = "/", limits: Limits = QUICK) -> Any:
    with Client(read_origins([server.entry]), limits=limits) as client:
        return client.request("GET", server.url + path)


def failure_of(request: Callable[[], object]) -> OutgoingError:
    with pytest.raises(OutgoingError) as failed:
        request()
    return failed.value


def outcome_of(reply: Reply) -> Outcome:
    with serving(reply) as server:
        return failure_of(lambda: ask(server)).outcome


def test_an_answer_has_status_headers_and_body() -> None:
    with serving(answer(b"hello", "Content-Type: text/plain", "X-A: 1")) as server:
        got = ask(server, "/a b?c=ü#d")
        assert (got.status, got.body) == (200, b"hello")
        assert got.headers["content-type"] == "text/plain"
        assert got.headers["x-a"] == "1"
        assert 0 < got.seconds < 0.6
        (request,) = server.requests
        assert request.splitlines() == [
            "GET /a%20b?c=%C3%BC HTTP/1.1",
            f"Host: 127.0.0.1:{server.port}",
            "Accept-Encoding: gzip",
            "User-Agent: Touchstone",
            "",
        ]


def test_headers_and_a_body_are_sent() -> None:
    with serving(answer(b"{}")) as server, Client(read_origins([server.entry])) as client:
        client.request(
            "POST", server.url, headers=[("Authorization", "Bearer x")], body=b'{"q": 1}'
        )
        assert "Authorization: Bearer x\r\n" in server.requests[0]
        assert "Content-Length: 8\r\n" in server.requests[0]


@pytest.mark.parametrize("name", ["Host", "host", "Content-Length", "Cookie", "Transfer-Encoding"])
def test_headers_that_would_change_where_a_request_goes_are_refused(name: str) -> None:
    with serving(answer()) as server, Client(read_origins([server.entry])) as client:
        failed = failure_of(lambda: client.request("GET", server.url, headers=[(name, "x")]))
        assert failed.outcome == Outcome.REFUSED
        assert server.connections == 0


@pytest.mark.parametrize("header", [("X", "a\r\nHost: evil.example"), ("X\r\nY", "a"), ("", "a")])
def test_a_header_can_not_smuggle_another(header: tuple[str, str]) -> None:
    with serving(answer()) as server, Client(read_origins([server.entry])) as client:
        failed = failure_of(lambda: client.request("GET", server.url, headers=[header]))
        assert failed.outcome == Outcome.REFUSED
        assert server.requests == []


def test_connections_are_used_again_and_no_cookie_is_kept() -> None:
    with (
        serving(answer(b"a", "Set-Cookie: a=b")) as server,
        Client(read_origins([server.entry])) as client,
    ):
        for _ in range(3):
            assert client.request("GET", server.url).body == b"a"
        assert server.connections == 1
        assert "cookie" not in "".join(server.requests).lower()


def test_threads_share_a_client() -> None:
    def slow(connection: socket.socket) -> None:
        time.sleep(0.1)
        answer(b"a")(connection)

    with (
        serving(slow) as server,
        Client(read_origins([server.entry]), limits=Limits(connections=4)) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        asked = [pool.submit(client.request, "GET", server.url) for _ in range(16)]
        assert {one.result().body for one in asked} == {b"a"}
        assert server.connections <= 4


# refused by the list


@pytest.mark.parametrize("host", HOSTS)
def test_no_spelling_of_a_local_address_is_connected_to(
    host: str, network: list[tuple[str, Any]]
) -> None:
    with Client(read_origins(["http://images.example.org"]), limits=QUICK) as client:
        failed = failure_of(lambda: client.request("GET", f"http://{host}/latest/meta-data"))
    assert failed.outcome == Outcome.REFUSED
    assert network == []


@pytest.mark.parametrize("host", HOSTS)
def test_no_name_that_leads_to_a_local_address_is_connected_to(
    host: str, network: list[tuple[str, Any]]
) -> None:
    """The resolver's answer may be spelled as it likes: an allowed name is no way around."""
    spelled = host.strip("[]")
    with Client(
        read_origins(["http://images.example.org"]), limits=QUICK, look_up=lambda *_: [spelled]
    ) as client:
        failed = failure_of(lambda: client.request("GET", "http://images.example.org/a.jpg"))
    assert failed.outcome == Outcome.REFUSED
    assert network == []


def test_nothing_is_allowed_unless_an_administrator_says_so(
    network: list[tuple[str, Any]],
) -> None:
    with Client() as client:
        failed = failure_of(lambda: client.request("GET", "https://images.example.org/"))
    assert (failed.outcome, failed.detail) == (Outcome.REFUSED, "outgoing requests are off")
    assert network == []


def test_one_local_address_among_public_ones_refuses_the_name(
    network: list[tuple[str, Any]],
) -> None:
    with Client(
        read_origins(["http://images.example.org"]),
        limits=QUICK,
        look_up=lambda *_: ["93.184.215.14", "127.0.0.1"],
    ) as client:
        failed = failure_of(lambda: client.request("GET", "http://images.example.org/"))
    assert failed.outcome == Outcome.REFUSED
    assert "127.0.0.1" in failed.detail
    assert "127.0.0.1" not in failed.message
    assert network == []


def test_a_name_is_looked_up_once_and_the_connection_goes_to_that_address(
    network: list[tuple[str, Any]],
) -> None:
    """A name server that gives another address the second time is not asked a second time."""
    answers = itertools.chain([["127.0.0.1"]], itertools.repeat(["169.254.169.254"]))
    with serving(answer(b"a")) as server:
        entry = f"http://engine.test:{server.port}=127.0.0.0/8"
        with Client(read_origins([entry]), look_up=lambda *_: next(answers)) as client:
            url = f"http://engine.test:{server.port}/"
            assert client.request("GET", url).body == b"a"
            assert f"Host: engine.test:{server.port}\r\n" in server.requests[0]
        with Client(read_origins([entry]), look_up=lambda *_: next(answers)) as client:
            assert failure_of(lambda: client.request("GET", url)).outcome == Outcome.REFUSED
        connects = [where for event, where in network if event == "socket.connect"]
        assert connects == [("127.0.0.1", server.port)]
        assert {host for event, host in network if event == "socket.getaddrinfo"} <= {"127.0.0.1"}


def test_where_the_first_address_does_not_answer_the_next_is_tried() -> None:
    with serving(answer(b"a")) as server:
        entry = f"http://engine.test:{server.port}=127.0.0.0/8"
        look_up = ["127.0.0.9", "127.0.0.1"]
        with Client(read_origins([entry]), look_up=lambda *_: look_up) as client:
            assert client.request("GET", f"http://engine.test:{server.port}/").body == b"a"


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_not_followed(status: str, network: list[tuple[str, Any]]) -> None:
    with serving(answer(b"secret")) as other:
        reply = answer(b"", f"Location: {other.url}/", status=status)
        with serving(reply) as server:
            failed = failure_of(lambda: ask(server))
            assert failed.outcome == Outcome.STATUS
            assert "redirect" in failed.detail
            assert {where for event, where in network if event == "socket.connect"} == {
                ("127.0.0.1", server.port)
            }
        assert other.connections == 0


def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(answer(b"proxied")) as proxy, serving(answer(b"direct")) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert ask(server).body == b"direct"
        assert proxy.connections == 0


# no answer


@pytest.mark.parametrize("status", ["404 Not Found", "429 Slow Down", "500 Oops", "503 Away"])
def test_an_error_is_an_outcome_and_its_answer_is_kept_for_who_configured_it(status: str) -> None:
    with serving(answer(b"stack trace", "Retry-After: 3", status=status)) as server:
        failed = failure_of(lambda: ask(server))
    assert failed.outcome == Outcome.STATUS
    assert failed.code == "outgoing_status"
    assert failed.message == MESSAGES[Outcome.STATUS]
    assert failed.answer is not None
    assert failed.answer.body == b"stack trace"
    assert failed.answer.headers["retry-after"] == "3"


def test_a_name_without_an_address_is_an_outcome() -> None:
    def fail(host: str, port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    def none(host: str, port: int) -> list[str]:
        return []

    allowed = read_origins(["https://images.example.org"])
    for look_up in (fail, none):
        with Client(allowed, look_up=look_up) as client:
            failed = failure_of(lambda: client.request("GET", "https://images.example.org/"))
            assert failed.outcome == Outcome.DNS


def test_a_name_server_that_hangs_does_not_hold_the_request() -> None:
    go_on = threading.Event()

    def hang(host: str, port: int) -> list[str]:
        go_on.wait(10)
        return []

    allowed = read_origins(["https://images.example.org"])
    began = time.monotonic()
    with Client(allowed, limits=QUICK, look_up=hang) as client:
        failed = failure_of(lambda: client.request("GET", "https://images.example.org/"))
    go_on.set()
    assert failed.outcome == Outcome.TIMEOUT
    assert time.monotonic() - began < 2


def test_a_server_that_is_not_there_is_an_outcome() -> None:
    with serving(answer()) as server:
        pass
    assert failure_of(lambda: ask(server)).outcome == Outcome.CONNECT


def hang_up(connection: socket.socket) -> None:
    connection.close()


def hang(connection: socket.socket) -> None:
    time.sleep(3)


def drip(before: bytes, piece: bytes) -> Reply:
    """Something every now and then, for ever: each read is answered in time."""

    def reply(connection: socket.socket) -> None:
        connection.sendall(before)
        with suppress(OSError):
            for _ in range(200):
                connection.sendall(piece)
                time.sleep(0.02)

    return reply


@pytest.mark.parametrize(
    "reply",
    [
        hang,
        drip(b"", b"H"),
        drip(b"HTTP/1.1 200 OK\r\n", b"X-A: 1\r\n"),
        drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        drip(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"a"),
        drip(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
        drip(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X-A: 1\r\n"),
    ],
    ids=["hang", "status", "headers", "interim", "body", "chunks", "trailers"],
)
def test_time_is_limited_as_a_whole(reply: Reply) -> None:
    began = time.monotonic()
    assert outcome_of(reply) == Outcome.TIMEOUT
    assert time.monotonic() - began < 2


def test_a_server_that_does_not_read_does_not_hold_the_request() -> None:
    with serving(hang) as server, Client(read_origins([server.entry]), limits=QUICK) as client:
        failed = failure_of(lambda: client.request("POST", server.url, body=bytes(50_000_000)))
        assert failed.outcome == Outcome.TIMEOUT


def test_waiting_for_a_connection_counts_as_time() -> None:
    limits = Limits(seconds=0.6, connections=1)
    with (
        serving(hang) as server,
        Client(read_origins([server.entry]), limits=limits) as client,
        ThreadPoolExecutor(3) as pool,
    ):
        began = time.monotonic()
        asked = [pool.submit(client.request, "GET", server.url) for _ in range(3)]
        failed = [failure_of(one.result).outcome for one in asked]
        assert failed == [Outcome.TIMEOUT] * 3
        assert time.monotonic() - began < 2


# too large


def flood(before: bytes, piece: bytes) -> Reply:
    def reply(connection: socket.socket) -> None:
        with suppress(OSError):
            connection.sendall(before)
            for _ in range(500):
                connection.sendall(piece)

    return reply


MEGABYTE = b"a" * 1_000_000


@pytest.mark.parametrize(
    "reply",
    [
        answer(MEGABYTE),
        flood(b"HTTP/1.1 200 OK\r\nContent-Length: 500000000\r\n\r\n", MEGABYTE),
        flood(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", MEGABYTE),
        flood(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"f4240\r\n" + MEGABYTE + b"\r\n",
        ),
        flood(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"1;" + b"e" * 10_000 + b"\r\na\r\n",
        ),
        flood(b"", b"HTTP/1.1 103 Early Hints\r\nX-A: " + b"a" * 10_000 + b"\r\n\r\n"),
        answer(gzip.compress(bytes(500_000_000), 1), "Content-Encoding: gzip"),
    ],
    ids=["length", "500MB", "until-close", "chunks", "chunk-names", "interim", "gzip"],
)
def test_size_is_limited_as_it_comes_and_decompressed(reply: Reply) -> None:
    with serving(reply) as server:
        limits = Limits(seconds=5, size=100_000)
        assert failure_of(lambda: ask(server, limits=limits)).outcome == Outcome.TOO_LARGE


def test_headers_are_limited() -> None:
    reply = answer(b"", "X-A: " + "a" * 1_000_000)
    assert outcome_of(reply) in (Outcome.MALFORMED, Outcome.TOO_LARGE)


def test_a_body_of_just_the_limit_is_taken() -> None:
    body = b"a" * QUICK.size
    with serving(answer(body)) as server:
        assert ask(server).body == body
    with serving(answer(gzip.compress(body), "Content-Encoding: gzip")) as server:
        assert ask(server).body == body
    with serving(answer(gzip.compress(body + b"a"), "Content-Encoding: gzip")) as server:
        assert failure_of(lambda: ask(server)).outcome == Outcome.TOO_LARGE


# not understood


@pytest.mark.parametrize(
    "reply",
    [
        flood(b"220 mail.example.org ESMTP\r\n\r\n", b""),
        flood(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", b""),
        flood(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b""),
        flood(b"HTTP/1.1 200 OK\r\nX-\x00: a\r\n\r\n", b""),
        answer(b"a", "Content-Encoding: br"),
        answer(b"not compressed", "Content-Encoding: gzip"),
        answer(gzip.compress(b"a")[:-4], "Content-Encoding: gzip"),
        answer(gzip.compress(b"a") + b"more", "Content-Encoding: gzip"),
        answer(zlib.compress(b"a"), "Content-Encoding: gzip"),
    ],
)
def test_what_is_not_understood_is_an_outcome(reply: Reply) -> None:
    assert outcome_of(reply) == Outcome.MALFORMED


def test_an_answer_that_breaks_off_is_no_answer() -> None:
    def broken(connection: socket.socket) -> None:
        answer(b'{"hits": [', length=100)(connection)
        connection.shutdown(socket.SHUT_WR)

    assert outcome_of(broken) == Outcome.MALFORMED
    assert outcome_of(hang_up) == Outcome.CONNECT


def test_after_a_failure_the_client_goes_on() -> None:
    with (
        serving(hang, answer(MEGABYTE), answer(b"a")) as server,
        Client(read_origins([server.entry]), limits=QUICK) as client,
    ):
        outcomes = [failure_of(lambda: client.request("GET", server.url)).outcome for _ in "12"]
        assert outcomes == [Outcome.TIMEOUT, Outcome.TOO_LARGE]
        assert client.request("GET", server.url).body == b"a"


# encrypted


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate of engine.test, signed by itself."""
    made = tmp_path_factory.mktemp("tls") / "engine.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=engine.test"),
            *(
                "-addext",
                "subjectAltName=DNS:engine.test",
                "-keyout",
                made,
                "-out",
                made.parent / "c",
            ),
        ],
        check=True,
        capture_output=True,
    )
    made.write_bytes(made.read_bytes() + (made.parent / "c").read_bytes())
    return made


def tls_request(certificate: Path, host: str, trusted: ssl.SSLContext | None) -> Any:
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(certificate)
    names: list[str] = []
    own.sni_callback = lambda _, name, __: names.append(name)
    with serving(answer(b"a"), tls=own) as server:
        entry = f"https://{host}:{server.port}=127.0.0.0/8"
        with Client(read_origins([entry]), look_up=lambda *_: ["127.0.0.1"], tls=trusted) as client:
            got = client.request("GET", f"https://{host}:{server.port}/")
        assert f"Host: {host}:{server.port}\r\n" in server.requests[0]
    assert names == [host]
    return got


def test_the_certificate_is_that_of_the_name_though_the_connection_is_to_an_address(
    certificate: Path,
) -> None:
    trusted = ssl.create_default_context(cafile=certificate)
    assert tls_request(certificate, "engine.test", trusted).body == b"a"
    failed = failure_of(lambda: tls_request(certificate, "other.test", trusted))
    assert failed.outcome == Outcome.TLS


def test_a_certificate_that_nobody_signed_is_an_outcome(certificate: Path) -> None:
    failed = failure_of(lambda: tls_request(certificate, "engine.test", None))
    assert failed.outcome == Outcome.TLS


def test_a_server_without_encryption_is_an_outcome() -> None:
    def plain(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]

    def serve() -> None:
        connection, _ = listener.accept()
        connection.recv(1_000)
        plain(connection)
        connection.close()

    threading.Thread(target=serve, daemon=True).start()
    with listener, Client(read_origins([f"https://127.0.0.1:{port}=127.0.0.0/8"])) as client:
        failed = failure_of(lambda: client.request("GET", f"https://127.0.0.1:{port}/"))
    assert failed.outcome == Outcome.TLS


def test_nothing_else_of_the_server_speaks_to_other_servers() -> None:
    """The library's REST client does, where it is used; allauth asks the identity provider that the
    administrator names.
    """
    root = Path(__file__).resolve().parents[3]
    speaks = re.compile(
        r"^\s*(?:import|from) (?:httpcore|httpx|requests|urllib\.request|urllib3|http\.client)",
        re.MULTILINE,
    )
    found = {
        str(file.relative_to(root))
        for app in ("annotation", "config", "evaluation", "judgments")
        for file in (root / app).rglob("*.py")
        if speaks.search(file.read_text())
    }
    others = {"config/healthcheck.py", "judgments/sign_on/views.py"}
    assert found - others == {"judgments/outgoing/client.py"}
