"""The web server's worker: threads answer requests, and wait for none to arrive.

gunicorn's threads read requests themselves, so as many half-sent ones as there are threads stop the
server. Here the worker's event loop collects what clients send, until a deadline, and passes a
request to a thread when its headers are complete, and its body too where that is not large.

The loop also accepts several who wait in one round, of which there are few a second while threads
compute, but no one while enough requests wait for a thread: another process may have one free, and
those that come on open connections, as labels do, have a short queue. And it goes on while clients
close: gunicorn waits in it for each that asked for no further request, up to two seconds.
"""

import re
import selectors
import socket
import struct
import sys
import time
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, Final

from gunicorn import http
from gunicorn.workers.gthread import TConn, ThreadWorker

HEADERS_END: Final = b"\r\n\r\n"
LARGEST_HEADERS: Final = 64 * 1024
# A larger body is read by a thread as it comes: only signed-in people may send one, see
# judgments/middleware.py.
LARGEST_BODY: Final = 2 * 1024 * 1024 + 64 * 1024
MOST_BYTES: Final = 64 * 1024 * 1024  # of all requests that are arriving
STALLED: Final = 30  # seconds without a byte of a large body, or without reading the answer
AT_ONCE: Final = 64 * 1024
STOPPING: Final = 2.0  # seconds that a stopping server gives to what is arriving
# Seconds that a thread computes before another may: a label asks the database a dozen times, and
# after each answer waits so long for a thread that puts a table together. Python's own: 0.005.
SWITCH: Final = 0.001
CLOSING: Final = 2.0  # seconds that a client has to read its answer and close

_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})[ \t]*\r\n", re.IGNORECASE)
# such a client sends its body only when it is asked to
_EXPECTS: Final = re.compile(rb"\r\nexpect:", re.IGNORECASE)


class _Arriving:
    """A request that a client is sending."""

    def __init__(self, data: bytes, deadline: float) -> None:
        self.data = bytearray(data)
        self.deadline = deadline
        self._wanted: int | None = None

    def is_complete(self) -> bool:
        """Whether a thread could answer it without waiting."""
        if self._wanted is None:
            end = self.data.find(HEADERS_END)
            if end < 0:
                return False
            headers = bytes(self.data[: end + 2])
            length = _LENGTH.search(headers)
            size = int(length[1]) if length and not _EXPECTS.search(headers) else 0
            self._wanted = end + len(HEADERS_END) + (size if size <= LARGEST_BODY else 0)
        return len(self.data) >= self._wanted

    def is_too_large(self) -> bool:
        return self._wanted is None and len(self.data) > LARGEST_HEADERS


class BufferingWorker(ThreadWorker):  # type: ignore[misc]
    """gunicorn's gthread, with requests collected in its event loop.

    to_arrive: seconds that a client has for its headers and a body that is not large.
    """

    to_arrive = 15.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sys.setswitchinterval(SWITCH)
        # in the order of their deadlines
        self._arriving: dict[TConn, _Arriving] = {}
        self._closing: dict[TConn, float] = {}
        self._bytes = 0
        self._answering = 0  # requests that a thread has, or that wait for one

    def accept(self, listener: socket.socket) -> None:
        """Accept those who wait, as many as there are threads."""
        for _ in range(self.cfg.threads):
            before = self.nr_conns
            super().accept(listener)
            if self.nr_conns == before or self.nr_conns >= self.worker_connections:
                return

    def set_accept_enabled(self, enabled: bool) -> None:
        """Leave who waits to the other processes while all threads are busy and as many wait."""
        super().set_accept_enabled(enabled and self._answering < 2 * self.cfg.threads)

    def enqueue_req(self, conn: TConn) -> None:
        """Collect the request first; gunicorn would let a thread wait for it."""
        ahead = conn.parser.unreader.take_buffered() if conn.parser is not None else b""
        arriving = _Arriving(ahead, time.monotonic() + self.to_arrive)
        if arriving.is_complete():
            self._answer(conn, arriving)
            return
        conn.sock.setblocking(False)
        self._arriving[conn] = arriving
        self._bytes += len(ahead)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._receive, conn))

    def murder_pending(self) -> None:
        """gunicorn's hook for deadlines: refuse what has not arrived in time."""
        super().murder_pending()
        due = time.monotonic() if self.alive else time.monotonic() + self.to_arrive - STOPPING
        late = [conn for conn, arriving in self._arriving.items() if arriving.deadline <= due]
        for conn in late:
            self._refuse(conn, "408 Request Timeout")
        now = time.monotonic()
        for conn in [conn for conn, deadline in self._closing.items() if deadline <= now]:
            self._end(conn)

    def finish_request(self, conn: TConn, fs: Future[Any]) -> None:
        """Let a client whose connection is not kept read its answer, without waiting for it."""
        self._answering -= 1
        if fs.cancelled() or fs.exception() or fs.result():
            super().finish_request(conn, fs)
            return
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            conn.sock.setblocking(False)
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._drain, conn))
        except (OSError, ValueError):  # it is closed already
            self._close(conn)
            return
        self._closing[conn] = time.monotonic() + CLOSING

    def _drain(self, conn: TConn, client: socket.socket) -> None:
        """Read what is of no interest: closed with unread bytes, the answer could be cut off."""
        if _read(client) == b"":
            self._end(conn)

    def _end(self, conn: TConn) -> None:
        del self._closing[conn]
        self.poller.unregister(conn.sock)
        self._close(conn)

    def _receive(self, conn: TConn, client: socket.socket) -> None:
        """Take what a client has sent; pass the request on when it is complete."""
        arriving = self._arriving[conn]
        received = _read(client)
        if received is None:
            return
        if not received:
            self._forget(conn)
            self._close(conn)
            return
        arriving.data += received
        self._bytes += len(received)
        if arriving.is_complete():
            self._forget(conn)
            self._answer(conn, arriving)
        elif arriving.is_too_large():
            self._refuse(conn, "431 Request Header Fields Too Large")
        elif self._bytes > MOST_BYTES:
            self._refuse(conn, "503 Service Unavailable")

    def _answer(self, conn: TConn, arriving: _Arriving) -> None:
        if conn.parser is None:
            conn.parser = http.get_parser(self.cfg, conn.sock, conn.client)
            conn.initialized = True
            _give_up_when_stalled(conn.sock)
        conn.parser.unreader.unread(bytes(arriving.data))
        self._answering += 1
        if self._accepting:
            self.set_accept_enabled(True)  # or not any more
        super().enqueue_req(conn)

    def _refuse(self, conn: TConn, status: str) -> None:
        """Close the connection; tell a client that has sent something why."""
        if self._forget(conn).data:
            answer = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            with suppress(OSError):  # a client that does not read either
                conn.sock.send(answer.encode())
        self._close(conn)

    def _forget(self, conn: TConn) -> _Arriving:
        arriving = self._arriving.pop(conn)
        self._bytes -= len(arriving.data)
        self.poller.unregister(conn.sock)
        return arriving

    def _close(self, conn: TConn) -> None:
        self.nr_conns -= 1
        conn.close()


def _read(client: socket.socket) -> bytes | None:
    """What a client has sent: None for nothing yet, empty where it has closed."""
    try:
        return client.recv(AT_ONCE)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _give_up_when_stalled(client: socket.socket) -> None:
    """By the kernel's own clock: gunicorn makes the socket blocking whenever it uses it."""
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        client.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", STALLED, 0))
