"""A page's ticket for its stream, and the part that it lets others of its key have."""

import hashlib
import re
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from judgments.live import (
    BEGAN,
    EVENT_HEADER,
    Part,
    Ticket,
    announce_part,
    digest_of,
    make_ticket,
    pack_html,
)
from judgments.permissions import Access

TICKET_HEADER: Final = "X-Live-Ticket"
_EVENT: Final = re.compile(r"[A-Za-z0-9_-]{8,32}")


def offer_stream(
    response: HttpResponse, request: HttpRequest, *, access: Access, topic: str, key: str = ""
) -> None:
    """Give a page its ticket; the caller has checked that the viewer may see what it follows.

    key: of the part that the page shows, where others are shown the same: `key_of`.
    """
    if settings.LIVE:
        ticket = Ticket(
            person=access.user.pk,
            session=digest_of(request.session.session_key or ""),
            topic=topic,
            key=key,
            moment=request.META[BEGAN],
        )
        response.headers[TICKET_HEADER] = make_ticket(ticket)


def key_of(request: HttpRequest, *, access: Access, topic: str) -> str:
    """The key of a part that depends on the topic, the address and the role alone."""
    said = (topic, access.role, str(access.is_archived), request.get_full_path())
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:32]


def event_of(request: HttpRequest) -> str:
    """The listener's event because of which a page asks for its part; empty for no event.

    It is passed back with the part, so that the listener knows that this was computed after it.
    """
    event = request.headers.get(EVENT_HEADER, "") if settings.LIVE else ""
    return event if _EVENT.fullmatch(event) else ""


def share_part(html: str, *, key: str, event: str, moment: int) -> None:
    """Let the other pages of the key have this part, which answers a page that an event made ask.

    moment: when what it shows was looked up, or earlier.
    """
    if "csrfmiddlewaretoken" in html:
        raise ValueError("a part with a form's token is for one session")
    announce_part(Part(key, event, moment, pack_html(html)))
