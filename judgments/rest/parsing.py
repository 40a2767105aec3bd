"""Request bodies and query strings, bounded before anything is made of them."""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import IO, Any

from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.serializers import Serializer

MAX_BYTES = 2 * 1024 * 1024
MAX_DEPTH = 20
# possessive, and content with a string that never ends: no text makes it look twice at a place
STRINGS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
BRACKETS = re.compile(r"[\[\]{}]")
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class BoundedJSONParser(BaseParser):
    """JSON of bounded size and depth, without NUL, lone surrogates or numbers beyond finite.

    Stock parsers let these through to the database, which answers them with errors of its own.
    """

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The parsed value; ParseError (400) names what was wrong."""
        data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ParseError(f"The body is larger than {MAX_BYTES} bytes.")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ParseError(f"The body is not UTF-8 (byte {error.start}).") from None
        check_depth(text)
        try:
            value = json.loads(
                text,
                parse_constant=_refuse_constant,
                parse_float=_finite,
                object_pairs_hook=_without_repeats,
            )
        except ValueError as error:
            raise ParseError(f"The body is not JSON: {error}.") from None
        check_text(value)
        return value


def check_depth(text: str) -> None:
    """Refuse JSON nested more than MAX_DEPTH levels, before a parser recurses into it."""
    depth = 0
    for bracket in BRACKETS.findall(STRINGS.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            raise ParseError(f"The body is nested more than {MAX_DEPTH} levels deep.")


def check_text(value: Any) -> None:
    """Refuse what no database column takes: NUL and lone surrogates, anywhere in the value."""
    if isinstance(value, str):
        if UNSTORABLE.search(value):
            raise ParseError("The body contains a NUL or an unpaired surrogate.")
    elif isinstance(value, dict):
        for name, inner in value.items():
            check_text(name)
            check_text(inner)
    elif isinstance(value, list):
        for inner in value:
            check_text(inner)


def check_parameters(request: Request, *known: str) -> None:
    """Refuse (400) query parameters that no one asked for, so a typing error is not ignored."""
    given = request.query_params
    unknown = sorted(set(given) - set(known))
    if unknown:
        names = ", ".join(known) or "none"
        raise ValidationError(dict.fromkeys(unknown, f"Unknown parameter; known: {names}."))
    twice = [name for name in given if len(given.getlist(name)) > 1]
    if twice:
        raise ValidationError(dict.fromkeys(twice, "Given more than once."))
    check_text(given.dict())


def read_parameters(request: Request, form: type[Serializer[Any]]) -> dict[str, Any]:
    """The query string as `form` reads it; ValidationError (400) for anything else in it."""
    check_parameters(request, *form().fields)
    return read_input(form, request.query_params.dict())


def read_input(form: type[Serializer[Any]], data: Any) -> dict[str, Any]:
    """A body as `form` reads it; ValidationError (400) names what is wrong or not known."""
    check_fields(form, data)
    return dict(_reader(form).run_validation(data))


def check_fields(form: type[Serializer[Any]], data: Any) -> None:
    """Refuse (400) a body that is no object, or that has a field which `form` does not know."""
    if not isinstance(data, Mapping):
        raise ValidationError({"body": "The body must be a JSON object."})
    unknown = sorted(data.keys() - _known_fields(form))
    if unknown:
        raise ValidationError(dict.fromkeys(unknown, "Unknown field."))


@cache
def _reader(form: type[Serializer[Any]]) -> Serializer[Any]:
    """One for all requests: reading leaves nothing in it, and making its fields takes long."""
    return form()


@cache
def _known_fields(form: type[Serializer[Any]]) -> frozenset[str]:
    return frozenset(_reader(form).fields)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in result if names.count(name) > 1)
        raise ValueError(f"{json.dumps(twice)} occurs twice")
    return result


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not allowed")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{digits} is too large")
    return number
