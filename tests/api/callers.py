"""Who asks, and how: programs with a token, pages with a session, no one."""

import gzip
import json
from datetime import timedelta
from typing import Any

from django.test import Client

from judgments.models import ApiToken, User
from tests.builders import make_user

BACKEND = "django.contrib.auth.backends.ModelBackend"
ROOT = "/api/v1/"
BOOKS = f"{ROOT}collections/books/"
MAIN = f"{BOOKS}lists/main/"
SCOPES = ApiToken.Scope


def make_token(
    *, username: str, scope: str = SCOPES.WRITE, life: timedelta | None = timedelta(days=1)
) -> str:
    """The text of a new token."""
    user = make_user(username=username)
    _, text = ApiToken.objects.create(user=user, expiry=life, name="a test", scope=scope)
    return str(text)


def by_token(username: str, *, scope: str = SCOPES.WRITE) -> Client:
    """A program with a token of this person."""
    token = make_token(username=username, scope=scope)
    return Client(headers={"Authorization": f"Bearer {token}"})


def by_session(username: str, *, checks_csrf: bool = False) -> Client:
    """A page that this person has open."""
    client = Client(enforce_csrf_checks=checks_csrf)
    client.force_login(User.objects.get(username=username), backend=BACKEND)
    return client


def post_json(client: Client, path: str, body: object, **headers: str) -> Any:
    return client.post(path, json.dumps(body), content_type="application/json", headers=headers)


def post_file(
    client: Client, path: str, content: bytes | str, kind: str = "text/plain", **headers: str
) -> Any:
    """Send a file as the body; headers with underscores for their hyphens."""
    data = content.encode() if isinstance(content, str) else content
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.generic("POST", path, data, content_type=kind, headers=named)


def gzipped(text: str) -> bytes:
    return gzip.compress(text.encode())


def is_problem(response: Any, status: int, code: str) -> dict[str, Any]:
    """Check that this is the problem, and give its body."""
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert body["status"] == status
    assert body["code"] == code, body
    assert body["type"] == "about:blank"
    assert body["title"]
    assert body["detail"]
    return body
