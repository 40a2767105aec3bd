"""Telling open pages that something changed, and what they show then.

The listener (config/live_listener.py) holds one stream for each open page. It reads no rows: a page
gets a ticket from the view that checked its viewer, which says what the page follows (a topic) and,
where its changing part is the same for others, which part it is (a key). When a topic changes, the
listener tells one page of each key to ask. The view that answers it, which checks again, announces
the part that it answered with, and the listener passes that on to all pages of the key.
"""

import base64
import hashlib
import secrets
import time
import zlib
from dataclasses import astuple, dataclass
from typing import Final

from django.conf import settings
from django.core import signing
from django.db import connection

CHANNEL: Final = "touchstone_live"
SALT: Final = "touchstone.live"
PART_SALT: Final = "touchstone.live.part"
EVENT_HEADER: Final = "X-Live-Event"  # in a request: the event because of which the page asks
AGAIN_HEADER: Final = "X-Live-Again"  # in an answer: the page shall ask again soon
BEGAN: Final = "touchstone.began"  # in META: when a request began, see config/logs.py
SECONDS: Final = 120  # of a ticket, and so of a stream: then the page asks its view for another
PIECE: Final = 7_500  # bytes of one notice: PostgreSQL takes fewer than 8,000
PERSON: Final = "person-"  # a notice: access of this person changed (judgments/triggers.py)
PART: Final = "part "  # a notice: one piece of a part
LARGEST: Final = 128 * 1024  # bytes of a part, compressed: a larger one is not passed on


@dataclass(frozen=True)
class Ticket:
    """What opens a stream, in the browser that has the session.

    session: the digest of its key. key: of the part that the page shows; empty where it is this
    person's alone. moment: when the request began that the ticket answers, before its viewer was
    checked, in milliseconds.
    """

    person: int
    session: str
    topic: str
    key: str
    moment: int


@dataclass(frozen=True)
class Part:
    """The changing part of all pages of a key. event: because of which it was asked for.

    moment: when what it shows was looked up, or earlier; in milliseconds. body: its HTML, packed;
    empty where that is too large to be passed on.
    """

    key: str
    event: str
    moment: int
    body: str


def now() -> int:
    """This moment in milliseconds, as tickets and parts have it."""
    return int(time.time() * 1000)


def board_topic(list_id: int) -> str:
    """What an open leaderboard of the list follows."""
    return f"board-{list_id}"


def labels_topic(list_id: int) -> str:
    """What the pages of the list's campaigns follow."""
    return f"labels-{list_id}"


def digest_of(session_key: str) -> str:
    """What tells a session's cookie without being one."""
    return hashlib.sha256(session_key.encode()).hexdigest()


def announce(topic: str) -> None:
    """Let pages that follow the topic know, once this transaction has committed.

    By PostgreSQL's NOTIFY; on SQLite there is no listener, and pages ask every few seconds.
    """
    _notify([topic])


def announce_part(part: Part) -> None:
    """Let the other pages of its key have a part. The caller has checked that it may be shared."""
    _notify(pieces_of(part))


def pieces_of(part: Part) -> list[str]:
    """A part as notices, sealed: more than the application may be able to send some."""
    sealed = signing.TimestampSigner(salt=PART_SALT).sign(" ".join(map(str, astuple(part))))
    pieces = [sealed[start : start + PIECE] for start in range(0, len(sealed), PIECE)]
    # a name of its own: of equal notices of a transaction, PostgreSQL sends one
    name = secrets.token_urlsafe(6)
    return [f"{PART}{name} {at} {len(pieces)} {piece}" for at, piece in enumerate(pieces)]


def _notify(notices: list[str]) -> None:
    if settings.LIVE and connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # in one statement, so that they come one by one
            cursor.execute(
                "SELECT pg_notify(%s, notice) FROM unnest(%s::text[]) WITH ORDINALITY "
                "AS one (notice, place) ORDER BY place",
                [CHANNEL, notices],
            )


class Pieces:
    """Parts from the pieces that they come in, which are next to each other."""

    def __init__(self) -> None:
        self._name = ""
        self._pieces: list[str] = []

    def add(self, notice: str) -> Part | None:
        """The part that is complete with this piece, unless it was not made here."""
        name, place, count, piece = notice.removeprefix(PART).split(" ", 3)
        if place == "0":
            self._name, self._pieces = name, []
        if name != self._name or int(place) != len(self._pieces):
            return None
        self._pieces.append(piece)
        if len(self._pieces) < int(count):
            return None
        sealed, self._pieces = "".join(self._pieces), []
        try:
            said = signing.TimestampSigner(salt=PART_SALT).unsign(sealed, max_age=SECONDS)
        except signing.BadSignature:
            return None
        key, event, moment, body = said.split(" ")
        return Part(key, event, int(moment), body)


def pack_html(html: str) -> str:
    """What static/touchstone/live.js unpacks; empty where it is too large."""
    packed = base64.b64encode(zlib.compress(html.encode())).decode()
    return packed if len(packed) <= LARGEST else ""


def make_ticket(ticket: Ticket) -> str:
    """The ticket as a page carries it."""
    return signing.dumps(astuple(ticket), salt=SALT)


def read_ticket(text: str) -> Ticket | None:
    """The ticket; None if it is not one of ours, or too old."""
    try:
        return Ticket(*signing.loads(text, salt=SALT, max_age=SECONDS))
    except signing.BadSignature:
        return None
