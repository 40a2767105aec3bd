"""Requests to one server: JSON answers, and errors that say what to do."""

import json
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from typing import IO, Any, Final, NoReturn
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from touchstone.client.credentials import Credentials
from touchstone.client.errors import RequestRefusedError, ServerUnavailableError

MOST_LINES: Final = 20  # of a refused file, that an error shows
PAGE: Final = 1000


@dataclass(frozen=True)
class Body:
    """What is sent. length: in bytes."""

    content: bytes | IO[bytes]
    length: int
    media_type: str


@dataclass(frozen=True)
class ServerAnswer:
    """A successful answer. data: its JSON."""

    status: int
    data: Any


class Connection:
    """A server and a token. timeout: seconds that one answer may take."""

    def __init__(self, credentials: Credentials, *, timeout: float) -> None:
        self._credentials = credentials
        self._timeout = timeout
        self._opener = build_opener(_SameServer)

    def get(
        self, path: str, parameters: Mapping[str, object] | None = None, *, patience: float = 0.0
    ) -> Any:
        """The JSON at an address. patience: seconds that the server itself may wait, beside."""
        return self._ask("GET", path, urlencode(parameters or {}), patience=patience).data

    def get_all(self, path: str) -> Iterator[Any]:
        """All results of an address that gives them page by page."""
        query: str | None = urlencode({"limit": PAGE})
        while query is not None:
            result = self._ask("GET", path, query).data
            yield from result["results"]
            # its query alone: behind a proxy the server may know itself by another name
            query = urlsplit(result["next"]).query if result["next"] else None

    def post(self, path: str, body: Body) -> ServerAnswer:
        """Send a body."""
        return self._ask("POST", path, "", body)

    def post_json(self, path: str, value: object) -> ServerAnswer:
        """Send a value as JSON."""
        content = json.dumps(value).encode()
        return self.post(path, Body(content, len(content), "application/json"))

    def _ask(
        self, method: str, path: str, query: str, body: Body | None = None, *, patience: float = 0.0
    ) -> ServerAnswer:
        own, token = self._credentials.url, self._credentials.token
        address = f"{own}/api/v1/{path}" + (f"?{query}" if query else "")
        request = Request(address, method=method)  # noqa: S310  (base_url checked its scheme)
        request.add_header("Accept", "application/json")
        request.add_header("User-Agent", "touchstone")
        if token:
            request.add_unredirected_header("Authorization", f"Bearer {token}")
        if body is not None:
            request.data = body.content
            request.add_header("Content-Type", body.media_type)
            request.add_header("Content-Length", str(body.length))
        timeout = self._timeout + patience
        try:
            with self._opener.open(request, timeout=timeout) as response:
                return ServerAnswer(response.status, _json(response.read(), own))
        except HTTPError as error:
            with error:
                self._refuse(error)
        except TimeoutError:
            raise ServerUnavailableError(f"{own} gave no answer in {timeout:g} s") from None
        except URLError as error:
            raise ServerUnavailableError(_no_connection(own, error.reason, timeout)) from None
        except (HTTPException, OSError) as error:
            message = f"the connection to {own} was lost: {error!r}"
            raise ServerUnavailableError(message) from None

    def _refuse(self, error: HTTPError) -> NoReturn:
        """Raises what an answer without success means."""
        url, token = self._credentials.url, self._credentials.token
        if error.code in range(300, 400):
            target = error.headers.get("Location", "another address")
            message = f"{url} leads to {target}: name that server instead, by TOUCHSTONE_URL"
            raise ServerUnavailableError(f"{message} (a token is never sent to another server)")
        problem = _problem(error)
        if error.code == 401:
            raise RequestRefusedError(401, "not_authenticated", _sign_in(url, token))
        if problem is None or error.code >= 500 or error.code == 429:
            after = error.headers.get("Retry-After")
            later = f"; try again in {after} s" if after else ""
            detail = (problem or {}).get("detail", "not as a Touchstone server does")
            raise ServerUnavailableError(f"{url} answered {error.code}: {detail}{later}")
        lines = _lines(problem)
        detail = problem.get("detail", "") if not lines else f"{problem.get('title', 'refused')}:"
        raise RequestRefusedError(error.code, str(problem.get("code", "")), detail, lines)


class _SameServer(HTTPRedirectHandler):
    """Follows a redirect of a GET to the same scheme, host and port, and none else."""

    def redirect_request(  # noqa: PLR0917  (urllib's)
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        if _origin(newurl) != _origin(req.full_url) or req.get_method() != "GET":
            return None  # which makes it an HTTPError
        result = super().redirect_request(req, fp, code, msg, headers, newurl)
        if result is not None and req.has_header("Authorization"):
            result.add_unredirected_header("Authorization", str(req.get_header("Authorization")))
        return result


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _json(content: bytes, url: str) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        message = f"{url} did not answer as a Touchstone server does"
        raise ServerUnavailableError(message) from None


def _problem(error: HTTPError) -> dict[str, Any] | None:
    """The problem details of an answer; None where there are none."""
    try:
        result = json.loads(error.read())
    except (ValueError, OSError, HTTPException):
        return None
    return result if isinstance(result, dict) and "code" in result else None


def _lines(problem: Mapping[str, Any]) -> tuple[str, ...]:
    """What is wrong, a line each: of a file's lines, or of a request's fields."""
    rows = problem.get("problems", [])
    lines = [_line(row) for row in rows[:MOST_LINES]]
    if (total := problem.get("total", len(rows))) > len(lines) and lines:
        lines.append(f"… {total:,} problems in all")
    for name, messages in (problem.get("errors") or {}).items():
        texts = messages if isinstance(messages, list) else [messages]
        lines.append(f"{name}: {' '.join(map(str, texts))}")
    return tuple(lines)


def _line(row: Mapping[str, Any]) -> str:
    positions = [str(row[name]) for name in ("file", "line", "column") if name in row]
    return f"{':'.join(positions)}: {row.get('rule', '')}: {row.get('message', '')}"


def _sign_in(url: str, token: str | None) -> str:
    if token:
        return f"{url} does not accept this token: create a new one on its Tokens page"
    return (
        f"{url} needs a token, sent as `Authorization: Bearer …`: create one on its Tokens page, "
        "then set TOUCHSTONE_TOKEN or run `touchstone login`"
    )


def _no_connection(url: str, reason: object, timeout: float) -> str:
    if isinstance(reason, TimeoutError):
        return f"{url} gave no answer in {timeout:g} s"
    if isinstance(reason, ssl.SSLCertVerificationError):
        return f"the certificate of {url} is not trusted: {reason.verify_message}"
    if isinstance(reason, ssl.SSLError):
        return f"{url} does not speak https: {reason.reason}"
    return f"no connection to {url}: {reason}"
