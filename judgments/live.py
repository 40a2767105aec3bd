"""Telling open pages that something changed, so that they need not ask every second.

The listener (config/live_listener.py) holds one stream for each open page. It knows no rows and no
people: a page gets a ticket for one topic from the view that checked its viewer, and the listener
passes on that the topic changed, never what. So the page asks the same view as ever, which checks
again. What was not announced is found by pages that ask by themselves now and then.
"""

from typing import Final

from django.conf import settings
from django.core import signing
from django.db import connection

CHANNEL: Final = "touchstone_live"
SALT: Final = "touchstone.live"
EVENT_HEADER: Final = "X-Live-Event"
AGAIN_HEADER: Final = "X-Live-Again"  # in an answer: the page shall ask again soon
SECONDS: Final = 120  # of a ticket, and so of a stream: then the page asks its view for another


def board_topic(list_id: int) -> str:
    """What an open leaderboard of the list follows."""
    return f"board-{list_id}"


def labels_topic(list_id: int) -> str:
    """What the pages of the list's campaigns follow."""
    return f"labels-{list_id}"


def announce(topic: str) -> None:
    """Let pages that follow the topic know, once this transaction has committed.

    By PostgreSQL's NOTIFY; on SQLite there is no listener, and pages ask every few seconds.
    """
    if settings.LIVE and connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, topic])


def make_ticket(*, person: int, topic: str) -> str:
    """What opens a stream of the topic for as long as it is valid."""
    return signing.dumps([person, topic], salt=SALT)


def read_ticket(ticket: str) -> tuple[int, str] | None:
    """Whose ticket it is and of which topic; None if it is not one of ours, or too old."""
    try:
        person, topic = signing.loads(ticket, salt=SALT, max_age=SECONDS)
    except signing.BadSignature:
        return None
    return person, topic
