"""Filling a request's template: in parsed JSON and in parts of a URL, never in text.

A variable is written `{{text}}`. In JSON, a string that is nothing but a variable becomes its value
(a number, an array); within a longer string it becomes text. In a URL its value is
percent-encoded, so that no value can end a part of it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from touchstone.errors import DomainError
from touchstone.files.json_lines import Json

NAMES: Final = ("text", "any_word", "id", "segment", "vector", "depth")

_VARIABLE: Final = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_WHOLE: Final = re.compile(rf"\A{_VARIABLE.pattern}\Z")
_BEFORE_PATH: Final = re.compile(r"\Ahttps?://[^/?#]*", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")
_DOTS: Final = frozenset({".", ".."})


class TemplateRefused(DomainError):
    """The template can't be filled."""


@dataclass(frozen=True)
class Variables:
    """What a query is put into a template as. depth: how many documents are wanted.

    any_word: the words of the text with | between them, without any other character: for query
    languages that a text could break, such as that of Redis. vector: None without one.
    """

    text: str
    id: str
    segment: str
    depth: int
    vector: tuple[float, ...] | None = None

    @property
    def any_word(self) -> str:
        words = _WORD.findall(self.text)
        if not words:
            raise _refused("The query’s text has no word.")
        return "|".join(words)

    def get(self, name: str) -> Json:
        """The value as JSON has it. Raises TemplateRefused where a query has none."""
        value = getattr(self, name)
        if name == "vector":
            if value is None:
                raise _refused("The query has no vector.")
            return list(value)
        return value  # type: ignore[no-any-return]


def used_variables(*, url: str, body: Json) -> set[str]:
    """The variables that a template uses.

    Raises TemplateRefused for an unknown name, and for a variable in a scheme, host, port or the
    name of a JSON field.
    """
    origin = _BEFORE_PATH.match(url)
    if origin and "{{" in origin.group():
        raise _refused("A variable can't be in the scheme, host or port of the URL.")
    names = _names(url)
    if "vector" in names:
        raise _refused("A vector can't be in the URL.")
    return names | _names_in(body)


def fill_url(url: str, variables: Variables) -> str:
    """The URL with each variable percent-encoded.

    Raises TemplateRefused where a value would make a part of the path `.` or `..`, which servers
    take for a folder.
    """
    head, mark, query = url.partition("?")
    parts = head.split("/")
    for position, part in enumerate(parts):
        parts[position] = _fill_part(part, variables)
        if parts[position] != part and unquote(parts[position]) in _DOTS:
            raise _refused(f"{unquote(parts[position])!r} can't be a part of a path.")
    return "/".join(parts) + mark + _fill_part(query, variables)


def fill_json(body: Json, variables: Variables) -> Json:
    """A copy of parsed JSON with the variables in its strings replaced."""
    if isinstance(body, str):
        whole = _WHOLE.match(body)
        if whole:
            return variables.get(whole.group(1))
        return _VARIABLE.sub(lambda found: str(variables.get(found.group(1))), body)
    if isinstance(body, Mapping):
        return {key: fill_json(value, variables) for key, value in body.items()}
    if isinstance(body, list):
        return [fill_json(value, variables) for value in body]
    return body


def _fill_part(part: str, variables: Variables) -> str:
    return _VARIABLE.sub(lambda found: quote(str(variables.get(found.group(1))), safe=""), part)


def _names_in(body: Json) -> set[str]:
    if isinstance(body, str):
        names = _names(body)
        if "vector" in names and not _WHOLE.match(body):
            raise _refused("A vector can't be a part of a text.")
        return names
    if isinstance(body, Mapping):
        if any("{{" in key for key in body):
            raise _refused("A variable can't be in the name of a JSON field.")
        return set().union(*map(_names_in, body.values()))
    if isinstance(body, list):
        return set().union(*map(_names_in, body))
    return set()


def _names(text: str) -> set[str]:
    names = {result.group(1) for result in _VARIABLE.finditer(text)}
    if "{{" in _VARIABLE.sub("", text):
        raise _refused("A {{ has no }}.")
    for name in sorted(names - set(NAMES)):
        raise _refused(f"Unknown variable {{{{{name}}}}}. Use {', '.join(NAMES)}.")
    return names


def _refused(message: str) -> TemplateRefused:
    return TemplateRefused("template_invalid", message)
