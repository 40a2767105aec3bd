"""A page's ticket for the stream that tells it of changes."""

from typing import Final

from django.conf import settings
from django.http import HttpResponse

from judgments.live import make_ticket

TICKET_HEADER: Final = "X-Live-Ticket"


def offer_stream(response: HttpResponse, *, person: int, topic: str) -> None:
    """Give a page its ticket; the caller has checked that the person may see what the topic is."""
    if settings.LIVE:
        response.headers[TICKET_HEADER] = make_ticket(person=person, topic=topic)
