"""The listener: one small process that holds a stream of events for each open page.

    gunicorn config.live_listener --worker-class asgi --workers 1 --bind 0.0.0.0:8001

It is optional: pages ask every few seconds where it is missing or has died. PostgreSQL tells it
which topics changed (judgments/live.py); it tells the pages that follow them. It reads no table,
loads no application and knows no cookie: a ticket says what its bearer may follow, for two minutes.
While PostgreSQL is away it ends its streams, so that pages go on by asking.
"""

import asyncio
import contextlib
import json
import logging
import os
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final
from urllib.parse import parse_qs

import psycopg
from django.db import connection

from judgments.live import CHANNEL, SECONDS, read_ticket

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
logger = logging.getLogger("touchstone.live")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

PING: Final = 15.0  # seconds between two signs of life, which proxies want
MOST: Final = 1000  # streams
MOST_OF_ONE: Final = 20  # streams of one person
# Pages that may ask in one second: more are spread over more time, and events that come before all
# have asked are told as one. Two cores answer about as many beside people who label; asked by more,
# a server falls behind with labels too.
AT_ONCE: Final = 100
STREAM: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
]
# a database that can't be reached at all is noticed after half a minute
ALIVE: Final = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}


class Listener:
    """The ASGI application: `/live` for pages, `/healthz` for what restarts it."""

    def __init__(self) -> None:
        self._streams: dict[str, set[asyncio.Queue[bytes | None]]] = defaultdict(set)
        self._people: Counter[int] = Counter()
        # of each topic, in milliseconds; before its first event, since when it would have come
        self._newest: dict[str, int] = {}
        self._began = 0
        # of each topic whose pages are still asking: when they will have, and whether to tell more
        self._asking: dict[str, tuple[float, bool]] = {}
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
                self._end_all()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _open(self, scope: Message, receive: Receive, send: Send) -> None:
        tickets = parse_qs(scope["query_string"].decode("latin-1")).get("ticket", [])
        follows = read_ticket(tickets[0]) if len(tickets) == 1 else None
        if follows is None:
            await _answer(send, 403)
            return
        person, topic = follows
        is_full = self._people.total() >= MOST or self._people[person] >= MOST_OF_ONE
        if is_full or not self._is_listening:
            await _answer(send, 503)
            return
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(1)
        self._streams[topic].add(queue)
        self._people[person] += 1
        try:
            # first of all what the page may have missed
            queue.put_nowait(_event(self._newest.get(topic, self._began), spread=1.0))
            await send({"type": "http.response.start", "status": 200, "headers": STREAM})
            await _stream(queue, receive, send)
        finally:
            self._people[person] -= 1
            if not self._people[person]:
                del self._people[person]
            self._streams[topic].discard(queue)
            if not self._streams[topic]:
                del self._streams[topic]

    async def _listen(self) -> None:
        """Pass on what PostgreSQL says, for as long as this process lives."""
        while True:
            try:
                await self._pass_on()
            except (psycopg.Error, OSError) as error:
                logger.warning("the listener lost the database: %s", type(error).__name__)
            self._is_listening = False
            self._end_all()
            await asyncio.sleep(1)

    async def _pass_on(self) -> None:
        given = connection.get_connection_params()
        for name in ("context", "cursor_factory", "prepare_threshold"):
            given.pop(name, None)
        database = await psycopg.AsyncConnection.connect(**given | ALIVE, autocommit=True)
        async with database:
            await database.execute(f"LISTEN {CHANNEL}")
            self._newest.clear()
            self._began = _milliseconds()
            self._is_listening = True
            while True:
                async for notice in database.notifies(timeout=PING):
                    self._tell(notice.payload)
                await database.execute("SELECT 1")  # fails if it is gone

    def _tell(self, topic: str) -> None:
        """Tell the pages of a topic, once those that were told before have had time to ask."""
        now = asyncio.get_running_loop().time()
        until, _ = self._asking.get(topic, (0.0, False))
        if now < until:
            self._asking[topic] = until, True
            return
        self._newest[topic] = _milliseconds()
        queues = self._streams.get(topic, set())
        spread = min(max(len(queues) / AT_ONCE, 0.1), 10.0)
        if queues:
            self._asking[topic] = now + spread, False
            asyncio.get_running_loop().call_later(spread, self._tell_more, topic)
        event = _event(self._newest[topic], spread=spread)
        for queue in queues:
            if queue.full():  # a page that has not taken the last one needs only the newest
                queue.get_nowait()
            queue.put_nowait(event)

    def _tell_more(self, topic: str) -> None:
        _, is_due = self._asking.pop(topic)
        if is_due:
            self._tell(topic)

    def _end_all(self) -> None:
        for queue in [queue for queues in self._streams.values() for queue in queues]:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(None)


def _milliseconds() -> int:
    return int(time.time() * 1000)


def _event(moment: int, *, spread: float) -> bytes:
    """What a page is told. spread: seconds over which those that follow the topic shall ask."""
    data = {"event": moment, "spread": int(1000 * spread)}
    return f"data: {json.dumps(data)}\n\n".encode()


async def _stream(queue: asyncio.Queue[bytes | None], receive: Receive, send: Send) -> None:
    """Send what comes until the page goes, the ticket ends or the database is lost."""
    ends = time.monotonic() + SECONDS
    await _send(send, b"retry: 15000\n\n")
    gone = asyncio.create_task(_wait_for_end(receive))
    next_one = asyncio.create_task(queue.get())
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
            next_one = asyncio.create_task(queue.get())
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
