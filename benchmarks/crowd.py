"""Many people who label over HTTP, in one thread and as cheaply as possible.

They share the processor with the server that they load, so what they do is put together from
bytes, and an answer is read only as far as they need it: a real crowd sits elsewhere.
"""

import gzip
import heapq
import json
import random
import re
import selectors
import socket
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

WANTED, LOW = 60, 30  # as the page asks
MOST_CHARACTERS = 1_000_000
WARM_UP = 2  # labels of each before anything is measured, at least
PATIENCE = 60.0  # seconds for one answer
CSRF: Final = "c" * 32
LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length: (\d+)")
PACKED: Final = b"\r\ncontent-encoding: gzip"
CLOSES: Final = b"\r\nconnection: close"
LAST_CHUNK: Final = b"\r\n0\r\n\r\n"
LABEL: Final = (
    '{"id":"%s","assignment":"%s","outcome":"graded","grade":%d,"reason":"","note":"",'
    '"spans":[],"made_at":"%s","guideline_revision":1,"content_hash":"%s","seconds":1.25}'
)


class Refused(Exception):
    """The server said something else than was hoped for."""


class Crowd:
    """Annotators who label until the time is up.

    plan: where the server is, and what everyone needs to sign in (see labelling_http.py). Its
    `begun`, if any: each has labelled fewer than so many pairs more than another before.
    spent: what the server's processes have used so far; asked when all have begun, and at the end.
    """

    def __init__(self, plan: Mapping[str, Any], spent: Callable[[], dict[str, float]]) -> None:
        kind = Writer if plan["kind"].startswith("minimal") else Annotator
        self._plan = plan
        self._spent = spent
        self._selector = selectors.DefaultSelector()
        self._people = [kind(plan, cookie, self._selector) for cookie in plan["cookies"]]
        # people have not all begun in the same second, so not all need the next pairs in the same
        within = plan.get("begun", WANTED - LOW if plan["pause"] else 1)
        dice = random.Random(2)
        self._begun = [WARM_UP + dice.randrange(within) for _ in self._people]

    def work(self) -> dict[str, Any]:
        """What came of it: labels stored, how long each took, and what all of it cost."""
        for person in self._people:
            person.ask()
        self._receive_all()
        for number in range(max(self._begun)):
            for person, labels in zip(self._people, self._begun, strict=True):
                if labels > number:
                    person.label()
            self._receive_all()
        for person in self._people:
            person.milliseconds.clear()
            person.pairs_milliseconds.clear()
        before, cpu, began = self._spent(), time.process_time(), time.monotonic()
        self._label(began + self._plan["seconds"])
        took = time.monotonic() - began
        cpu, after = time.process_time() - cpu, self._spent()
        for person in self._people:
            person.leave()
        return {
            "spent": {name: after[name] - before[name] for name in after},
            "stored": sum(len(person.milliseconds) for person in self._people),
            "took": took,
            "cpu": cpu,
            "milliseconds": [one for person in self._people for one in person.milliseconds],
            "pairs_milliseconds": [
                one for person in self._people for one in person.pairs_milliseconds
            ],
        }

    def _receive_all(self) -> None:
        while any(person.is_waiting for person in self._people):
            self._receive(PATIENCE)

    def _label(self, until: float) -> None:
        """Each their next label as soon as the last is stored and their pause is over."""
        pause = self._plan["pause"]
        dice = random.Random(1)
        due = [(time.monotonic() + dice.random() * pause, n) for n, _ in enumerate(self._people)]
        places = {person: n for n, person in enumerate(self._people)}
        heapq.heapify(due)
        while True:
            now = time.monotonic()
            while due and due[0][0] <= now:
                _, n = heapq.heappop(due)
                if now < until and self._people[n].ahead:
                    self._people[n].label()
            if not due and not any(person.is_waiting for person in self._people):
                return
            wait = max(0.0, due[0][0] - now) if due else PATIENCE
            for person in self._receive(wait):
                at = time.monotonic() + pause * dice.uniform(0.5, 1.5)
                heapq.heappush(due, (at, places[person]))

    def _receive(self, seconds: float) -> list["Annotator"]:
        """Take what comes within so many seconds; who has their answer."""
        began = time.monotonic()
        ready = self._selector.select(seconds)
        if not ready and time.monotonic() - began >= PATIENCE:
            raise Refused("no answer came")
        return [key.data for key, _ in ready if key.data.hear()]


