"""A proxy on loopback between a browser and a server: as slow and as faulty as one likes.

Faults befall requests that change something, chosen by a seeded generator: dropped before the
server sees them, dropped after it has answered, delayed, cut in half, or sent twice.
"""

import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

FAULTS: Final = ("drop", "lose", "delay", "truncate", "repeat")
LONGEST_DELAY: Final = 1.5  # seconds
PATIENCE: Final = 60.0
END: Final = b"\r\n\r\n"


class Proxy:
    """Forwards whole requests; every connection carries one.

    port: of the server. delay: seconds before each answer is passed on. share: of the POST requests
    under /api/ that something happens to; with `reads`, of the GET requests there too. seen: how
    many of what, for the test's own eyes. `delay` and `share` can be changed at any time.
    """

    def __init__(
        self,
        port: int,
        *,
        delay: float = 0.0,
        share: float = 0.0,
        seed: int = 1,
        reads: bool = False,
    ) -> None:
        self._target = ("127.0.0.1", port)
        self.delay = delay
        self._faulty = (b"POST /api/", b"GET /api/") if reads else (b"POST /api/",)
        self._dice = random.Random(seed)
        self.share = share
        self.seen: Counter[str] = Counter()
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        """What the browser opens."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        """Take no further connections."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            client.settimeout(PATIENCE)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            try:
                request = _whole(client)
                if not request:
                    return
                answer = self._answer(request, self._fault_for(request))
                time.sleep(self.delay)
                client.sendall(answer)
            except OSError:
                return

    def _fault_for(self, request: bytes) -> str:
        self.seen["requests"] += 1
        if not request.startswith(self._faulty) or self._dice.random() >= self.share:
            return ""
        fault = self._dice.choice(FAULTS)
        self.seen[fault] += 1
        return fault

    def _answer(self, request: bytes, fault: str) -> bytes:
        """What the browser gets: the server's answer, or what the fault leaves of it."""
        if fault == "drop":
            return b""
        if fault == "delay":
            time.sleep(self._dice.uniform(0.1, LONGEST_DELAY))
        answer = self._forward(request)
        if fault == "repeat":
            answer = self._forward(request)
        broken: dict[str, Callable[[], bytes]] = {
            "lose": lambda: b"",
            "truncate": lambda: _truncated(answer),
        }
        return broken.get(fault, lambda: answer)()

    def _forward(self, request: bytes) -> bytes:
        with socket.create_connection(self._target, timeout=PATIENCE) as server:
            server.sendall(request)
            return b"".join(iter(lambda: server.recv(65_536), b""))


def _whole(client: socket.socket) -> bytes:
    """One request, so changed that its answer ends with the connection."""
    data = b""
    while END not in data:
        more = client.recv(65_536)
        if not more:
            return b""
        data += more
    head, body = data.split(END, 1)
    lines = _without(head, b"connection:")
    length = next(
        (int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")),
        0,
    )
    while len(body) < length:
        more = client.recv(65_536)
        if not more:
            return b""
        body += more
    return b"\r\n".join([*lines, b"Connection: close"]) + END + body


def _without(head: bytes, name: bytes) -> list[bytes]:
    return [line for line in head.split(b"\r\n") if not line.lower().startswith(name)]


def _truncated(answer: bytes) -> bytes:
    """Half of the body under a head that promises no more: complete, yet it can't be parsed."""
    head, _, body = answer.partition(END)  # there is none from a server that is killed meanwhile
    half = body[: len(body) // 2]
    lines = _without(head, b"content-length:")
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(half)]) + END + half
