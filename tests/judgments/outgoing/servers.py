"""Servers on loopback that answer with the bytes that a test wants, well or badly."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field

Reply = Callable[[socket.socket], None]


@dataclass
class Server:
    """requests: what was sent, up to the end of the headers, a text for each request."""

    port: int
    requests: list[str] = field(default_factory=list)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def entry(self) -> str:
        """Its origin as an administrator lists it."""
        return f"{self.url}=127.0.0.0/8"


def answer(
    body: bytes = b"", *headers: str, status: str = "200 OK", length: int | None = None
) -> Reply:
    """A whole answer; `length` where it says another than the body has."""
    given = "".join(f"{header}\r\n" for header in headers)
    size = len(body) if length is None else length
    head = f"HTTP/1.1 {status}\r\nContent-Length: {size}\r\n{given}\r\n"
    return lambda connection: connection.sendall(head.encode("latin-1") + body)


@contextmanager
def serving(*replies: Reply, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """A server that gives each request the next of the replies, and the last to all after it.

    A connection stays open as long as its replies leave it open.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(listener.getsockname()[1])
    left = list(replies)
    connections: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        with (
            suppress(OSError),
            closing(connection),
            tls.wrap_socket(connection, server_side=True) if tls else connection as stream,
        ):
            while request := _read_head(stream):
                server.requests.append(request)
                (left.pop(0) if len(left) > 1 else left[0])(stream)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                server.connections += 1
                connections.append(connection)
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server
    finally:
        for one in (listener, *connections):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def _read_head(stream: socket.socket) -> str:
    head = b""
    while b"\r\n\r\n" not in head:
        more = stream.recv(65_536)
        if not more:
            return ""
        head += more
    return head.decode("latin-1")
