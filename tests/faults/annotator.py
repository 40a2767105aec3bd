"""Someone who labels over HTTP, keeps a log of what was acknowledged, and never gives in early."""

import http.client
import json
import os
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

TIMEOUT = 10.0  # seconds for one answer
PAUSE = 0.1  # seconds between two attempts
HELD = 6  # pairs asked for at a time, unless more are sent at once
CAME_TO_NOTHING = (OSError, http.client.HTTPException)


class GaveUp(Exception):
    """What no answer came for within the patience of a person."""


@dataclass
class Annotator:
    """One client with one token. What it says is decided by its seed.

    log: a line of JSON for every acknowledged label, synced before anything else is sent.
    think: seconds for a label, on average. acknowledged: called after each.
    batch: how many labels go into one request, as after a time without a connection.
    mishaps: the part of the requests or answers that get lost on the way, whole or by half.
    patience: seconds for one request, however often it is sent. is_over: set when no one is to
    go on.
    """

    address: str
    headers: dict[str, str]
    campaign: str
    token: str
    log: Path
    seed: int
    think: float
    acknowledged: Callable[[], None]
    batch: int = 1
    mishaps: float = 0.0
    patience: float = 90.0
    is_over: threading.Event = field(default_factory=threading.Event)
    waits: list[float] = field(default_factory=list)
    retries: int = 0
    mishap_count: int = 0
    refused: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)
        # dice of their own: how often something is sent again depends on time
        self._line_dice = random.Random(self.seed + 1)
        self._connection: http.client.HTTPConnection | None = None
        self._last: dict[str, Any] | None = None

    def work(self, deadline: float) -> None:
        """Label until there is nothing left, or until the deadline (monotonic seconds)."""
        with self.log.open("ab") as log:
            idle = 0
            while idle < 3 and time.monotonic() < deadline:
                pairs = self._next()
                idle = 0 if pairs else idle + 1
                if not pairs:
                    time.sleep(PAUSE)
                said = [label for pair in pairs for label in self._labels(pair)]
                for start in range(0, len(said), self.batch):
                    some = said[start : start + self.batch]
                    self.is_over.wait(self._dice.uniform(0.5, 1.5) * self.think * len(some))
                    self._send(some, log)

    @property
    def has_said(self) -> bool:
        """Whether a grade was given that can be corrected."""
        return self._last is not None

    def say_one_thing_more(self) -> None:
        """Correct the last grade that was given."""
        assert self._last is not None
        corrected = {**self._last, "id": self._uuid(), "supersedes": self._last["id"]}
        with self.log.open("ab") as log:
            self._send([{**corrected, "grade": 4 - self._last["grade"]}], log)

    def _labels(self, pair: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """What is said of a pair: mostly a grade; now and then a correction, an undo, a doubt."""
        chance = self._dice.random()
        if chance < 0.03:
            yield self._label(pair, outcome="unsure", reason="unclear")
            return
        first = self._graded(pair)
        yield first
        if chance < 0.06:
            yield self._label(pair, outcome="retracted", supersedes=first["id"])
            yield self._graded(pair)
        elif chance < 0.09:
            yield self._graded(pair, supersedes=first["id"])

    def _graded(self, pair: dict[str, Any], **more: Any) -> dict[str, Any]:
        return self._label(pair, outcome="graded", grade=self._dice.randint(0, 4), **more)

    def _label(self, pair: dict[str, Any], **said: Any) -> dict[str, Any]:
        return {
            "id": self._uuid(),
            "assignment": pair["assignment"],
            "content_hash": pair["content_hash"],
            "guideline_revision": 1,
            "seconds": round(self.think, 3),
            "made_at": datetime.now(UTC).isoformat(),
            **said,
        }

    def close(self) -> None:
        """Hang up; the next request calls again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._dice.getrandbits(128), version=4))

    def _next(self) -> list[dict[str, Any]]:
        def read(status: int, body: Any) -> list[dict[str, Any]] | None:
            return body["pairs"] if status == 200 and body["is_open"] else None

        count = max(HELD, self.batch)
        pairs: list[dict[str, Any]] = self._until_answered("next", {"count": count}, read)
        return pairs

    def _send(self, labels: list[dict[str, Any]], log: Any) -> None:
        ids = [label["id"] for label in labels]

        def read(status: int, body: Any) -> list[dict[str, Any]] | None:
            receipts = body["labels"] if status == 200 else []
            return receipts if [one["id"] for one in receipts] == ids else None

        began = time.monotonic()
        receipts = self._until_answered("labels", {"labels": labels, "count": 0}, read)
        self.waits.append(time.monotonic() - began)
        both = list(zip(receipts, labels, strict=True))
        stored = [label for receipt, label in both if receipt["status"] != "refused"]
        self.refused += [one | label for one, label in both if one["status"] == "refused"]
        log.write(b"".join(json.dumps(label).encode() + b"\n" for label in stored))
        log.flush()
        os.fsync(log.fileno())
        for label in stored:
            if label["outcome"] == "graded":
                self._last = label
            self.acknowledged()

    def _until_answered(
        self, resource: str, body: dict[str, Any], read: Callable[[int, Any], Any]
    ) -> Any:
        """Send it, the same each time, until an answer parses and holds what it must hold."""
        deadline = time.monotonic() + self.patience
        failures: Counter[str] = Counter()
        while time.monotonic() < deadline and not self.is_over.is_set():
            try:
                status, said = self._post(resource, body)
                answer, failure = read(status, said), str(status)
            except (*CAME_TO_NOTHING, ValueError, KeyError, TypeError) as error:
                answer, failure = None, type(error).__name__
                self.close()
            if answer is not None:
                return answer
            failures[failure] += 1
            self.retries += 1
            time.sleep(PAUSE)
        raise GaveUp(f"{resource}: no answer in {self.patience:g} s, but {dict(failures)}")

    def _post(self, resource: str, body: dict[str, Any]) -> tuple[int, Any]:
        if self._connection is None:
            place = urlsplit(self.address)
            self._connection = http.client.HTTPConnection(
                place.hostname or "127.0.0.1", place.port, timeout=TIMEOUT
            )
        self._connection.request(
            "POST",
            f"/api/v1/campaigns/{self.campaign}/{resource}",
            json.dumps(body),
            {
                "Content-Type": "application/json",
                "Authorization": f"Bearer {self.token}",
                **self.headers,
            },
        )
        mishap = self._mishap()
        if mishap == "no answer":
            raise ConnectionResetError(mishap)
        answer = self._connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text[: len(text) // 2] if mishap else text)

    def _mishap(self) -> str:
        """What befalls this answer on its way: mostly nothing."""
        if self._line_dice.random() >= self.mishaps:
            return ""
        self.mishap_count += 1
        return self._line_dice.choice(("no answer", "half an answer"))
