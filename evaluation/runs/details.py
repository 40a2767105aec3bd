"""What an uploader says of how a run was made: its parameters, commit and tags."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from evaluation.runs.tags import parse_tags
from touchstone.errors import DomainError
from touchstone.files.json_lines import Json, JsonRefusedError, json_object

MOST_PARAMETERS: Final = 100
LONGEST_TEXT: Final = 10_000  # characters of all parameters as JSON
LONGEST_KEY: Final = 100
LONGEST_VALUE: Final = 500
LONGEST_COMMIT: Final = 100

Scalar = str | int | float | bool | None


class DetailsRefused(DomainError):
    """What is said of a run is not of the form that can be kept."""


@dataclass(frozen=True)
class RunDetails:
    """parameters: names and scalars. commit: of the code that made the run; "" where unknown."""

    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    commit: str = ""
    tags: Sequence[str] = ()


def parse_details(*, parameters: str = "", commit: str = "", tags: str = "") -> RunDetails:
    """What texts say of a run.

    parameters: a JSON object of scalars. tags: with commas or blanks between.
    Raises DetailsRefused or TagsRefused for anything else.
    """
    return RunDetails(parse_parameters(parameters), parse_commit(commit), parse_tags(tags))


def parse_parameters(text: str) -> dict[str, Scalar]:
    """A JSON object of texts, finite numbers, booleans and null; "" is an empty one."""
    if not text.strip():
        return {}
    if len(text) > LONGEST_TEXT:
        raise _refused(f"more than {LONGEST_TEXT:,} characters")
    try:
        result = json_object(text)
    except JsonRefusedError as error:
        raise _refused(error.message.rstrip(".")) from None
    if len(result) > MOST_PARAMETERS:
        raise _refused(f"more than {MOST_PARAMETERS}")
    return {key: _scalar(key, value) for key, value in result.items()}


def parse_commit(text: str) -> str:
    """A commit: one short line."""
    commit = text.strip()
    if len(commit) > LONGEST_COMMIT or not commit.isprintable():
        message = f"The commit must have at most {LONGEST_COMMIT} visible characters."
        raise DetailsRefused("commit_invalid", message)
    return commit


def _scalar(key: str, value: Json) -> Scalar:
    shown = key[:60] if key.isprintable() else "a name"
    if not key.strip() or len(key) > LONGEST_KEY or not key.isprintable():
        raise _refused(f"a name must have 1 to {LONGEST_KEY} visible characters")
    if not isinstance(value, str | int | float | bool | None):
        raise _refused(f"{shown} is not a text, number, boolean or null")
    if isinstance(value, str) and (len(value) > LONGEST_VALUE or not value.isprintable()):
        raise _refused(f"{shown} must have at most {LONGEST_VALUE} visible characters")
    return value


def _refused(why: str) -> DetailsRefused:
    message = f'Parameters are a JSON object such as {{"k1": 0.9, "model": "bm25"}}: {why}.'
    return DetailsRefused("parameters_invalid", message)
