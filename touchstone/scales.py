"""Grade scales: which codes a judgment may have, what they are called and what they are worth.

A code is what is stored, labelled and written to qrels: a whole number that fits into one
signed byte. Its value is what measures count with: the code itself on a plain scale, any number
where a grade means a share or a time (0.9, 4.5 seconds).
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

from touchstone.errors import DomainError
from touchstone.files.numbers import NUMBER

LEAST_CODE: Final = -128
GREATEST_CODE: Final = 127
MAX_NAME_CHARACTERS: Final = 60
DEFAULT_NAMES: Final = (
    "Irrelevant",
    "Related",
    "Partly relevant",
    "Highly relevant",
    "Perfect",
)

_RANGE: Final = re.compile(r"(-?[0-9]{1,3})\.\.(-?[0-9]{1,3})")
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,3}")
_NUMBER: Final = re.compile(NUMBER)


class ScaleRefused(DomainError):
    """An invalid scale; the message is a sentence for the user."""

    def __init__(self, message: str) -> None:
        super().__init__("scale_refused", message)


@dataclass(frozen=True, slots=True)
class Grade:
    """One step of a scale."""

    code: int
    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Scale:
    """The grades of a list, worst first: at least two, codes rising, values never falling."""

    grades: tuple[Grade, ...]

    def __post_init__(self) -> None:
        if len(self.grades) < 2:
            raise ScaleRefused("A scale needs at least two grades.")
        for grade in self.grades:
            _check_grade(grade)
        for worse, better in zip(self.grades, self.grades[1:], strict=False):
            if worse.code >= better.code or worse.value > better.value:
                raise ScaleRefused(
                    f"Grades go from the worst to the best: {better.code} ({better.value:g}) "
                    f"can't follow {worse.code} ({worse.value:g})."
                )
        names = [grade.name.casefold() for grade in self.grades]
        if len(set(names)) < len(names):
            raise ScaleRefused("Every grade needs a name of its own.")

    @classmethod
    def default(cls) -> Self:
        """0 to 4, from irrelevant to perfect."""
        return cls._of_codes(range(5), DEFAULT_NAMES)

    @classmethod
    def parse(cls, text: str) -> Self:
        """A scale from a short text.

        "0..4" and "-2..4" are the whole numbers from the first to the last, "0,1,3" are these
        whole numbers. "0,0.5,0.9" are values: the codes are then 0, 1, 2 from the smallest on.
        "0..4" has the names of the default scale, others are named by their number.
        Raises ScaleRefused for anything else.
        """
        text = text.strip()
        whole = _RANGE.fullmatch(text)
        if whole:
            first, last = int(whole[1]), int(whole[2])
            codes = range(first, last + 1)
            named = codes == range(5)
            return cls._of_codes(codes, DEFAULT_NAMES if named else map(str, codes))
        words = [word.strip() for word in text.split(",")]
        if all(_INTEGER.fullmatch(word) for word in words):
            numbers = sorted(int(word) for word in words)
            return cls._of_codes(numbers, map(str, numbers))
        if not all(_NUMBER.fullmatch(word) for word in words):
            raise ScaleRefused(
                f"A scale is written like 0..4, 0,1,3 or 0,0.5,0.9; not like {text!r}."
            )
        values = sorted(float(word) for word in words)
        return cls(
            tuple(Grade(i, repr(value).removesuffix(".0"), value) for i, value in enumerate(values))
        )

    @classmethod
    def from_json(cls, data: object) -> Self:
        """The scale that `to_json` gave. Raises ScaleRefused for anything else."""
        if not isinstance(data, list):
            raise ScaleRefused("A scale is a list of grades.")
        return cls(tuple(_grade_from_json(item) for item in data))

    def to_json(self) -> list[dict[str, object]]:
        """The grades as plain values, worst first."""
        return [{"code": g.code, "name": g.name, "value": g.value} for g in self.grades]

    def contains(self, code: int) -> bool:
        """Whether this code is one of the scale's."""
        return any(grade.code == code for grade in self.grades)

    @property
    def codes(self) -> tuple[int, ...]:
        """The codes, worst first."""
        return tuple(grade.code for grade in self.grades)

    def grade(self, code: int) -> Grade:
        """The grade with this code. Raises KeyError if there is none."""
        for grade in self.grades:
            if grade.code == code:
                return grade
        raise KeyError(code)

    def __str__(self) -> str:
        """What `parse` reads, where the scale is one that it can give; else its values."""
        codes = self.codes
        if any(grade.value != grade.code for grade in self.grades):
            return ",".join(repr(grade.value) for grade in self.grades)
        if codes == tuple(range(codes[0], codes[-1] + 1)):
            return f"{codes[0]}..{codes[-1]}"
        return ",".join(map(str, codes))

    @classmethod
    def _of_codes(cls, codes: Iterable[int], names: Iterable[str]) -> Self:
        pairs = zip(codes, names, strict=True)
        return cls(tuple(Grade(code, name, float(code)) for code, name in pairs))


def _check_grade(grade: Grade) -> None:
    if not LEAST_CODE <= grade.code <= GREATEST_CODE:
        raise ScaleRefused(
            f"A grade's code lies between {LEAST_CODE} and {GREATEST_CODE}; {grade.code} does not."
        )
    if not math.isfinite(grade.value):
        raise ScaleRefused(f"The value of grade {grade.code} is not a finite number.")
    if not grade.name.strip() or not grade.name.isprintable():
        raise ScaleRefused(f"Grade {grade.code} needs a name that can be read.")
    if len(grade.name) > MAX_NAME_CHARACTERS:
        raise ScaleRefused(f"A grade's name has at most {MAX_NAME_CHARACTERS} characters.")


def _grade_from_json(item: object) -> Grade:
    match item:
        case {"code": bool()} | {"value": bool()}:
            pass
        case {"code": int(code), "name": str(name), "value": int() | float() as value, **rest}:
            if not rest:
                return Grade(code, name, _as_float(value))
    raise ScaleRefused("A grade has a code (a whole number), a name and a value (a number).")


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise ScaleRefused("The value of a grade is not a finite number.") from error
