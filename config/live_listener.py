"""The listener: one small process that holds a stream of events for each open page.

    gunicorn config.live_listener --worker-class asgi --workers 1 --bind 0.0.0.0:8001

It is optional: pages ask every few seconds where it is missing or has died. PostgreSQL tells it
which topics changed (judgments/live.py), and brings it the parts that pages show, which it passes
on to all pages of the same key. It reads no table and loads no application: a ticket says what its
bearer may follow, for two minutes, in the browser that has the session. When PostgreSQL says that a
person's access changed (judgments/triggers.py), it ends that person's streams at once, and takes
only tickets of later checks. While PostgreSQL is away it ends all streams, so that pages go on by
asking.
"""

import asyncio
import contextlib
import json
import logging
import os
import random
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final
from urllib.parse import parse_qs

import psycopg
from django.db import connection

from judgments.live import (
    CHANNEL,
    PART,
    PERSON,
    SECONDS,
    Part,
    Pieces,
    Ticket,
    digest_of,
    now,
    read_ticket,
)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
logger = logging.getLogger("touchstone.live")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

PING: Final = 15.0  # seconds between two signs of life, which proxies want
MOST: Final = 1000  # streams
MOST_OF_ONE: Final = 20  # streams of one person
# Pages that may ask in one second, where each must: more are spread over more time, and events that
# come before all have asked are told as one. Two cores can answer about as many beside people who
# label.
AT_ONCE: Final = 100
# Seconds between two events of one key, at least. A page asks once a second at most, so a page that
# is alone is told less often.
PAUSE: Final = 0.5
PAUSE_OF_ONE: Final = 1.0
PATIENCE: Final = (1.0, 2.0, 4.0, 8.0)  # seconds until another page is told to ask
SKEW: Final = 2000  # milliseconds by which clocks of the web servers may differ
STREAM: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
]
# a database that can't be reached at all is noticed after half a minute
ALIVE: Final = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}


class Stream:
    """An open page. Of what it has not taken yet it needs only the newest."""

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue(1)

    def put(self, event: bytes | None) -> None:
        """An event, or None for the end, after which nothing is sent."""
        if self.queue.full() and (last := self.queue.get_nowait()) is None:
            event = last
        self.queue.put_nowait(event)


class Group:
    """The pages that show the same part; or those of a topic whose parts are their own."""

    def __init__(self, *, is_shared: bool) -> None:
        # in the order in which they are told to ask
        self.streams: OrderedDict[Stream, None] = OrderedDict()
        self._is_shared = is_shared
        self._event = ""  # while a page has been told to ask and its part is awaited
        self._began = 0.0
        self._is_due = False
        self._timer: asyncio.TimerHandle | None = None  # while pages are not told of more
        self._shown = 0, b""  # the newest part that was passed on: its moment and its event

    def tell(self) -> None:
        """Something changed: tell it now, or as one with more when the pause is over."""
        self._is_due = self._timer is not None
        if not self._is_due and self._is_shared:
            self._event, self._began = _name(), _now()
            self._ask(0)
        elif not self._is_due:
            self._rest(self._let_all_ask())

    def take(self, part: Part) -> None:
        """Pass on a part of these pages' key, unless they show it or a newer one."""
        moment, shown = self._shown
        if part.moment >= moment and part.body:
            self._shown = part.moment, _event({"part": part.body})
            if self._shown[1] != shown:
                _put(self.streams, self._shown[1])
        if part.event == self._event:
            self._event = ""
            spread = 0.0 if part.body else self._let_all_ask()
            pause = PAUSE if len(self.streams) > 1 else PAUSE_OF_ONE
            took = _now() - self._began
            self._rest(max(pause - took, spread))

    def catch_up(self, stream: Stream) -> None:
        """Bring a page what it may have missed; what is asked for now comes to it as to others."""
        stream.put(self._shown[1] or _asking(spread=1.0))

    def end(self) -> None:
        """Forget what is planned; the last page has gone."""
        if self._timer is not None:
            self._timer.cancel()

    def _ask(self, times: int) -> None:
        """Tell one page to ask; another if its part has not come after a while."""
        if times == len(PATIENCE):
            self._event = ""
            self._rest(0)
            return
        stream = next(iter(self.streams))
        self.streams.move_to_end(stream)
        stream.put(_asking(self._event))
        self._timer = asyncio.get_running_loop().call_later(PATIENCE[times], self._ask, times + 1)

    def _let_all_ask(self) -> float:
        """Tell every page to ask; returns the seconds within which they do."""
        spread = min(max(len(self.streams) / AT_ONCE, 0.1), 10.0)
        _put(self.streams, _asking(spread=spread))
        return spread

    def _rest(self, seconds: float) -> None:
        self.end()
        self._timer = asyncio.get_running_loop().call_later(max(seconds, 0), self._go_on)

    def _go_on(self) -> None:
        self._timer = None
        if self._is_due:
            self.tell()


