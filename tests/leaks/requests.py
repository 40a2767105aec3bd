"""What an annotator can see of each pair that is given to them, as numbers.

A campaign is labelled through the REST interface. Of every pair all is kept that its annotator
gets to know: the fields of the answer, sizes, places, ids, counts, times, and the same of the
answers to a question about it and to its label, and of its row in the own history.
"""

import json
import random
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.gold.services import change_checks, mark_gold
from annotation.models import Assignment, Campaign, Question
from judgments.models import Document, User
from tests.annotation.page_reading import client_of
from tests.builders import make_access, make_member, make_world
from tests.builders_annotation import make_campaign

GOLD_SHARE = 0.2  # of all pairs
WATCHED = 1.3  # plain pairs that are looked at, for every gold pair
LOT = 60


@dataclass(frozen=True)
class Seen:
    """A pair as its annotator met it. item: which pair it is. fields: the names in every answer
    about it. features: numbers; the same many for each. size: of the pair, in characters."""

    is_gold: bool
    item: int
    size: int
    fields: tuple[str, ...]
    features: tuple[float, ...]


def make_scene(*, queries: int, documents: int, people: int, seed: int) -> Campaign:
    """A campaign in which a fifth of every document's pairs is gold, drawn at random.

    So gold and other pairs have texts of the same lengths by design: what tells them apart then is
    how they are handed out, and not which texts a lead has picked.
    """
    dice = random.Random(seed)
    world = make_world(queries=queries, documents=documents)
    for document in Document.objects.all():
        document.title = "word " * dice.randint(1, 12)
        document.body = "and so on " * dice.randint(0, 40)
        document.save()
    names = [f"person{number}" for number in range(people)]
    for name in names:
        make_member(collection=world.collection, username=name, role="annotator")
    drawn = [
        (query, document)
        for query in world.queries
        for document in dice.sample(world.documents, dice.randint(documents // 3, documents))
    ]
    campaign = make_campaign(world=world, pairs=drawn, people=names, overlap=people, seed=seed)
    ada = make_access(collection=world.collection)
    found = list(campaign.pairs.select_related("campaign__list").order_by("pk"))
    by_document = defaultdict(list)
    for pair in found:
        by_document[pair.document_id].append(pair)
    golden = [
        pair
        for pairs in by_document.values()
        for pair in dice.sample(pairs, round(GOLD_SHARE * len(pairs)))
    ]
    for pair in golden:
        low = dice.randint(0, 4)
        mark_gold(access=ada, pair=pair, low=low, high=low, reason="So.", at=timezone.now())
    change_checks(access=ada, campaign=campaign, at=timezone.now(), gold_percent=15)
    return campaign


def observe(campaign: Campaign, *, seed: int) -> Iterator[Seen]:
    """Let everyone label everything; what they see of gold, and of as many other pairs.

    The others are of a set drawn once, about as large as the gold, so that a plain pair is seen
    by about as many people as a gold one: whatever differs between the two is then of the kind,
    and not of how often a pair was looked at.
    """
    dice = random.Random(seed)
    gold = set(campaign.gold.values_list("pair", flat=True))
    plain = sorted(set(campaign.pairs.values_list("pk", flat=True)) - gold)
    watched = frozenset(dice.sample(plain, min(len(plain), int(WATCHED * len(gold)))))
    eyes = _Eyes(campaign, watched, dice)
    for annotator in campaign.annotators.select_related("user").order_by("pk"):
        yield from _observe_one(eyes, annotator.user)


@dataclass(frozen=True)
class _Eyes:
    """Who looks: at which campaign, and at which plain pairs of it."""

    campaign: Campaign
    watched: frozenset[int]
    dice: random.Random


def _observe_one(eyes: _Eyes, user: User) -> Iterator[Seen]:
    client, lot = client_of(user.username), 0
    while True:
        began = time.perf_counter()
        answer = _post(client, "api-campaign-next", eyes.campaign, {"count": LOT})
        seconds = time.perf_counter() - began
        if not answer["pairs"]:
            return
        lot += 1
        yield from _label_lot(eyes, client, answer, [lot, seconds])


def _label_lot(
    eyes: _Eyes, client: Client, answer: dict[str, Any], of_lot: list[float]
) -> Iterator[Seen]:
    """Label the gold of a lot and as many watched pairs; the rest counts as labelled."""
    pairs = answer["pairs"]
    seats = {
        str(seat.public_id): seat
        for seat in Assignment.objects.select_related("stand_in").filter(
            public_id__in=[pair["assignment"] for pair in pairs]
        )
    }
    gold = [place for place, pair in enumerate(pairs) if _is_gold(seats, pair)]
    plain = [
        place
        for place, pair in enumerate(pairs)
        if seats[pair["assignment"]].pair_id in eyes.watched and not _is_gold(seats, pair)
    ]
    chosen = sorted(gold + eyes.dice.sample(plain, min(len(gold), len(plain))))
    queries = [pair["query"]["text"] for pair in pairs]
    for place in chosen:
        pair = pairs[place]
        alike = [at for at, query in enumerate(queries) if query == queries[place]]
        counts = [*of_lot, len(pairs), place, alike.index(place), len(alike)]
        counts += [answer["progress"]["done"], answer["progress"]["left"], len(json.dumps(answer))]
        counts += [answer["done_in_query"][pair["assignment"]]]
        asked, of_question = _ask(client, eyes.campaign, pair)
        said, of_label = _label(
            client, eyes.campaign, pair, answer["guideline_revision"], eyes.dice
        )
        seat = seats[pair["assignment"]]
        yield Seen(
            is_gold=_is_gold(seats, pair),
            item=seat.pair_id if seat.stand_in is None else seat.stand_in.shown_id or 0,
            size=len(json.dumps(pair)),
            fields=(*_names(pair, "pair"), *asked, *said),
            features=(*counts, *_of_pair(pair), *of_question, *of_label),
        )
    # answered, so that there is room for more
    Question.objects.filter(campaign=eyes.campaign).update(state=Question.State.ANSWERED)
    Assignment.objects.filter(
        pk__in=[seat.pk for seat in seats.values()], state=Assignment.State.LEASED
    ).update(state=Assignment.State.DONE, leased_until=None)


def _is_gold(seats: dict[str, Assignment], pair: dict[str, Any]) -> bool:
    stand_in = seats[pair["assignment"]].stand_in
    return stand_in is not None and stand_in.purpose == Assignment.Purpose.GOLD


def _ask(
    client: Client, campaign: Campaign, pair: dict[str, Any]
) -> tuple[tuple[str, ...], list[float]]:
    """What the answer to a question about a pair tells: names and numbers."""
    body = {"assignment": pair["assignment"], "text": "Why?"}
    began = time.perf_counter()
    answer = _post(client, "api-campaign-questions", campaign, body, status=201)
    seconds = time.perf_counter() - began
    texts = len(answer["title"]) + len(answer["query"])
    numbers = [seconds, len(json.dumps(answer)) - texts, int(answer["pair"] == pair["name"])]
    return _names(answer, "question"), numbers


def _label(
    client: Client, campaign: Campaign, pair: dict[str, Any], revision: int, dice: Any
) -> tuple[tuple[str, ...], list[float]]:
    """What the answer to a label and the newest row of the history tell: names and numbers."""
    label = {
        "id": str(uuid.UUID(int=dice.getrandbits(128), version=4)),
        "assignment": pair["assignment"],
        "grade": dice.randint(0, 4),
        "guideline_revision": revision,
        "seconds": 3.0,
        "made_at": timezone.now().isoformat(),
    }
    began = time.perf_counter()
    answer = _post(client, "api-campaign-labels", campaign, {"labels": [label], "count": 1})
    seconds = time.perf_counter() - began
    own = client.get(reverse("api-campaign-labels", args=[campaign.public_id]), {"limit": "1"})
    (row,) = own.json()
    receipt = answer["labels"][0]
    numbers = [
        seconds,
        len(json.dumps(receipt)),
        len(json.dumps(row)) - len(pair["document"]["text"]),
        answer["progress"]["done"],
        answer["progress"]["left"],
        len(answer["pairs"]),
        int(row["pair"]["assignment"] == pair["assignment"]),
    ]
    return (*_names(receipt, "receipt"), *_names(row, "own")), numbers


def _post(
    client: Client, name: str, campaign: Campaign, body: dict[str, Any], *, status: int = 200
) -> dict[str, Any]:
    address = reverse(name, args=[campaign.public_id])
    response = client.post(address, body, content_type="application/json")
    assert response.status_code == status, response.content
    answer: dict[str, Any] = response.json()
    return answer


def _of_pair(pair: dict[str, Any]) -> list[float]:
    document = pair["document"]
    sizes = [len(json.dumps(pair)), len(document["title"]), len(document["text"])]
    sizes += [len(document["url"]), len(document["fields"]), len(pair["query"]["text"])]
    return [*sizes, *uuid.UUID(pair["assignment"]).bytes]


def _names(value: Any, where: str) -> tuple[str, ...]:
    """The names of all fields, with the kinds of their values."""
    if isinstance(value, dict):
        return tuple(name for key in sorted(value) for name in _names(value[key], f"{where}.{key}"))
    return (f"{where} {type(value).__name__}",)
