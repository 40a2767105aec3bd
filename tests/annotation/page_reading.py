"""Opening pages and reading them, for the tests of annotation's pages."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Campaign
from tests.builders import make_user

BACKEND = "django.contrib.auth.backends.ModelBackend"
HTMX = {"HX-Request": "true"}


def client_of(username: str) -> Client:
    """Someone's browser, signed in."""
    client = Client()
    client.force_login(make_user(username=username), backend=BACKEND)
    return client


def of(name: str, campaign: Campaign, **more: Any) -> str:
    """The address of a campaign's page."""
    slug = campaign.list.collection.slug
    return reverse(name, kwargs={"slug": slug, "campaign_id": campaign.public_id} | more)


def words(response: Any) -> str:
    """What a reader sees: without tags, blanks collapsed."""
    html = re.sub(r"<(script|style)\b.*?</\1>", "", response.content.decode(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


def links(response: Any) -> list[str]:
    """Where a page's links, forms and htmx requests lead."""
    found = Links()
    found.feed(response.content.decode())
    return found.addresses


class Links(HTMLParser):
    """Gathers addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        found = (named.get(name) for name in ("href", "action", "hx-get", "hx-post"))
        self.addresses += [address for address in found if address]


@contextmanager
def counted() -> Iterator[CaptureQueriesContext]:
    """The database queries made meanwhile."""
    with CaptureQueriesContext(connection) as queries:
        yield queries
