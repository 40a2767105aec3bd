"""What a revision of a machine judge says: which model is asked, with what, and at what pace."""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, Self

from annotation.machine_judges.answers import answer_schema
from annotation.machine_judges.batch_files import CHAT, base_of
from annotation.machine_judges.prompts import (
    DEFAULT_TEMPLATE,
    PromptRefused,
    ShownPair,
    check_template,
    render_pair,
)
from judgments.outgoing.rules import RESERVED_HEADERS
from touchstone.errors import DomainError
from touchstone.files.json_lines import Json

FORMATS: Final = (
    ("json_schema", "JSON schema (structured output)"),
    ("json_object", "JSON object"),
)
MOST_AT_ONCE: Final = 32
LONGEST_TIMEOUT: Final = 120.0  # seconds
MOST_ATTEMPTS: Final = 5
LONGEST_URL: Final = 2_000
LONGEST_MODEL: Final = 200
LONGEST_DOCUMENT: Final = 200_000  # characters
LONGEST_PARAMETERS: Final = 4_000  # characters of JSON
MOST_PRICE: Final = 10**8  # ten-thousandths of the currency per million tokens
PER_HUNDREDTH: Final = 10**8  # of what costs are counted in
# what each number may be
NUMBERS: Final = (
    ("document_characters", 100, LONGEST_DOCUMENT),
    ("at_once", 1, MOST_AT_ONCE),
    ("rate", 0, 1_000),
    ("timeout", 0.1, LONGEST_TIMEOUT),
    ("attempts", 1, MOST_ATTEMPTS),
    ("prompt_price", 0, MOST_PRICE),
    ("completion_price", 0, MOST_PRICE),
)
MASKED: Final = "••••••"
# the request's own parts
RESERVED: Final = frozenset(
    {"model", "messages", "response_format", "stream", "n", "tools", "tool_choice", "functions"}
)
BYTES_PER_TOKEN: Final = 3  # where an endpoint does not count: rather too many tokens

_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


class ConfigurationRefused(DomainError):
    """The configuration can't be used. field: where."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__("configuration_invalid", message)
        self.field = field


def usual_parameters() -> dict[str, Json]:
    """Of a judge that says the same twice, and does not talk for long."""
    return {"temperature": 0, "max_tokens": 300}


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """A revision's content, without its guideline. Checked by `check`; stored as JSON.

    url: of the endpoint, whole, such as https://api.example/v1/chat/completions. parameters: sent
    as they are. secret_header: the name of the header whose value is the secret; empty where there
    is none. answer_format: how the endpoint is told the schema. gives_reason: the model says why
    before it grades. document_characters: shown of a document. at_once: requests in flight. rate:
    requests per second, 0 for no limit. timeout: seconds for a request. attempts: for each pair.
    prompt_price, completion_price: of a million tokens, in ten-thousandths of the currency.
    batches: requests are sent in batches, which cost less and take up to a day.
    """

    url: str
    model: str
    template: str = DEFAULT_TEMPLATE
    parameters: Mapping[str, Json] = field(default_factory=usual_parameters)
    secret_header: str = "Authorization"  # noqa: S105  (a name)
    answer_format: str = "json_schema"
    gives_reason: bool = True
    document_characters: int = 8_000
    at_once: int = 8
    rate: float = 0.0
    timeout: float = 60.0
    attempts: int = 3
    prompt_price: int = 0
    completion_price: int = 0
    batches: bool = False

    def cost_of(self, *, prompt_tokens: int, completion_tokens: int) -> int:
        """In 10⁻¹⁰ of the currency."""
        return self.prompt_price * prompt_tokens + self.completion_price * completion_tokens

    def to_json(self) -> dict[str, Any]:
        """As stored."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """What `to_json` gave; fields that a later version dropped are ignored."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in stored.items() if name in known})


@dataclass(frozen=True)
class Prompt:
    """A request's body. digest: SHA-256 of it: the same answer is to be expected of the same."""

    body: bytes
    digest: str


@dataclass(frozen=True)
class Prompter:
    """Makes the requests of one revision. instructions, salt: its own. codes: of its scale."""

    configuration: Configuration
    instructions: str
    salt: str
    codes: Sequence[int]

    def prompt(self, pair: ShownPair) -> Prompt:
        """The request about one pair."""
        own = self.configuration
        message = render_pair(pair, salt=self.salt, longest=own.document_characters)
        content = {
            "model": own.model,
            "messages": [
                {"role": "system", "content": self.instructions},
                {"role": "user", "content": message},
            ],
            "response_format": self._format(),
            **own.parameters,
        }
        body = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
        return Prompt(body, hashlib.sha256(body).hexdigest())

    def _format(self) -> dict[str, Any]:
        if self.configuration.answer_format == "json_object":
            return {"type": "json_object"}
        schema = answer_schema(self.codes, gives_reason=self.configuration.gives_reason)
        return {
            "type": "json_schema",
            "json_schema": {"name": "judgment", "strict": True, "schema": schema},
        }


def tokens_of(size: int) -> int:
    """An estimate for so many bytes, where the endpoint does not count."""
    return math.ceil(size / BYTES_PER_TOKEN)


def check(configuration: Configuration) -> None:
    """Raises ConfigurationRefused for the first field that can't be used."""
    _check_url(configuration)
    if not 0 < len(configuration.model) <= LONGEST_MODEL:
        raise ConfigurationRefused("model", f"1 to {LONGEST_MODEL} characters.")
    try:
        check_template(configuration.template)
    except PromptRefused as error:
        raise ConfigurationRefused("template", error.message) from error
    _check_parameters(configuration.parameters)
    if configuration.answer_format not in dict(FORMATS):
        raise ConfigurationRefused("answer_format", "Unknown format.")
    _check_secret_header(configuration.secret_header)
    for name, lowest, highest in NUMBERS:
        value = getattr(configuration, name)
        if not (math.isfinite(value) and lowest <= value <= highest):
            raise ConfigurationRefused(name, f"Must be from {lowest:g} to {highest:g}.")


def _check_url(configuration: Configuration) -> None:
    if not configuration.url.startswith(("http://", "https://")):
        raise ConfigurationRefused("url", "The URL must begin with http:// or https://.")
    if len(configuration.url) > LONGEST_URL:
        raise ConfigurationRefused("url", f"At most {LONGEST_URL:,} characters.")
    if configuration.batches and not base_of(configuration.url):
        message = f"To send batches, the URL must end with {CHAT}."
        raise ConfigurationRefused("url", message)


def _check_secret_header(name: str) -> None:
    if name and (not _HEADER_NAME.fullmatch(name) or name.lower() in RESERVED_HEADERS):
        raise ConfigurationRefused("secret_header", "Not the name of a header that can be sent.")


def _check_parameters(parameters: Mapping[str, Json]) -> None:
    try:
        text = json.dumps(parameters, allow_nan=False)
    except ValueError as error:
        raise ConfigurationRefused("parameters", f"Not JSON: {error}") from error
    if len(text) > LONGEST_PARAMETERS:
        raise ConfigurationRefused("parameters", f"At most {LONGEST_PARAMETERS:,} characters.")
    own = RESERVED & parameters.keys()
    if own:
        raise ConfigurationRefused("parameters", f"{min(own)} is set by Touchstone.")
