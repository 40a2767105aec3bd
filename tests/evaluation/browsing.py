"""Looking at pages as a person does."""

import re
from html import unescape

from django.test import Client

from judgments.models import User

BACKEND = "django.contrib.auth.backends.ModelBackend"


def signed_in(user: User) -> Client:
    """A browser in which this person has signed in."""
    client = Client()
    client.force_login(user, backend=BACKEND)
    return client


def text_of(response) -> str:
    """What a reader sees: without tags, blanks collapsed."""
    html = re.sub(r"<(script|style)\b.*?</\1>", "", response.content.decode(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", html)))


def links_of(response, holding: str = "") -> list[str]:
    """The addresses that the page links to, in order, as a browser would ask for them."""
    found = re.findall(r'href="([^"]*)"', response.content.decode())
    return [unescape(link) for link in found if holding in unescape(link)]
