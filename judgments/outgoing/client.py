"""The one client for requests to other servers.

It asks only what the administrator's list allows, connects to the very address that it checked,
follows no redirect, uses no proxy and keeps no cookies. Time, size and headers are limited.
"""

import ipaddress
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from queue import Empty, SimpleQueue
from typing import Any, Final, Protocol, Self, TypeVar

import httpcore2
from django.conf import settings
from django.utils.translation import gettext_noop

from judgments.outgoing.rules import RESERVED_HEADERS, Origin, find_origin, may_connect
from touchstone.errors import DomainError

LookUp = Callable[[str, int], list[str]]  # the addresses of a host and port; raises OSError
Connected = TypeVar("Connected")

USER_AGENT: Final = "Touchstone"
# of all headers of an answer, interim answers and the framing of chunks together
HEADER_BYTES: Final = 256 * 1024


class Outcome(StrEnum):
    """Why there is no answer, or none to be used."""

    REFUSED = "refused"
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    STATUS = "status"
    MALFORMED = "malformed"


MESSAGES: Final = {
    Outcome.REFUSED: gettext_noop("This address is not allowed."),
    Outcome.DNS: gettext_noop("The host name could not be resolved."),
    Outcome.CONNECT: gettext_noop("The server could not be reached."),
    Outcome.TLS: gettext_noop("The server's TLS certificate was not accepted."),
    Outcome.TIMEOUT: gettext_noop("The server took too long to respond."),
    Outcome.TOO_LARGE: gettext_noop("The response was too large."),
    Outcome.STATUS: gettext_noop("The server responded with an error."),
    Outcome.MALFORMED: gettext_noop("The response could not be parsed."),
}


@dataclass(frozen=True)
class Answer:
    """headers: by lower-case name; of a name that came twice, the last. seconds: until its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float


class Sender(Protocol):
    """What sends requests to allowed servers; a context manager that closes its connections."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes | None = None,
    ) -> Answer:
        """The answer, if it is a good one. Raises OutgoingError otherwise."""


class OutgoingError(DomainError):
    """A request without a good answer.

    message: for anyone. detail: what was said on the way, and answer: what came with a status
    other than 2xx; both only for those who may configure the request.
    """

    def __init__(self, outcome: Outcome, detail: str, answer: Answer | None = None) -> None:
        super().__init__(f"outgoing_{outcome}", MESSAGES[outcome])
        self.outcome = outcome
        self.detail = detail
        self.answer = answer


@dataclass(frozen=True, kw_only=True)
class Limits:
    """seconds: from the call to the last byte, name look-up included. size: of a body in bytes,
    as it comes and decompressed. connections: open at once.
    """

    seconds: float = 20.0
    size: int = 10 * 1024 * 1024
    connections: int = 10


def look_up(host: str, port: int) -> list[str]:
    result = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[4][0]) for address in result))


