"""What a revision of a live ranker says: how its engine is asked, and how its answers are read."""

import json
import math
import re
from collections.abc import Mapping as Mapped
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Self

from evaluation.live_rankers.mapping import Mapping, MappingRefused, check_mapping
from evaluation.live_rankers.templates import (
    TemplateRefused,
    Variables,
    fill_json,
    fill_url,
    used_variables,
)
from judgments.outgoing.commands import read_command
from judgments.outgoing.rules import HTTP, REDIS, RESERVED_HEADERS
from touchstone.errors import DomainError
from touchstone.files.json_lines import Json

COMMAND: Final = "REDIS"  # a command of Redis instead of an HTTP method
METHODS: Final = ("GET", "POST", COMMAND)
DEEPEST: Final = 1_000
MOST_AT_ONCE: Final = 32
LONGEST_TIMEOUT: Final = 60.0  # seconds
MOST_ATTEMPTS: Final = 5
MOST_HEADERS: Final = 20
LONGEST_URL: Final = 2_000
LONGEST_BODY: Final = 100_000  # characters
# what each number may be
NUMBERS: Final = (
    ("depth", 1, DEEPEST),
    ("at_once", 1, MOST_AT_ONCE),
    ("rate", 0, 1_000),
    ("timeout", 0.1, LONGEST_TIMEOUT),
    ("attempts", 1, MOST_ATTEMPTS),
    ("min_answered", 0.01, 1),
)
MASKED: Final = "••••••"

_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE: Final = re.compile(r"[\x20-\x7e]{0,1000}")
# what belongs into the secret, where it is encrypted
_SECRETS: Final = re.compile(r"authorization|api[-_]?key|token|secret|password", re.IGNORECASE)


class ConfigurationRefused(DomainError):
    """The configuration can't be used. field: where."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__("configuration_invalid", message)
        self.field = field


@dataclass(frozen=True, kw_only=True)
class Request:
    """An HTTP request or a command, without its secret. body: JSON as bytes."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """A revision's content. Checked by `check`; stored as JSON.

    method: of HTTP; or REDIS, with a body that is an array of the words of a command. headers:
    (name, value), constant. secret_header: the name of the header whose value is the secret, of
    Redis the user whose password it is; empty where there is none. depth: results wanted. at_once:
    requests in flight. rate: requests per second, 0 for no limit. timeout: seconds for a request.
    attempts: for each query. min_answered: the share of queries that must be answered for a
    snapshot to become a run. takes_documents: fill stubs with titles, texts and URLs of results.
    vectors: the number of the vectors that queries have; 0 for none.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: Json = None
    secret_header: str = ""
    mapping: Mapping
    depth: int = 100
    at_once: int = 4
    rate: float = 0.0
    timeout: float = 10.0
    attempts: int = 3
    min_answered: float = 1.0
    takes_documents: bool = True
    vectors: int = 0

    @property
    def schemes(self) -> tuple[str, ...]:
        """Of URLs that can be asked so."""
        return REDIS if self.method == COMMAND else HTTP

    @property
    def variables(self) -> set[str]:
        """The names of those that the template uses."""
        return used_variables(url=self.url, body=self.body)

    def request_for(self, variables: Variables) -> Request:
        """The request for a query. Raises TemplateRefused."""
        body = None
        headers = (("Accept", "application/json"), *self.headers)
        if self.body is not None:
            filled = fill_json(self.body, variables)
            body = json.dumps(filled, ensure_ascii=False, allow_nan=False).encode()
            headers = (("Content-Type", "application/json"), *headers)
        if self.method == COMMAND:
            headers = ()
        return Request(
            method=self.method, url=fill_url(self.url, variables), headers=headers, body=body
        )

    def to_json(self) -> dict[str, Any]:
        """As stored."""
        return asdict(self) | {"headers": [list(header) for header in self.headers]}

    @classmethod
    def from_json(cls, stored: Mapped[str, Any]) -> Self:
        """What `to_json` gave; fields that a later version dropped are ignored."""
        known = {field.name for field in fields(cls)}
        own = {name: value for name, value in stored.items() if name in known}
        mapping = Mapping(**own.pop("mapping"))
        headers = tuple((name, value) for name, value in own.pop("headers"))
        return cls(mapping=mapping, headers=headers, **own)


