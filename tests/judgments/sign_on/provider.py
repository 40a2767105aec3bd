"""An identity provider on loopback: oidc-provider-mock, with PKCE and some ways to misbehave."""

import base64
import hashlib
import io
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from werkzeug.serving import make_server

with warnings.catch_warnings(record=True):  # of what it is built on
    from oidc_provider_mock import app


@dataclass
class Provider:
    """issuer: its address. issues_as: another issuer that its tokens name. describes: whom the
    userinfo endpoint describes instead. asked: the parameters of every authorization request."""

    issuer: str = ""
    issues_as: str = ""
    describes: str = ""
    asked: list[dict[str, str]] = field(default_factory=list)
    _challenges: dict[str, str] = field(default_factory=dict)  # by code

    def set_claims(self, subject: str, **claims: object) -> None:
        httpx.put(f"{self.issuer}/users/{subject}", json=claims).raise_for_status()

    def authorize(self, url: str, subject: str) -> str:
        """Sign in as this subject; the address that the browser is sent back to."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        self.asked.append(asked)
        answer = httpx.post(url, data={"sub": subject})
        back = answer.headers["Location"]
        code = parse_qs(urlsplit(back).query)["code"][0]
        self._challenges[code] = asked.get("code_challenge", "")
        return back

    def around(self, inner: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
        """The mock knows no PKCE, and is always honest."""

        def wrapped(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
            path = environ["PATH_INFO"]
            if path == "/oauth2/token":
                body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
                environ["wsgi.input"] = io.BytesIO(body)
                if not self._is_proven(parse_qs(body.decode())):
                    start("400 Bad Request", [("Content-Type", "application/json")])
                    return [b'{"error": "invalid_grant"}']
                if self.issues_as:
                    environ["HTTP_HOST"] = self.issues_as
            if path == "/userinfo" and self.describes:
                start("200 OK", [("Content-Type", "application/json")])
                return [b'{"sub": "%s"}' % self.describes.encode()]
            return inner(environ, start)

        return wrapped

    def _is_proven(self, form: dict[str, list[str]]) -> bool:
        verifier = form.get("code_verifier", [""])[0]
        digest = hashlib.sha256(verifier.encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        return self._challenges.get(form["code"][0]) == challenge


@contextmanager
def serving_provider() -> Iterator[Provider]:
    provider = Provider()
    server = make_server("127.0.0.1", 0, provider.around(app()), threaded=True)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
