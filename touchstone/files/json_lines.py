"""One JSON object from one line of text, with nothing in it that a database would choke on."""

import json
import math
import re
from collections.abc import Iterator
from typing import Final, Never

from touchstone.files.errors import Rule, quoted

Json = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

MAX_DEPTH: Final = 20
MAX_INTEGER: Final = 2**63 - 1
MAX_INTEGER_DIGITS: Final = 20

_STRING_OR_BRACKET: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


class JsonRefusedError(Exception):
    """The line is not taken. rule, message, column: as in a FileProblem."""

    def __init__(self, rule: Rule, message: str, column: int | None = None) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.column = column


def json_object(text: str) -> dict[str, Json]:
    """The object that this text is.

    Raises JsonRefusedError for anything else, and for a key that appears twice, more than 20
    levels, a number that is not finite or an integer beyond 64 bits, a NUL character, and half a
    surrogate pair.
    """
    _check_depth(text)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise JsonRefusedError(Rule.JSON, f"not JSON: {error.msg}.", error.pos + 1) from error
    if not isinstance(value, dict):
        raise JsonRefusedError(Rule.JSON, "not a JSON object, which begins with {.")
    if "\\u" in text:  # no other way leads to these characters
        for string in _strings(value):
            _check_characters(string)
    return value


def json_scalar(text: str) -> Json:
    """The string, number, boolean or null that this token is.

    Raises JsonRefusedError as `json_object` does.
    """
    try:
        value: Json = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise JsonRefusedError(Rule.JSON, f"not JSON: {error.msg}.") from error
    if isinstance(value, str) and "\\u" in text:
        _check_characters(value)
    return value


def _check_depth(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for result in _STRING_OR_BRACKET.finditer(text):
        sign = result.group()
        if sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
        if depth > MAX_DEPTH:
            message = f"nested more than {MAX_DEPTH} levels deep."
            raise JsonRefusedError(Rule.DEPTH, message, result.start() + 1)


def _check_characters(string: str) -> None:
    if "\x00" in string:
        raise JsonRefusedError(Rule.NUL, "a NUL character, written as \\u0000.")
    try:
        string.encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(string[error.start])
        message = f"half a surrogate pair, written as \\u{code:04x}."
        raise JsonRefusedError(Rule.SURROGATE, message) from error


def _strings(value: Json) -> Iterator[str]:
    """All strings in a value, keys too; without recursion."""
    left: list[Json] = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            left.extend(item)
        elif isinstance(item, dict):
            yield from item
            left.extend(item.values())


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result: dict[str, Json] = {}
    for key, value in pairs:
        if key in result:
            raise JsonRefusedError(Rule.KEY, f"the key {quoted(key)} appears twice.")
        result[key] = value
    return result


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JsonRefusedError(Rule.NUMBER, f"{quoted(text)} is too large for a number.")
    return number


def _integer(text: str) -> int:
    if len(text) <= MAX_INTEGER_DIGITS:
        number = int(text)
        if abs(number) <= MAX_INTEGER:
            return number
    raise JsonRefusedError(Rule.NUMBER, f"the integer {quoted(text)} needs more than 64 bits.")


def _constant(text: str) -> Never:
    raise JsonRefusedError(Rule.NUMBER, f"{text} is not a finite number.")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_float, parse_int=_integer, parse_constant=_constant
)
