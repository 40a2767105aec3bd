"""Search commands to allowed Redis servers, with the guard and the limits of the HTTP client."""

import json
import socket
import ssl
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, Self

from django.conf import settings
from redis import Connection, SSLConnection
from redis import exceptions as redis_errors
from redis.backoff import NoBackoff
from redis.retry import Retry

from judgments.outgoing.client import (
    Answer,
    Exchange,
    Limits,
    LookUp,
    Outcome,
    OutgoingError,
    connect_guarded,
)
from judgments.outgoing.client import look_up as look_up_host
from judgments.outgoing.commands import Word, read_command
from judgments.outgoing.rules import REDIS, Origin, find_origin


class RedisClient:
    """As `client.Client`, of commands: `body` is a JSON array of a command's words.

    A vector is sent as 32-bit floats. headers: the name and password of the ACL user, or nothing.
    The answer's body is JSON:
    {"total_results": …, "results": [{"id": …, "score": …, "extra_attributes": {…}}, …]}, of both
    protocols; its status is 200.
    """

    def __init__(
        self,
        allowed: Sequence[Origin] | None = None,
        *,
        limits: Limits | None = None,
        look_up: LookUp = look_up_host,
    ) -> None:
        self._allowed = settings.OUTGOING if allowed is None else allowed
        self._limits = limits or Limits()
        self._look_up = look_up
        self._idle: SimpleQueue[Any] = SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while not self._idle.empty():
            self._idle.get().disconnect()

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes | None = None,
    ) -> Answer:
        """The answer to a command. Raises OutgoingError. All requests go to one server."""
        try:
            origin, target = find_origin(url, self._allowed, schemes=REDIS)
            words = read_command(json.loads(body or b"null"))
            database = int(target.strip("/") or 0)
        except ValueError as error:
            raise OutgoingError(Outcome.REFUSED, str(error)) from error
        exchange = Exchange(self._limits)
        with _failures(exchange):
            try:
                connection = self._idle.get_nowait()
            except Empty:
                (user, password), *_ = [*headers, (None, None)]
                connection = self._open(origin, exchange, database, user, password)
            connection.exchange = exchange
            try:
                connection.send_command(*map(_packed, words))
                reply = connection.read_response()
            except redis_errors.ResponseError:
                self._idle.put(connection)
                raise
            except BaseException:
                connection.disconnect()
                raise
            self._idle.put(connection)
        try:
            result = json.dumps(_as_results(words, _plain(reply))).encode()
        except (ValueError, TypeError, RecursionError) as error:
            raise OutgoingError(Outcome.MALFORMED, f"not an answer to {words[0]}") from error
        return Answer(200, {}, result, monotonic() - exchange.began)

    def _open(
        self,
        origin: Origin,
        exchange: Exchange,
        database: int,
        user: str | None,
        password: str | None,
    ) -> Any:
        kind = _TlsConnection if origin.scheme == "rediss" else _PlainConnection
        return kind(
            origin=origin,
            look_up=self._look_up,
            exchange=exchange,
            db=database,
            username=user,
            password=password,
            protocol=3,
            retry=Retry(NoBackoff(), 0),
            socket_timeout=self._limits.seconds,
        )


class _LimitedSocket:
    """A socket whose every step ends when the request's time does, and that counts."""

    def __init__(self, own: socket.socket, connection: Any) -> None:
        self._own = own
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def recv(self, size: int) -> bytes:
        exchange = self._connection.exchange
        self._own.settimeout(exchange.left())
        data = self._own.recv(size)
        exchange.receive(len(data))
        return data

    def sendall(self, data: bytes) -> None:
        self._own.settimeout(self._connection.exchange.left())
        self._own.sendall(data)


class _GuardedConnection(Connection):
    """A connection to an address that was checked after the one look-up."""

    def __init__(self, *, origin: Origin, look_up: LookUp, exchange: Exchange, **more: Any) -> None:
        self._origin = origin
        self._look_up = look_up
        self.exchange = exchange
        super().__init__(host=origin.host, port=origin.port, **more)  # type: ignore[no-untyped-call]

    def _connect(self) -> Any:
        return connect_guarded(
            self._origin,
            look_up=self._look_up,
            left=self.exchange.left,
            connect=lambda address, seconds: socket.create_connection(
                (address, self.port), timeout=seconds
            ),
        )


class _PlainConnection(_GuardedConnection):
    def _connect(self) -> Any:
        return _LimitedSocket(super()._connect(), self)


class _TlsConnection(SSLConnection, _GuardedConnection):
    def _connect(self) -> Any:
        return _LimitedSocket(super()._connect(), self)  # type: ignore[no-untyped-call]


@contextmanager
def _failures(exchange: Exchange) -> Iterator[None]:
    """Every failure by its outcome."""
    try:
        yield
    except (TimeoutError, redis_errors.TimeoutError) as error:
        raise exchange.timed_out() from error
    except (redis_errors.AuthenticationError, redis_errors.ResponseError) as error:
        raise OutgoingError(Outcome.STATUS, str(error)) from error
    except redis_errors.InvalidResponse as error:
        raise OutgoingError(Outcome.MALFORMED, str(error)) from error
    except redis_errors.ConnectionError as error:
        is_tls = isinstance(error.__context__, ssl.SSLError)
        raise OutgoingError(Outcome.TLS if is_tls else Outcome.CONNECT, str(error)) from error


def _packed(word: Word) -> str | int | float | bytes:
    """A word as it is sent: of a vector, its numbers as 32-bit floats, little-endian."""
    return struct.pack(f"<{len(word)}f", *word) if isinstance(word, list) else word


def _plain(reply: Any) -> Any:
    """A reply as JSON has it; bytes that are no UTF-8 are replaced."""
    if isinstance(reply, bytes):
        return reply.decode("utf-8", "replace")
    if isinstance(reply, dict):
        return {str(_plain(key)): _plain(value) for key, value in reply.items()}
    if isinstance(reply, list | tuple | set):
        return [_plain(one) for one in reply]
    return reply


def _as_results(words: Sequence[Word], reply: Any) -> Any:
    """What FT.SEARCH answers in RESP3, also where a server answers as in RESP2, with one array."""
    if not isinstance(reply, list) or not reply:
        return reply
    options = {str(word).upper() for word in words[1:]}
    has_scores, has_fields = "WITHSCORES" in options, "NOCONTENT" not in options
    total, *flat = reply
    results = []
    for row in zip(*[iter(flat)] * (1 + has_scores + has_fields), strict=True):
        result = {"id": row[0]}
        if has_scores:
            result["score"] = float(row[1])
        if has_fields:
            fields = row[-1] or []
            result["extra_attributes"] = dict(zip(fields[::2], fields[1::2], strict=True))
        results.append(result)
    return {"total_results": total, "results": results}
