"""Half-sent requests hold no thread of the web server, whatever part of them is missing."""

import re
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from config.embedded import EmbeddedServer

THREADS = 4
ROOT = Path(__file__).parents[2]
HALVES = {
    "nothing": b"",
    "half a line": b"GET / HT",
    "half of the headers": b"GET / HTTP/1.1\r\nHost: x\r\nX-A: b",
    "headers without their end": b"GET / HTTP/1.1\r\nHost: x\r\n",
    "half of a body": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf",
    "half of a large body": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\nhalf",
    "half of a second request": b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HT",
}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    yield from serve("BufferingWorker", "config.serving")


@pytest.fixture(scope="module")
def hasty_port() -> Iterator[int]:
    yield from serve("HastyWorker", "tests.config.tiny_wsgi")


def serve(worker: str, module: str) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "tests.config.tiny_wsgi", "--bind"]
    command += [f"127.0.0.1:{port}", "--threads", str(THREADS), "--no-control-socket"]
    process = subprocess.Popen(
        [*command, "--worker-class", f"{module}.{worker}", "--log-level", "warning"], cwd=ROOT
    )
    try:
        for _ in range(600):
            if process.poll() is not None:
                pytest.fail("the server did not start")
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(30)


def connect(port: int, data: bytes) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=60)
    client.sendall(data)
    return client


def answer(client: socket.socket) -> bytes:
    """What comes until the server closes, or the answer is complete."""
    found = b""
    while True:
        head, end, body = found.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        if end and length and len(body) >= int(length[1]):
            return found
        block = client.recv(65536)
        if not block:
            return found
        found += block


@pytest.mark.parametrize("half", HALVES)
def test_forty_half_sent_requests_do_not_stop_the_server(port, half):
    with ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(connect(port, HALVES[half]))
        with connect(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") as client:
            assert answer(client).endswith(b"GET 0")


def test_a_half_sent_request_on_a_connection_that_was_kept_holds_no_thread(port):
    with ExitStack() as stack:
        for _ in range(40):
            client = stack.enter_context(connect(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
            assert answer(client).endswith(b"GET 0")
            client.sendall(b"GET / HTTP/1.1\r\nHo")
        with connect(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") as client:
            assert answer(client).endswith(b"GET 0")


@pytest.mark.parametrize("half", [name for name in HALVES if name != "nothing"])
def test_what_does_not_arrive_in_time_is_refused(hasty_port, half):
    with connect(hasty_port, HALVES[half]) as client:
        client.settimeout(60)
        refusal = answer(client)
        if half == "half of a second request":
            refusal = refusal[refusal.index(b"GET 0") + 5 :] or answer(client)
        assert refusal.startswith(b"HTTP/1.1 408 ")
        assert client.recv(1) == b""


def test_whoever_sends_nothing_is_let_go_without_a_word(hasty_port):
    with connect(hasty_port, b"") as client:
        assert client.recv(1) == b""


@pytest.mark.parametrize("size", [0, 1, 70_000, 2_000_000, 5_000_000])
def test_a_request_in_pieces_arrives_whole(port, size):
    request = b"POST / HTTP/1.1\r\nHost: x\r\ncontent-length: %d\r\n\r\n" % size + b"a" * size
    with connect(port, request[:5]) as client:
        for start, end in ((5, 20), (20, 45), (45, 60), (60, size // 2 + 60)):
            client.sendall(request[start:end])
            time.sleep(0.01)
        client.sendall(request[size // 2 + 60 :])
        assert answer(client).endswith(b"POST %d" % size)


def test_requests_sent_one_behind_the_other_are_both_answered(port):
    one = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
    with connect(port, one + one) as client:
        found = b""
        while found.count(b"POST 3") < 2:
            block = client.recv(65536)
            assert block, found
            found += block


def test_a_client_that_waits_to_be_asked_for_its_body_is_asked(port):
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
    with connect(port, head) as client:
        assert client.recv(65536).startswith(b"HTTP/1.1 100 ")
        client.sendall(b"abc")
        assert answer(client).endswith(b"POST 3")


def test_clients_that_do_not_close_keep_nobody_waiting(port):
    last = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with ExitStack() as stack:
        held = [stack.enter_context(connect(port, last)) for _ in range(40)]
        for client in held:
            assert answer(client).endswith(b"GET 0")
        began = time.monotonic()
        for _ in range(3):
            with connect(port, last) as client:
                assert answer(client).endswith(b"GET 0")
        assert time.monotonic() - began < 2.0
        for client in held:  # and are let go
            assert client.recv(1) == b""
        for client in held:  # what they still send is read, and the answer not cut off
            client.sendall(b"more")


def test_an_open_connection_does_not_wait_behind_all_new_ones(port):
    """As labels do not wait behind hundreds of pages that ask at once."""
    with ExitStack() as stack:
        kept = stack.enter_context(connect(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
        assert answer(kept).endswith(b"GET 0")
        slow = b"GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        others = [stack.enter_context(connect(port, slow)) for _ in range(40)]
        time.sleep(0.15)  # until they are known to the server
        kept.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer(kept).endswith(b"GET 0")
        answered, _, _ = select.select(others, [], [], 0)
        assert len(answered) <= 5 * THREADS  # running before, waiting before, and some on the way
        for client in others:
            assert answer(client).endswith(b"GET 0")


def test_endless_headers_are_refused(port):
    with connect(port, b"GET / HTTP/1.1\r\nX-A: " + b"a" * 70_000) as client:
        assert answer(client).startswith(b"HTTP/1.1 431 ")


def test_both_modes_are_served_by_this_worker():
    server = EmbeddedServer(host="127.0.0.1", port=1, on_ready=lambda: None)
    assert server.cfg.worker_class.__name__ == "BufferingWorker"
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert '"--worker-class", "config.serving.BufferingWorker"' in dockerfile
