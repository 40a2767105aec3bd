"""The cache: what others could have written there is never run, and never believed.

Redis returns any stored bytes, and everyone who can connect to it can write. So values are
plain (serialization.py beside this) and sealed for the key they lie under, with an HMAC that the
secret key makes. What has no valid seal, or is not of the kind that was asked for, is a miss: it is
logged, counted, and computed again. So is everything while Redis is away.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from django.core.cache import cache
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.redis import RedisCache
from django.utils.crypto import constant_time_compare, salted_hmac
from redis.exceptions import RedisError, ResponseError

from judgments.storage.serialization import Unreadable, from_plain, pack, to_plain, unpack
from judgments.waking import Breaker, publish

T = TypeVar("T")

logger = logging.getLogger(__name__)

REFUSED: Final = "cache-values-refused"  # the name of the counter, an integer in the cache itself
SEAL: Final = 32  # bytes before the value
MOST_DIGITS: Final = 20

_breaker = Breaker()


def read_cached(name: str, kind: type[T]) -> T | None:
    """The value of this name; None where there is none, or none of this kind."""
    return read_many_cached([name], kind).get(name)


def read_many_cached(names: Iterable[str], kind: type[T]) -> dict[str, T]:
    """The values of these names; those that are missing, or not of this kind, are left out."""
    result = {}
    for name, value in cache.get_many(names).items():
        try:
            result[name] = from_plain(kind, value)
        except Unreadable as error:
            refuse(name, str(error))
    return result


def write_cached(name: str, value: object, seconds: int) -> None:
    """Keep a value: of a kind that `from_plain` can check."""
    cache.set(name, to_plain(value), seconds)


def wake_once(flag: str, seconds: int, task: str, *message: int | str) -> None:
    """Wake a worker with a message, unless the flag says that one was in the last seconds.

    The flag is not left behind where the broker could not be reached.
    """
    if cache.add(flag, True, seconds) and not publish(task, *message):
        cache.delete(flag)


def let_wake_again(flag: str) -> None:
    """Forget that `wake_once` sent a message: what it was about is done."""
    cache.delete(flag)


def get_or_compute(name: str, kind: type[T], seconds: int, compute: Callable[[], T]) -> T:
    """The value of this name from the cache; where it is missing, computed and then kept."""
    result = read_cached(name, kind)
    if result is None:
        result = compute()
        write_cached(name, result, seconds)
    return result


def refuse(name: str, why: str) -> None:
    """Log and count a value that was not believed. name: only its first part is logged."""
    logger.warning("a value in the cache was refused (%s): %s", name.partition(":")[0], why)
    cache.add(REFUSED, 0, None)
    try:
        cache.incr(REFUSED)
    except ValueError:  # no number: count from the start again
        cache.delete(REFUSED)


def count_refused() -> int:
    """Values that were refused since the cache was last emptied."""
    return read_cached(REFUSED, int) or 0


class Untouched:
    """Django's client neither writes nor reads objects, so it never unpickles anything."""

    @staticmethod
    def dumps(value: Any) -> Any:
        """A sealed value, or an integer to count with."""
        return value

    @staticmethod
    def loads(data: bytes) -> bytes:
        """What lies in Redis, not yet believed."""
        return data


class SealedRedisCache(RedisCache):
    """Django's Redis cache with plain, sealed values; one that is away holds nothing.

    Integers are stored as they are, so that `incr` works; they are all that is believed unsealed.
    """

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        options = {**params.get("OPTIONS", {}), "serializer": Untouched}
        super().__init__(server, {**params, "OPTIONS": options})

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        """As Django's; the default for a value that is refused."""
        return self.get_many([key], version).get(key, default)

    def get_many(self, keys: Iterable[str], version: int | None = None) -> dict[str, Any]:
        """As Django's; without the values that are refused."""
        keys = list(keys)
        if not keys:
            return {}
        result = {}
        for key, data in self._ask(super().get_many, keys, version, otherwise={}).items():
            try:
                result[key] = _opened(self.make_key(key, version), data)
            except Unreadable as error:
                refuse(key, str(error))
        return result

    def add(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        """As Django's; False while Redis is away."""
        sealed = _sealed(self.make_key(key, version), value)
        return bool(self._ask(super().add, key, sealed, timeout, version, otherwise=False))

    def set(
        self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        """As Django's; nothing is kept while Redis is away."""
        sealed = _sealed(self.make_key(key, version), value)
        self._ask(super().set, key, sealed, timeout, version, otherwise=None)

    def set_many(
        self, data: dict[str, Any], timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> list[str]:
        """As Django's; the names of what was not kept."""
        sealed = {key: _sealed(self.make_key(key, version), one) for key, one in data.items()}
        failed: list[str] = self._ask(
            super().set_many, sealed, timeout, version, otherwise=list(data)
        )
        return failed

    def delete(self, key: str, version: int | None = None) -> bool:
        """As Django's; False while Redis is away."""
        return bool(self._ask(super().delete, key, version, otherwise=False))

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """As Django's; ValueError where there is no integer to add to, or Redis is away."""
        count = self._ask(super().incr, key, delta, version, otherwise=None)
        if count is None:
            raise ValueError(f"there is no integer under {key!r}")
        return int(count)

    def _ask(self, call: Callable[..., Any], *arguments: Any, otherwise: Any) -> Any:
        """What Redis answers. After an error it is left alone for a while: each costs a wait."""
        if not _breaker.lets_through():
            return otherwise
        answers = True
        try:
            return call(*arguments)
        except ResponseError as error:  # as INCR of what is no number
            logger.warning("the cache refused: %s", type(error).__name__)
        except RedisError as error:
            answers = False
            logger.warning("the cache does not answer: %s", type(error).__name__)
        finally:
            _breaker.report(is_sent=answers)
        return otherwise


def _sealed(key: str, value: Any) -> bytes | int:
    if type(value) is int:
        return value
    body = pack(value)
    return _seal(key, body) + body


def _opened(key: str, data: bytes) -> Any:
    digits = data[1:] if data[:1] == b"-" else data
    if len(digits) <= MOST_DIGITS and digits.isdigit():
        return int(data)
    seal, body = data[:SEAL], data[SEAL:]
    if not constant_time_compare(seal, _seal(key, body)):
        raise Unreadable("it was not written here")
    return unpack(body)


def _seal(key: str, body: bytes) -> bytes:
    # the key's length first: nothing can be moved between the key and the value
    name = key.encode()
    text = len(name).to_bytes(4, "big") + name + body
    return salted_hmac("judgments.storage.caches", text, algorithm="sha256").digest()