class Listener:
    """The ASGI application: `/live` for pages, `/healthz` for what restarts it."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, str], Group] = {}  # by topic and key
        self._people: Counter[int] = Counter()
        # in milliseconds: of each topic the newest event; of each person who had streams or tickets
        # the newest change of access; and since when it would have come here
        self._newest: dict[str, int] = {}
        self._changed: dict[int, int] = {}
        self._began = 0
        self._is_listening = False
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """ASGI's call, for each request and for the process's own start and end."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] != "http" or scope["method"] != "GET":
            await _answer(send, 405)
        elif scope["path"] == "/healthz":
            await _answer(send, 200 if self._is_listening else 503)
        elif scope["path"] == "/live":
            await self._open(scope, receive, send)
        else:
            await _answer(send, 404)

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self._task = asyncio.create_task(self._listen())
                await send({"type": "lifespan.startup.complete"})
            else:
                if self._task is not None:
                    self._task.cancel()
                _put(self._streams(), None)
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _open(self, scope: Message, receive: Receive, send: Send) -> None:
        tickets = parse_qs(scope["query_string"].decode("latin-1")).get("ticket", [])
        ticket = read_ticket(tickets[0]) if len(tickets) == 1 else None
        if ticket is None or not _has_session(scope, ticket) or self._is_outdated(ticket):
            await _answer(send, 403)
            return
        is_full = self._people.total() >= MOST or self._people[ticket.person] >= MOST_OF_ONE
        if is_full or not self._is_listening:
            await _answer(send, 503)
            return
        place, stream = (ticket.topic, ticket.key), Stream(ticket)
        group = self._groups.setdefault(place, Group(is_shared=bool(ticket.key)))
        group.streams[stream] = None
        self._people[ticket.person] += 1
        try:
            await send({"type": "http.response.start", "status": 200, "headers": STREAM})
            # what the page may have missed since its view looked
            if self._newest.get(ticket.topic, self._began) > ticket.moment - SKEW:
                group.catch_up(stream)
            await _stream(stream, receive, send)
        finally:
            self._people[ticket.person] -= 1
            if not self._people[ticket.person]:
                del self._people[ticket.person]
            del group.streams[stream]
            if not group.streams:
                group.end()
                del self._groups[place]

    def _is_outdated(self, ticket: Ticket) -> bool:
        """Whether its person's access may have changed since it was checked for this ticket."""
        changed = max(self._began, self._changed.get(ticket.person, 0))
        return ticket.moment < changed + SKEW

    async def _listen(self) -> None:
        """Pass on what PostgreSQL says, for as long as this process lives."""
        while True:
            try:
                await self._pass_on()
            except (psycopg.Error, OSError) as error:
                logger.warning("the listener lost the database: %s", type(error).__name__)
            self._is_listening = False
            _put(self._streams(), None)
            await asyncio.sleep(1)

    async def _pass_on(self) -> None:
        given = connection.get_connection_params()
        for name in ("context", "cursor_factory", "prepare_threshold"):
            given.pop(name, None)
        database = await psycopg.AsyncConnection.connect(**given | ALIVE, autocommit=True)
        async with database:
            await database.execute(f"LISTEN {CHANNEL}")
            pieces = Pieces()
            self._newest.clear()
            self._changed.clear()
            self._began = now()
            self._is_listening = True
            while True:
                async for notice in database.notifies(timeout=PING):
                    self._take(notice.payload, pieces)
                await database.execute("SELECT 1")  # fails if it is gone
                self._forget()

    def _take(self, notice: str, pieces: Pieces) -> None:
        if notice.startswith(PART):
            if (part := pieces.add(notice)) is not None:
                for (_, key), group in self._groups.items():
                    if key and key == part.key:
                        group.take(part)
        elif notice.startswith(PERSON):
            person = int(notice.removeprefix(PERSON))
            self._changed[person] = now()
            _put([one for one in self._streams() if one.ticket.person == person], None)
        else:
            self._newest[notice] = now()
            for (topic, _), group in self._groups.items():
                if topic == notice:
                    group.tell()

    def _forget(self) -> None:
        """Forget changes that are older than any ticket that is still valid."""
        oldest = now() - 1000 * SECONDS - SKEW
        self._changed = {one: at for one, at in self._changed.items() if at > oldest}
        self._newest = {one: at for one, at in self._newest.items() if at > oldest}

    def _streams(self) -> list[Stream]:
        return [stream for group in self._groups.values() for stream in group.streams]


