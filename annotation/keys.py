"""Which key stands for which grade."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KEYS = "1234567890"


@dataclass(frozen=True)
class KeyedGrade:
    """A grade as a button: its key, its place on the scale (0 is worst), what it means."""

    code: int
    key: str
    position: int
    name: str
    definition: str
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...]


def keyed_grades(grades: Sequence[Mapping[str, Any]]) -> tuple[KeyedGrade, ...]:
    """The grades of a guideline, worst first, each with its key.

    Grades that are digits are their own keys; on other scales (-2..4, more than ten grades) the
    keys count from 1 at the worst grade, and grades beyond the tenth have none.
    """
    digits = all(0 <= grade["code"] <= 9 for grade in grades)
    keys = [str(grade["code"]) for grade in grades] if digits else KEYS.ljust(len(grades))
    return tuple(
        KeyedGrade(
            code=grade["code"],
            key=key.strip(),
            position=position,
            name=grade["name"],
            definition=grade["definition"],
            examples=tuple(grade["examples"]),
            counter_examples=tuple(grade["counter_examples"]),
        )
        for position, (grade, key) in enumerate(zip(grades, keys, strict=False))
    )
