"""An annotator's account as a program drives it: requests over REST, and what they answer."""

import json
import random
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from annotation.models import Campaign
from tests.annotation.page_reading import client_of

ShownPair = dict[str, Any]  # a pair as an answer holds it


@dataclass(frozen=True)
class Answer:
    """An answer that brings pairs. asked: the `count` of the request."""

    asked: int
    body: dict[str, Any]

    @property
    def pairs(self) -> list[ShownPair]:
        return cast("list[ShownPair]", self.body["pairs"])

    @property
    def names(self) -> list[str]:
        """The pairs' names: the same whenever this account is offered the same pair."""
        return [pair["name"] for pair in self.pairs]

    @property
    def assignments(self) -> list[str]:
        return [pair["assignment"] for pair in self.pairs]

    @property
    def done(self) -> int:
        return int(self.body["progress"]["done"])

    @property
    def left(self) -> int:
        return int(self.body["progress"]["left"])


class Account:
    """One annotator, signed in. Remembers by which assignments it was offered each pair."""

    def __init__(self, campaign: Campaign, username: str) -> None:
        self.offered: dict[str, str] = {}  # a pair's name -> the newest assignment
        self._campaign, self._client = campaign, client_of(username)

    def next(self, count: int = 60, *, is_counted: bool = False) -> Answer:
        """`next?count=`: the pairs at hand. is_counted: long after the counts were asked for last,
        so that what is left is counted again."""
        if is_counted:
            cache.clear()
        response = self._client.get(self._address("next"), {"count": count})
        return self._answer(response, count)

    def release(self, assignments: Sequence[str] | None = None) -> int:
        """Give pairs back, or all; how many there were."""
        response = self._post("release", {"assignments": assignments})
        return int(response.json()["released"])

    def label(self, labels: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Send labels; their receipts, in their order."""
        response = self._post("labels", {"labels": list(labels), "count": 0})
        return cast("list[dict[str, Any]]", response.json()["labels"])

    def label_one(
        self, label: dict[str, Any], *, count: int = 60, held: Sequence[str] = ()
    ) -> Answer:
        """Send one label long after the last, and ask for pairs and counts with it."""
        cache.clear()
        body = {"labels": [label], "count": count, "held": list(held)}
        return self._answer(self._post("labels", body), count)

    def skip(self, assignment: str) -> Answer:
        """Skip the query of a pair; the answer names what went back, and what is at hand then."""
        body = {"assignment": assignment, "reason": "other", "count": 1}
        return self._answer(self._post("skips", body), 1)

    def return_skip(self, skip: str) -> None:
        address = reverse("api-campaign-skip-return", args=[self._campaign.public_id, skip])
        response = self._client.post(address, {}, content_type="application/json")
        assert response.status_code == 204, response.content

    def history(self, **wanted: str) -> list[dict[str, Any]]:
        """The own labels that hold, newest first."""
        response = self._client.get(self._address("labels"), {"limit": "200", **wanted})
        assert response.status_code == 200, response.content
        return cast("list[dict[str, Any]]", response.json())

    def _post(self, what: str, body: dict[str, Any]) -> Any:
        response = self._client.post(self._address(what), body, content_type="application/json")
        assert response.status_code == 200, response.content
        return response

    def _answer(self, response: Any, count: int) -> Answer:
        assert response.status_code == 200, response.content
        answer = Answer(count, response.json())
        self.offered.update(zip(answer.names, answer.assignments, strict=True))
        return answer

    def _address(self, what: str) -> str:
        return reverse(f"api-campaign-{what}", args=[self._campaign.public_id])


def make_label(rng: random.Random, assignment: str, **said: Any) -> dict[str, Any]:
    """A label as a program sends it; a grade drawn at random unless `said` says otherwise."""
    label = {
        "id": str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        "assignment": assignment,
        "guideline_revision": 1,
        "seconds": 3.0,
        "made_at": timezone.now().isoformat(),
        **said,
    }
    if label.get("outcome", "graded") == "graded":
        label.setdefault("grade", rng.randint(0, 4))
    return label


def size(value: Any) -> int:
    """The length of a value as JSON."""
    return len(json.dumps(value))
