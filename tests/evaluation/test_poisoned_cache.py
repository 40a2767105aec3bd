"""Writing to Redis changes no page: what is not ours is computed again."""

import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from judgments.storage.caches import count_refused
from tests.builders import World, commit, make_world
from tests.evaluation.browsing import signed_in, text_of
from tests.evaluation.builders import make_run
from tests.judgments.storage.test_caches import Bomb

pytestmark = [pytest.mark.django_db, pytest.mark.redis]

FORGED = {
    "pickle": lambda bomb: pickle.dumps(Bomb(str(bomb))),
    "garbage": lambda _: b"\x00garbage",
    "integer": lambda _: b"7",
    "empty": lambda _: b"",
}


@pytest.fixture
def server(settings, own_redis_url: str) -> Iterator[redis.Redis]:
    mine = {**settings.CACHES["default"], "LOCATION": own_redis_url}
    settings.CACHES = {"default": mine}
    client = redis.Redis.from_url(own_redis_url)
    yield client
    client.close()


@pytest.fixture
def world() -> World:
    world = make_world(queries=8)
    d1, d2, d3, *_ = world.documents
    commit(
        judgment_list=world.judgments,
        grades={(query, d): g for query in world.queries for d, g in ((d1, 3), (d2, 1), (d3, 0))},
    )
    qids = [query.qid for query in world.queries]
    make_run(collection=world.collection, rankings={key: ["d1", "d2", "d4"] for key in qids})
    other = {key: ["d5", "d3", "d1"] for key in qids} | {qids[0]: ["d1"]}
    make_run(collection=world.collection, rankings=other, ranker="lsa")
    return world


def read_pages(client: Client) -> list[str]:
    """The text of every page that keeps something in the cache."""
    names = ("compare", "moved", "unjudged", "judge-next")
    pages = [reverse(name, args=["books", "main"]) for name in names]
    board = reverse("leaderboard", args=["books", "main"])
    found = []
    for page in [*pages, f"{board}?measures=RR@3", f"{board}?measures=P@2&version=1"]:
        answer = client.get(page)
        assert answer.status_code == 200, page
        found.append(text_of(answer))
    return found


@pytest.mark.parametrize(
    "kind",
    ["pickle", "garbage", *(pytest.param(k, marks=pytest.mark.long) for k in ("integer", "empty"))],
)
def test_pages_say_the_same_whatever_was_put_into_the_cache(
    world: World, server: redis.Redis, tmp_path: Path, kind: str
) -> None:
    client = signed_in(world.dora)
    computed = read_pages(client)
    assert read_pages(client) == computed
    assert count_refused() == 0
    keys = server.keys("*")
    kinds = {key.decode().split(":")[2] for key in keys}
    assert kinds >= {"values", "compared", "bounds", "judge-next", "sums", "changed"}
    bomb = tmp_path / "it-ran"
    for key in keys:
        server.set(key, FORGED[kind](bomb))
    assert read_pages(client) == computed
    assert not bomb.exists()
    assert count_refused() >= len(kinds)
    assert cache.get("unknown") is None
