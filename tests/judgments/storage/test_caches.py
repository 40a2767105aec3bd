"""Redis is not believed: what others put there is never run, and computed again."""

import logging
import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import redis
from django.core.cache import cache

from judgments.storage import caches
from judgments.storage.caches import (
    SEAL,
    count_refused,
    get_or_compute,
    read_cached,
    read_many_cached,
    write_cached,
)
from judgments.storage.serialization import pack, unpack
from judgments.waking import Breaker
from tests.services import free_port

SEALED = "judgments.storage.caches.SealedRedisCache"
DJANGOS = "django.core.cache.backends.redis.RedisCache"
NAME = "values:1"


@dataclass(frozen=True)
class Values:
    total: int
    means: tuple[float, ...]


@dataclass(frozen=True)
class Bomb:
    """Makes a directory when it is unpickled."""

    path: str

    def __reduce__(self) -> Any:
        return os.mkdir, (self.path,)


VALUES = Values(3, (0.5, 0.25))


@pytest.fixture(autouse=True)
def breaker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "_breaker", Breaker())


@pytest.fixture
def server(settings, own_redis_url: str) -> Iterator[redis.Redis]:
    """A Redis that others can write to, and that is the cache."""
    use(settings, SEALED, own_redis_url)
    client = redis.Redis.from_url(own_redis_url)
    yield client
    client.close()


def use(settings, backend: str, url: str) -> None:
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": url}}


def key_of(name: str) -> str:
    return cache.make_key(name)


def poison(server: redis.Redis, bomb: Path) -> bytes:
    """Put a pickle under the name; Django's own prefix and version are no secret."""
    data = pickle.dumps(Bomb(str(bomb)))
    server.set(key_of(NAME), data)
    return data


def test_a_value_is_kept_as_it_is_on_every_backend():
    cache.delete(NAME)
    assert read_cached(NAME, Values) is None
    write_cached(NAME, VALUES, 60)
    assert read_cached(NAME, Values) == VALUES
    assert get_or_compute(NAME, Values, 60, lambda: Values(0, ())) == VALUES
    cache.delete(NAME)
    assert get_or_compute(NAME, Values, 60, lambda: Values(0, ())) == Values(0, ())
    cache.delete(NAME)


def test_a_value_of_another_kind_is_a_miss_on_every_backend(caplog: pytest.LogCaptureFixture):
    cache.clear()
    write_cached(NAME, [1, 2], 60)
    assert read_cached(NAME, Values) is None
    assert count_refused() == 1
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    cache.clear()


@pytest.mark.redis
def test_a_pickle_in_the_cache_is_a_miss_and_is_not_run(server, tmp_path):
    bomb = tmp_path / "it-ran"
    poison(server, bomb)
    assert get_or_compute(NAME, Values, 60, lambda: VALUES) == VALUES
    assert not bomb.exists()
    assert count_refused() == 1
    assert read_cached(NAME, Values) == VALUES
    assert count_refused() == 1


@pytest.mark.redis
def test_djangos_own_serializer_put_back_runs_what_others_wrote(settings, server, tmp_path):
    """The sabotage: this is what the test above would see."""
    bomb = tmp_path / "it-ran"
    use(settings, DJANGOS, settings.CACHES["default"]["LOCATION"])
    poison(server, bomb)
    cache.get(NAME)
    assert bomb.exists()


@pytest.mark.redis
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"garbage",
        b"\x00" * 32,
        b"\xff" * 4_000,
        b"\x80\x05N.",
        b"12345",
        b"-7",
        b"9" * 5_000,
        pack({"total": 3, "means": [0.5]}),
        bytes(32) + pack({"total": 3, "means": [0.5]}),
    ],
)
def test_garbage_is_a_miss(server, data):
    server.set(key_of(NAME), data)
    assert read_cached(NAME, Values) is None
    assert count_refused() == 1


@pytest.mark.redis
def test_a_value_under_another_name_or_with_another_secret_is_a_miss(server, settings):
    write_cached("other", VALUES, 60)
    server.set(key_of(NAME), server.get(key_of("other")))
    assert read_cached(NAME, Values) is None
    write_cached(NAME, VALUES, 60)
    assert read_cached(NAME, Values) == VALUES
    settings.SECRET_KEY = "another" * 10
    assert read_cached(NAME, Values) is None
    assert count_refused() == 2


@pytest.mark.redis
def test_a_value_with_one_bit_changed_is_a_miss(server):
    write_cached(NAME, VALUES, 60)
    data = bytearray(server.get(key_of(NAME)))
    data[-1] ^= 1
    server.set(key_of(NAME), bytes(data))
    assert read_cached(NAME, Values) is None


@pytest.mark.redis
def test_a_list_or_a_set_where_a_value_should_be_is_a_miss(server):
    server.rpush(key_of(NAME), b"x")
    server.sadd(key_of(caches.REFUSED), b"x")
    assert get_or_compute(NAME, Values, 60, lambda: VALUES) == VALUES
    assert read_cached(NAME, Values) == VALUES
    server.set(key_of(NAME), b"garbage")
    assert read_cached(NAME, Values) is None
    assert count_refused() in (0, 1)


@pytest.mark.redis
def test_one_bad_value_of_many_leaves_the_others(server):
    cache.set_many({"a": 1.5, "b": 2.5, "n": 7}, 60)
    server.set(key_of("b"), b"garbage")
    assert read_many_cached(["a", "b", "c"], float) == {"a": 1.5}
    assert (cache.get("n"), cache.incr("n"), cache.get("missing", "usual")) == (7, 8, "usual")
    assert cache.get_or_set("b", 4.5) == 4.5
    assert (cache.add("a", 9.0), cache.add("new", [1]), cache.get("new")) == (False, True, [1])


@pytest.mark.redis
def test_nothing_that_is_written_is_a_pickle(server):
    write_cached(NAME, VALUES, 60)
    cache.set("array", np.arange(3), 60)
    with pytest.raises(TypeError):
        cache.set("object", VALUES)
    assert unpack(server.get(key_of("array"))[SEAL:]).tolist() == [0, 1, 2]
    assert unpack(server.get(key_of(NAME))[SEAL:]) == {"total": 3, "means": [0.5, 0.25]}
    assert len(server.keys("*")) == 2


def test_a_cache_that_is_away_holds_nothing_and_is_asked_once(settings, caplog):
    use(settings, SEALED, f"redis://127.0.0.1:{free_port()}/0")
    assert get_or_compute(NAME, Values, 60, lambda: VALUES) == VALUES
    assert (cache.get("a", "usual"), cache.add("a", 1), cache.delete("a")) == (
        "usual",
        False,
        False,
    )
    assert cache.set_many({"a": 1}) == ["a"]
    with pytest.raises(ValueError, match="no integer"):
        cache.incr("a")
    assert count_refused() == 0
    assert len(caplog.records) == 1
