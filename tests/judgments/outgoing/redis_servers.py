"""A server on loopback that speaks Redis's protocol and answers searches as a test wants."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field

HANDSHAKE = {"HELLO": b"%1\r\n+proto\r\n:3\r\n"}
Reply = Callable[[socket.socket], None]


@dataclass
class RedisServer:
    """commands: the words of each that came."""

    port: int
    commands: list[list[str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    @property
    def entry(self) -> str:
        """Its origin as an administrator lists it."""
        return f"{self.url}=127.0.0.0/8"


def send(data: bytes) -> Reply:
    """A reply of these bytes."""
    return lambda connection: connection.sendall(data)


def resp3(total: int, *rows: tuple[str, str, dict[str, str]]) -> bytes:
    """FT.SEARCH in RESP3, as Redis 8.2 answers. rows: id, score, fields."""
    results = b"".join(
        b"%3\r\n"
        + _bulk("id") + _bulk(docid)
        + _bulk("score") + f",{score}\r\n".encode()
        + _bulk("extra_attributes") + f"%{len(fields)}\r\n".encode()
        + b"".join(_bulk(name) + _bulk(value) for name, value in fields.items())
        for docid, score, fields in rows
    )  # fmt: skip
    count = f":{total}\r\n".encode()
    return (
        b"%3\r\n" + _bulk("total_results") + count + _bulk("warning") + b"*0\r\n"
        + _bulk("results") + f"*{len(rows)}\r\n".encode() + results
    )  # fmt: skip


def resp2(total: int, *rows: tuple[str, str, dict[str, str]]) -> bytes:
    """The same with WITHSCORES in RESP2, as RediSearch 1 and 2 answer."""
    flat = b"".join(
        _bulk(docid)
        + _bulk(score)
        + f"*{2 * len(fields)}\r\n".encode()
        + b"".join(_bulk(name) + _bulk(value) for name, value in fields.items())
        for docid, score, fields in rows
    )
    return f"*{1 + 3 * len(rows)}\r\n:{total}\r\n".encode() + flat


def _bulk(text: str) -> bytes:
    data = text.encode()
    return b"$%d\r\n%b\r\n" % (len(data), data)


@contextmanager
def serving_redis(*replies: Reply) -> Iterator[RedisServer]:
    """A server that gives each search the next of the replies, and the last to all after it."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = RedisServer(listener.getsockname()[1])
    left = list(replies)
    connections: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        with suppress(OSError), closing(connection):
            for words in _commands(connection):
                server.commands.append(words)
                if words[0] == "FT.SEARCH":
                    (left.pop(0) if len(left) > 1 else left[0])(connection)
                else:
                    connection.sendall(HANDSHAKE.get(words[0], b"+OK\r\n"))

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
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


def _commands(connection: socket.socket) -> Iterator[list[str]]:
    """The words of each command, to the end of the connection."""
    with connection.makefile("rb") as lines:
        while head := lines.readline():
            words = []
            for _ in range(int(head[1:])):
                size = int(lines.readline()[1:])
                words.append(lines.read(size + 2)[:-2].decode("latin-1"))
            yield words