def check(configuration: Configuration) -> None:
    """Raises ConfigurationRefused for the first field that can't be used."""
    _check_request(configuration)
    _check_headers(configuration)
    try:
        check_mapping(configuration.mapping)
    except MappingRefused as error:
        # the URL of a document, not of the engine
        field = "document_url" if error.field == "url" else error.field
        raise ConfigurationRefused(field, error.message) from error
    for name, lowest, highest in NUMBERS:
        value = getattr(configuration, name)
        if not (math.isfinite(value) and lowest <= value <= highest):
            raise ConfigurationRefused(name, f"Must be from {lowest:g} to {highest:g}.")


def _check_request(configuration: Configuration) -> None:
    """The method, the URL and the body."""
    if configuration.method not in METHODS:
        raise ConfigurationRefused("method", "Use GET, POST or REDIS.")
    schemes = [f"{scheme}://" for scheme in configuration.schemes]
    if not configuration.url.startswith(tuple(schemes)):
        raise ConfigurationRefused("url", f"The URL must begin with {' or '.join(schemes)}.")
    if len(configuration.url) > LONGEST_URL:
        raise ConfigurationRefused("url", f"At most {LONGEST_URL:,} characters.")
    if configuration.method == "GET" and configuration.body is not None:
        raise ConfigurationRefused("body", "A GET has no body. Use POST, or leave it empty.")
    if configuration.method == COMMAND:
        _check_command(configuration)
    used = _used("url", url=configuration.url) | _used("body", body=configuration.body)
    if not used & {"text", "any_word", "id", "vector"}:
        field = "url" if configuration.body is None else "body"
        message = "Each query would get the same request: use {{text}} or {{id}}."
        raise ConfigurationRefused(field, message)


def _check_command(configuration: Configuration) -> None:
    if configuration.headers:
        raise ConfigurationRefused("headers", "A Redis command has no headers.")
    if "{{" in configuration.url:
        raise ConfigurationRefused("url", "A variable can’t be in the URL of a Redis server.")
    try:
        read_command(configuration.body)
    except ValueError as error:
        message = f"{str(error)[:1].upper()}{str(error)[1:]}."
        raise ConfigurationRefused("body", message) from error


def _used(field: str, *, url: str = "", body: Json = None) -> set[str]:
    """The variables in one field of the template."""
    try:
        if len(json.dumps(body)) > LONGEST_BODY:
            raise ConfigurationRefused(field, f"At most {LONGEST_BODY:,} characters.")
        return used_variables(url=url, body=body)
    except TemplateRefused as error:
        raise ConfigurationRefused(field, error.message) from error
    except RecursionError as error:
        raise ConfigurationRefused(field, "Too deeply nested.") from error


def _check_headers(configuration: Configuration) -> None:
    if len(configuration.headers) > MOST_HEADERS:
        raise ConfigurationRefused("headers", f"At most {MOST_HEADERS} headers.")
    for name, value in configuration.headers:
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise ConfigurationRefused("headers", f"{name[:50]!r} is not a header in ASCII.")
        if name.lower() in RESERVED_HEADERS:
            raise ConfigurationRefused("headers", f"{name} is set by Touchstone.")
        if _SECRETS.search(name):
            message = f"{name} looks like a secret, and headers are shown. Use the secret header."
            raise ConfigurationRefused("headers", message)
    secret = configuration.secret_header
    if secret and (not _HEADER_NAME.fullmatch(secret) or secret.lower() in RESERVED_HEADERS):
        raise ConfigurationRefused("secret_header", "Not the name of a header that can be sent.")
