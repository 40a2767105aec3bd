"""A JSON document whose every value knows its line, so that what is wrong can be pointed at."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.json_lines import MAX_DEPTH, JsonRefusedError, json_scalar
from touchstone.files.reading import MB, Limits, Progress, Source, read_lines

# a document may be one line, and every value of it takes some hundred bytes
LIMITS: Final = Limits(expanded=32 * MB, line=32 * MB)

_TOKEN: Final = re.compile(
    r'[ \t\r\n]*+(?:([\[\]{}:,])|("(?:[^"\\]++|\\.)*+")|([^\s\[\]{}:,"]++)|(\Z)|(.))', re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Located:
    """A value and the line it begins on; what is in a list or an object is located too."""

    line: int
    value: "bool | int | float | str | list[Located] | dict[str, Located] | None"

    def get(self, key: str) -> "Located | None":
        """What an object has under a key; None where it has nothing, or is none."""
        return self.value.get(key) if isinstance(self.value, dict) else None

    def items(self, key: str) -> "list[Located] | None":
        """The list that an object has under a key; None where there is none."""
        result = self.get(key)
        return result.value if result is not None and isinstance(result.value, list) else None


def read_document(source: Source, problems: Problems, progress: Progress | None) -> Located:
    """The document of a file.

    Raises FileRefused for what is not JSON, for a key that appears twice, for more than 20
    levels, and for numbers and strings that no database takes.
    """
    lines = read_lines(source, limits=LIMITS, problems=problems, progress=progress)
    text = "\n".join(line for _, line in lines)
    problems.raise_if_any()
    parser = _Parser(text)
    try:
        return parser.document()
    except JsonRefusedError as refused:
        raise problems.stop(parser.line, refused.rule, refused.message) from refused


class _Parser:
    """Walks the tokens of a text. line: of the token that was looked at last."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.line = 1
        self.breaks = [result.start() for result in re.finditer("\n", text)]

    def document(self) -> Located:
        value = self.value(self.token(), 1)
        if self.token():
            raise JsonRefusedError(Rule.JSON, "not JSON: extra data after the document.")
        return value

    def token(self) -> str:
        """The next token; "" at the end."""
        result = _TOKEN.match(self.text, self.place)
        if result is None or result[5]:
            start = self.place if result is None else result.start(5)
            self.line = bisect_right(self.breaks, start) + 1
            raise JsonRefusedError(Rule.JSON, "not JSON: an unterminated string.")
        self.place = result.end()
        self.line = bisect_right(self.breaks, result.start(result.lastindex or 0)) + 1
        return result[result.lastindex or 0]

    def value(self, sign: str, depth: int) -> Located:
        line = self.line
        if sign in ("{", "[") and depth > MAX_DEPTH:
            raise JsonRefusedError(Rule.DEPTH, f"nested more than {MAX_DEPTH} levels deep.")
        if sign == "{":
            return Located(line, self.members(depth))
        if sign == "[":
            return Located(line, self.elements(depth))
        scalar = json_scalar(sign)
        # a token is never a list or an object
        assert not isinstance(scalar, list | dict)
        return Located(line, scalar)

    def members(self, depth: int) -> dict[str, Located]:
        result: dict[str, Located] = {}
        sign = self.token()
        while sign != "}":
            key = json_scalar(sign)
            if not isinstance(key, str):
                raise JsonRefusedError(Rule.JSON, "not JSON: a key that is not a string.")
            if key in result:
                raise JsonRefusedError(Rule.KEY, f"the key {quoted(key)} appears twice.")
            self.expect(":")
            result[key] = self.value(self.token(), depth + 1)
            sign = self.following("}")
        return result

    def elements(self, depth: int) -> list[Located]:
        result: list[Located] = []
        sign = self.token()
        while sign != "]":
            result.append(self.value(sign, depth + 1))
            sign = self.following("]")
        return result

    def following(self, end: str) -> str:
        """The end, or what comes behind a comma."""
        sign = self.token()
        if sign == end:
            return sign
        if sign != ",":
            raise JsonRefusedError(Rule.JSON, f"not JSON: a comma or {end} is missing.")
        sign = self.token()
        if sign == end:
            raise JsonRefusedError(Rule.JSON, f"not JSON: a comma before {end}.")
        return sign

    def expect(self, sign: str) -> None:
        if self.token() != sign:
            raise JsonRefusedError(Rule.JSON, f"not JSON: {sign} is missing.")