def _now() -> float:
    return asyncio.get_running_loop().time()


def _name() -> str:
    """Of an event: a page that asks because of it passes it on, and no one can know it before."""
    return secrets.token_urlsafe(9)


def _put(streams: Iterable[Stream], event: bytes | None) -> None:
    for stream in streams:
        stream.put(event)


def _event(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def _asking(event: str = "0", *, spread: float = 0.0) -> bytes:
    """Told to a page that shall ask; for itself alone, where no event is named.

    spread: seconds over which those that were told shall ask.
    """
    return _event({"event": event, "spread": int(1000 * spread)})


def _has_session(scope: Message, ticket: Ticket) -> bool:
    """Whether the browser has the session for which the ticket was made, by whatever cookie."""
    values = (
        pair.partition(b"=")[2].strip()
        for name, value in scope["headers"]
        if name == b"cookie"
        for pair in value.split(b";")
    )
    return any(digest_of(value.decode("latin-1")) == ticket.session for value in values)


async def _stream(stream: Stream, receive: Receive, send: Send) -> None:
    """Send what comes until the page goes, the ticket ends or the stream is ended."""
    # not all that were opened together ask for another ticket together
    ends = time.monotonic() + SECONDS * random.uniform(0.5, 1)  # noqa: S311
    await _send(send, b"retry: 15000\n\n")
    gone = asyncio.create_task(_wait_for_end(receive))
    next_one = asyncio.create_task(stream.queue.get())
    try:
        while (left := ends - time.monotonic()) > 0:
            done, _ = await asyncio.wait(
                {gone, next_one}, timeout=min(PING, left), return_when=asyncio.FIRST_COMPLETED
            )
            if gone in done:
                return
            if next_one not in done:
                await _send(send, b": alive\n\n")
                continue
            event = next_one.result()
            if event is None:
                break
            await _send(send, event)
            next_one = asyncio.create_task(stream.queue.get())
        await _send(send, b"event: over\ndata: {}\n\n", more=False)
    finally:
        gone.cancel()
        next_one.cancel()


async def _wait_for_end(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(send: Send, body: bytes, *, more: bool = True) -> None:
    with contextlib.suppress(OSError):  # the page has gone, which `receive` says as well
        await send({"type": "http.response.body", "body": body, "more_body": more})


async def _answer(send: Send, status: int) -> None:
    headers = [(b"content-type", b"text/plain"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{status}\n".encode()})


application = Listener()
