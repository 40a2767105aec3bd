"""From an engine's answer to ranked documents, by JMESPath expressions.

JMESPath only selects: it runs no code and asks nothing else. Its specification: jmespath.org.
"""

import json
import math
from collections.abc import Callable
from collections.abc import Mapping as Mapped
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Final

import jmespath
from jmespath.exceptions import JMESPathError

from touchstone.errors import DomainError
from touchstone.files.ids import id_problem
from touchstone.files.json_lines import Json

LONGEST: Final = 500  # characters of an expression
# an expression that doubles what it selects, again and again, would fill memory
MOST_LISTS: Final = 4
_LISTS: Final = frozenset({"multi_select_list", "multi_select_dict", "flatten"})


class MappingRefused(DomainError):
    """An expression can't be used. field: which one."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__("mapping_invalid", message)
        self.field = field


class BadAnswer(DomainError):
    """The answer is not what the mapping describes."""

    def __init__(self, message: str) -> None:
        super().__init__("bad_answer", message)


@dataclass(frozen=True, kw_only=True)
class Mapping:
    """Expressions. rows: of the answer, gives the array of results, in order; all others but
    `partial` are of one of these, which may be an object or an array.

    score: empty where the order of the results alone counts. title, text, url: empty where none
    is taken. partial: of the answer; true where a part of the engine did not answer.
    """

    rows: str
    id: str
    score: str = ""
    title: str = ""
    text: str = ""
    url: str = ""
    partial: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A ranked document. score: None where the engine's order counts."""

    id: str
    score: float | None
    title: str = ""
    text: str = ""
    url: str = ""


@dataclass(frozen=True)
class MappedAnswer:
    """rows: at most as many as were asked for, in the engine's order."""

    rows: tuple[Row, ...]
    is_partial: bool


def check_mapping(mapping: Mapping) -> None:
    """Raises MappingRefused for an expression that is missing, too long or not JMESPath."""
    for field in fields(mapping):
        expression = getattr(mapping, field.name)
        if not expression:
            if field.name in ("rows", "id"):
                raise MappingRefused(field.name, "Enter an expression.")
            continue
        if len(expression) > LONGEST:
            raise MappingRefused(field.name, f"At most {LONGEST} characters.")
        try:
            parsed = jmespath.compile(expression).parsed
        except (JMESPathError, RecursionError) as error:
            raise MappingRefused(field.name, f"Not JMESPath: {_first_line(error)}") from error
        if _count_lists(parsed) > MOST_LISTS:
            raise MappingRefused(field.name, f"At most {MOST_LISTS} brackets that build arrays.")


def read_answer(body: bytes) -> Json:
    """The JSON of an answer.

    Raises BadAnswer for anything else, NaN and infinity included, which are no JSON.
    """
    try:
        answer: Json = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadAnswer(f"Not JSON: {_first_line(error)}") from error
    return answer


def map_answer(answer: Json, mapping: Mapping, *, depth: int) -> MappedAnswer:
    """The first `depth` results of an answer.

    Raises BadAnswer where there is no array of results, an id is missing, no id, or comes twice,
    or a score is no finite number.
    """
    rows = _search("rows", mapping.rows, answer)
    if not isinstance(rows, list):
        raise BadAnswer(f"“{mapping.rows}” selects {_kind(rows)}, not an array of results.")
    result: dict[str, Row] = {}
    for position, row in enumerate(rows[:depth], start=1):
        mapped = _row(row, mapping, position)
        if mapped.id in result:
            raise BadAnswer(f"Result {position} has the id {mapped.id!r} of an earlier result.")
        result[mapped.id] = mapped
    is_partial = bool(mapping.partial) and _search("partial", mapping.partial, answer) is True
    return MappedAnswer(tuple(result.values()), is_partial)


def _row(row: Json, mapping: Mapping, position: int) -> Row:
    raw = _search("id", mapping.id, row)
    if isinstance(raw, bool) or not isinstance(raw, str | int):
        raise BadAnswer(f"Result {position} has no id: “{mapping.id}” selects {_kind(raw)}.")
    doc_id = str(raw)
    problem = id_problem(doc_id)
    if problem:
        raise BadAnswer(f"The id of result {position} {problem}.")
    return Row(
        doc_id,
        _score(row, mapping, position) if mapping.score else None,
        *(_text(getattr(mapping, name), row) for name in ("title", "text", "url")),
    )


def _score(row: Json, mapping: Mapping, position: int) -> float:
    score = _search("score", mapping.score, row)
    if not isinstance(score, bool) and isinstance(score, int | float):
        try:
            if math.isfinite(number := float(score)):
                return number
        except OverflowError:
            pass
    raise BadAnswer(f"Result {position} has no score: “{mapping.score}” selects {_kind(score)}.")


def _text(expression: str, row: Json) -> str:
    """A text, or the texts of an array, one a line; "" for anything else."""
    value = _search("text", expression, row) if expression else None
    texts = value if isinstance(value, list) else [value]
    joined = "\n".join(text for text in texts if isinstance(text, str))
    return joined.replace("\0", "").encode("utf-8", "replace").decode()


def _search(field: str, expression: str, value: Json) -> Json:
    try:
        result: Json = _selector(expression)(value)
    except (JMESPathError, RecursionError, ArithmeticError, ValueError) as error:
        raise BadAnswer(f"“{expression}” ({field}) fails: {_first_line(error)}") from error
    return result


@lru_cache(maxsize=256)
def _selector(expression: str) -> Callable[[Json], Json]:
    """What selects. `a.b` alone is looked up without an interpreter, in a tenth of the time:
    a hundred results of a query make four hundred look-ups.
    """
    compiled = jmespath.compile(expression)
    names = _field_names(compiled.parsed)
    if names is None:
        search: Callable[[Json], Json] = compiled.search
        return search

    def look_up(value: Json) -> Json:
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    return look_up


def _field_names(node: dict[str, Any]) -> list[str] | None:
    """The names of an expression that is nothing but fields in fields."""
    if node["type"] == "field":
        return [node["value"]]
    if node["type"] != "subexpression":
        return None
    parts = [_field_names(child) for child in node["children"]]
    return None if None in parts else [name for part in parts if part for name in part]


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, Mapped):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return "a text" if isinstance(value, str) else "a number out of range"


def _count_lists(node: dict[str, Any]) -> int:
    own = int(node["type"] in _LISTS)
    # the children of a slice are numbers
    return own + sum(_count_lists(child) for child in node["children"] if isinstance(child, dict))


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0][:200] or type(error).__name__


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")