class Client:
    """Requests to allowed origins, over connections that are used again. Threads may share it.

    look_up: the addresses of a host and port; raises OSError. tls: what certificates are checked
    with; the system's certificates without it.
    """

    def __init__(
        self,
        allowed: Sequence[Origin] | None = None,
        *,
        limits: Limits | None = None,
        look_up: LookUp = look_up,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._allowed = settings.OUTGOING if allowed is None else allowed
        self._limits = limits or Limits()
        if tls is None and any(origin.scheme == "https" for origin in self._allowed):
            tls = ssl.create_default_context()
        self._pool = httpcore2.ConnectionPool(
            ssl_context=tls,
            max_connections=self._limits.connections,
            keepalive_expiry=5.0,
            network_backend=_GuardedNetwork(self._allowed, look_up),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes | None = None,
    ) -> Answer:
        """The answer, if its status is 2xx. Raises OutgoingError otherwise."""
        try:
            origin, target = find_origin(url, self._allowed)
            sent = _headers(origin, headers)
        except ValueError as error:
            raise OutgoingError(Outcome.REFUSED, str(error)) from error
        asked = httpcore2.URL(
            scheme=origin.scheme, host=origin.host, port=origin.port, target=target
        )
        exchange = Exchange(self._limits, overhead=HEADER_BYTES)
        before = _exchange.set(exchange)
        try:
            with _failures(exchange):
                answer = self._exchange(method, asked, sent, body)
        finally:
            _exchange.reset(before)
        if not 200 <= answer.status < 300:
            raise OutgoingError(Outcome.STATUS, _status_detail(answer), answer)
        return answer

    def _exchange(
        self, method: str, url: httpcore2.URL, headers: list[tuple[str, str]], body: bytes | None
    ) -> Answer:
        exchange = _exchange.get()
        waiting = {"timeout": {"pool": exchange.left()}}
        with self._pool.stream(
            method, url, headers=headers, content=body, extensions=waiting
        ) as response:
            got = {
                name.decode("latin-1").lower(): value.decode("latin-1")
                for name, value in response.headers
            }
            whole = _read(response.iter_stream(), got.get("content-encoding", ""), exchange.size)
            return Answer(response.status, got, whole, time.monotonic() - exchange.began)


def _headers(origin: Origin, given: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """What is sent. Raises ValueError for a name that the client sets."""
    own = [("Host", origin.authority), ("Accept-Encoding", "gzip")]
    more = list(given)
    for name, _ in more:
        if name.lower() in RESERVED_HEADERS:
            raise ValueError(f"the header {name} is set by the client")
    if not any(name.lower() == "user-agent" for name, _ in more):
        own.append(("User-Agent", USER_AGENT))
    return own + more


def _status_detail(answer: Answer) -> str:
    if 300 <= answer.status < 400:
        return f"status {answer.status}; redirects are not followed"
    return f"status {answer.status}"


def _read(chunks: Iterator[bytes], encoding: str, size: int) -> bytes:
    """The body. No more than its limit is ever decompressed."""
    if encoding.lower() not in ("", "identity", "gzip"):
        raise OutgoingError(Outcome.MALFORMED, f"encoded as {encoding!r}, which was not requested")
    inflate = zlib.decompressobj(16 + zlib.MAX_WBITS) if encoding.lower() == "gzip" else None
    body = bytearray()
    for chunk in chunks:
        body += inflate.decompress(chunk, size + 1 - len(body)) if inflate else chunk
        if len(body) > size:
            raise OutgoingError(Outcome.TOO_LARGE, f"more than {size:,} bytes")
    if inflate and (not inflate.eof or inflate.unused_data):
        raise OutgoingError(Outcome.MALFORMED, "compressed data that end too early or too late")
    return bytes(body)


class Exchange:
    """What a request has left in time and size, wherever in its connection's life it is.

    received: bytes of its answer as they came; overhead: how many may come besides the body.
    """

    def __init__(self, limits: Limits, *, overhead: int = 0) -> None:
        self.began = time.monotonic()
        self.size = limits.size
        self.received = 0
        self._seconds = limits.seconds
        self._overhead = overhead

    def left(self) -> float:
        """Seconds. Raises TimeoutError where there are none."""
        left = self.began + self._seconds - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def receive(self, count: int) -> None:
        """Count some bytes. Raises OutgoingError for too many."""
        self.received += count
        if self.received > self.size + self._overhead:
            raise OutgoingError(Outcome.TOO_LARGE, f"more than {self.size:,} bytes")

    def timed_out(self) -> OutgoingError:
        """The error of a request whose time is up."""
        return OutgoingError(Outcome.TIMEOUT, f"no whole answer within {self._seconds:g} s")


# of the request that this thread makes: a connection outlives it, and is handed to another
_exchange: ContextVar[Exchange] = ContextVar("exchange")


@contextmanager
def _failures(exchange: Exchange) -> Iterator[None]:
    """Every failure by its outcome."""
    try:
        yield
    except (TimeoutError, httpcore2.TimeoutException) as error:
        raise exchange.timed_out() from error
    except httpcore2.LocalProtocolError as error:
        raise OutgoingError(Outcome.REFUSED, f"not a valid request: {error}") from error
    except httpcore2.RemoteProtocolError as error:
        outcome = Outcome.MALFORMED if exchange.received else Outcome.CONNECT
        raise OutgoingError(outcome, str(error)) from error
    except httpcore2.NetworkError as error:
        raise OutgoingError(Outcome.CONNECT, str(error)) from error
    except zlib.error as error:
        raise OutgoingError(Outcome.MALFORMED, str(error)) from error


class _GuardedNetwork(httpcore2.NetworkBackend):
    """Connections to allowed hosts, at addresses that were checked after the one look-up."""

    def __init__(self, allowed: Sequence[Origin], look_up: LookUp) -> None:
        self._origins = {(origin.host, origin.port): origin for origin in allowed}
        self._look_up = look_up
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> httpcore2.NetworkStream:
        return connect_guarded(
            self._origins[host, port],
            look_up=self._look_up,
            left=_exchange.get().left,
            connect=lambda address, seconds: _TimedStream(
                self._sockets.connect_tcp(address, port, timeout=seconds)
            ),
        )


def connect_guarded(
    origin: Origin,
    *,
    look_up: LookUp,
    left: Callable[[], float],
    connect: Callable[[str, float], Connected],
) -> Connected:
    """A connection to the first address of an origin's host that takes one.

    The host is looked up once, and all its addresses must be allowed. left: the seconds that are
    left. connect: to an address, within so many seconds.
    Raises TimeoutError, OutgoingError for a name that is not resolved or an address that is not
    allowed, and what `connect` raises for the last address.
    """
    addresses = _addresses(origin, look_up, left)
    for address in addresses:
        if not may_connect(address, origin):
            detail = f"{origin.host} resolves to {address}, which is not allowed for it"
            raise OutgoingError(Outcome.REFUSED, detail)
    for position, address in enumerate(addresses, start=1):
        # an address that does not answer leaves time for the next
        share = left() / (len(addresses) - position + 1)
        try:
            return connect(address, share)
        except (OSError, httpcore2.ConnectError, httpcore2.ConnectTimeout):
            if position == len(addresses):
                raise
    raise AssertionError("a look-up gives an address or raises")


def _addresses(origin: Origin, look_up: LookUp, left: Callable[[], float]) -> list[str]:
    """Looked up in a thread, because a resolver keeps to no time limit of ours."""
    try:
        return [str(ipaddress.ip_address(origin.host))]
    except ValueError:
        pass
    results: SimpleQueue[list[str] | OSError] = SimpleQueue()

    def resolve() -> None:
        try:
            results.put(look_up(origin.host, origin.port))
        except OSError as error:
            results.put(error)

    threading.Thread(target=resolve, daemon=True).start()
    try:
        result = results.get(timeout=left())
    except Empty as error:
        raise TimeoutError from error
    if isinstance(result, OSError) or not result:
        raise OutgoingError(Outcome.DNS, str(result) or f"{origin.host} has no address")
    return result


class _TimedStream(httpcore2.NetworkStream):
    """A connection whose every step ends when the request's time does, and that counts."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        exchange = _exchange.get()
        data = self._stream.read(max_bytes, timeout=exchange.left())
        exchange.receive(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # in pieces: the time limit of the stream holds for each that it sends
        for start in range(0, len(buffer), 65_536):
            piece = buffer[start : start + 65_536]
            self._stream.write(piece, timeout=_exchange.get().left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left = _exchange.get().left()
        try:
            return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, left))
        except httpcore2.ConnectError as error:
            if isinstance(error.__cause__, ssl.SSLError):
                raise OutgoingError(Outcome.TLS, str(error)) from error
            raise

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