class Annotator:
    """One browser: a connection that stays, one request a label, the next pairs before they are
    needed."""

    def __init__(
        self, plan: Mapping[str, Any], cookie: str, selector: selectors.BaseSelector
    ) -> None:
        self._address = ("127.0.0.1", plan["port"])
        self._selector = selector
        self._dice = random.Random(cookie)
        self._base = f"/api/v1/campaigns/{plan.get('campaign')}/"
        origin = f"https://{plan['host']}"  # as a proxy before the server would have it
        session, token = plan.get("cookie_names", ("sessionid", "csrftoken"))
        self._headers = (
            f" HTTP/1.1\r\nHost: {plan['host']}\r\nCookie: {session}={cookie}; {token}={CSRF}\r\n"
            f"X-CSRFToken: {CSRF}\r\nX-Forwarded-Proto: https\r\nAccept: */*\r\n"
            f"Accept-Encoding: gzip\r\nOrigin: {origin}\r\nReferer: {origin}/label\r\n"
            "Content-Type: application/json\r\nContent-Length: "
        )
        self._socket: socket.socket | None = None
        self._known: set[str] = set()
        self._answer = b""
        self._sent = b""
        self._sent_at = 0.0
        self._is_label = False
        self.ahead: deque[tuple[str, str]] = deque()  # assignment, hash of the text
        self.is_waiting = False
        self.milliseconds: list[float] = []  # of labels
        self.pairs_milliseconds: list[float] = []

    def ask(self) -> None:
        """For pairs, as a page that opens."""
        self._send(self._base + "next", json.dumps(self._wish()), is_label=False)

    def label(self) -> None:
        """Send a label of the next pair."""
        assignment, content_hash = self.ahead.popleft()
        grade, now = self._dice.randrange(5), datetime.now(UTC).isoformat()
        label = LABEL % (uuid.uuid4(), assignment, grade, now, content_hash)
        self._send(self._base + "labels", f'{{"labels":[{label}],"count":0}}', is_label=True)

    def hear(self) -> bool:
        """Take what has come; whether nothing more is waited for."""
        try:
            came = self._connection().recv(262_144)
        except ConnectionResetError:
            came = b""
        if not came:
            self._begin_again()
            return False
        self._answer += came
        head = self._answer.find(b"\r\n\r\n")
        if head < 0:
            return False
        if not self._is_complete(head):
            return False
        self._take(self._answer[:head].lower(), self._answer[head + 4 :])
        if self._is_label and len(self.ahead) < LOW:
            self.ask()
        return not self.is_waiting

    def _is_complete(self, head: int) -> bool:
        length = LENGTH.search(self._answer, 0, head + 2)
        if length is None:
            raise Refused(repr(self._answer[:300]))
        return len(self._answer) >= head + 4 + int(length[1])

    def leave(self) -> None:
        """Hang up."""
        if self._socket is not None:
            self._selector.unregister(self._socket)
            self._socket.close()
            self._socket = None

    def _wish(self) -> dict[str, Any]:
        held = [assignment for assignment, _ in self.ahead]
        return {"count": WANTED, "characters": MOST_CHARACTERS, "held": held}

    def _send(self, path: str, body: str, *, is_label: bool) -> None:
        self._sent = f"POST {path}{self._headers}{len(body)}\r\n\r\n{body}".encode()
        self._is_label, self.is_waiting = is_label, True
        self._sent_at = time.perf_counter()
        try:
            self._connection().sendall(self._sent)
        except OSError:
            self._begin_again()

    def _take(self, head: bytes, body: bytes) -> None:
        took = (time.perf_counter() - self._sent_at) * 1000
        if PACKED in head:
            body = gzip.decompress(body)
        if not head.startswith(b"http/1.1 200"):
            raise Refused(repr(head[:20] + body[:300]))
        self._answer, self.is_waiting = b"", False
        if self._is_label:
            self._check(body)
            self.milliseconds.append(took)
        else:
            self.pairs_milliseconds.append(took)
        if not self._brings_nothing(body):
            self._keep(json.loads(body)["pairs"])
        if CLOSES in head:
            self.leave()

    def _check(self, body: bytes) -> None:
        if b'"status":"stored"' not in body:
            raise Refused(repr(body[:300]))

    def _brings_nothing(self, body: bytes) -> bool:
        return b'"pairs":[]' in body

    def _keep(self, pairs: list[dict[str, Any]]) -> None:
        for pair in pairs:
            if pair["assignment"] not in self._known:
                self._known.add(pair["assignment"])
                self.ahead.append((pair["assignment"], pair["content_hash"]))

    def _connection(self) -> socket.socket:
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=PATIENCE)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(self._socket, selectors.EVENT_READ, self)
        return self._socket

    def _begin_again(self) -> None:
        """The server let an idle connection go, as it may: browsers ask again as well."""
        if self._answer:
            raise Refused("an answer ended before its end")
        self.leave()
        if self.is_waiting:
            self._connection().sendall(self._sent)


class Writer(Annotator):
    """Who sends labels of nothing to the minimal view."""

    def ask(self) -> None:
        """There is nothing to ask for."""
        self._base = "/"
        self.ahead = deque([(str(uuid.uuid4()), "0" * 64)])

    def label(self) -> None:
        """Send a label as the minimal view knows it."""
        body = {
            "id": str(uuid.uuid4()), "assignment": str(uuid.uuid4()), "content_hash": "0" * 64,
            "grade": self._dice.randrange(5), "guideline_revision": 1, "seconds": 1.25,
            "made_at": datetime.now(UTC).isoformat(),
        }  # fmt: skip
        self._send("/labels", json.dumps(body), is_label=True)

    def _brings_nothing(self, body: bytes) -> bool:
        return True

    def _is_complete(self, head: int) -> bool:
        return self._answer.endswith(LAST_CHUNK)  # without Django's middleware it has no length
