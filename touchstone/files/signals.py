"""What a signal means as a grade: letters, names of levels, or numbers from a lower bound on.

`E=3, S=2, C=1, I=0` gives each word its grade. `>=60=3, >=10=1, >=0=0` gives a number the grade of
the greatest bound that it reaches: seconds watched, or the share of a film.
"""

import math
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Self, TypeVar

from touchstone.errors import DomainError
from touchstone.files.errors import Rule, quoted
from touchstone.files.numbers import NUMBER
from touchstone.scales import Scale

BOUND: Final = ">="
MOST_STEPS: Final = 100
MOST_CHARACTERS: Final = 2000
LONGEST_WORD: Final = 100

Key = TypeVar("Key", str, float)

_NUMBER: Final = re.compile(NUMBER)
_GRADE: Final = re.compile(r"[+-]?[0-9]{1,3}")


class SignalsRefused(DomainError):
    """An invalid mapping of signals; the message is a sentence for the user."""

    def __init__(self, message: str) -> None:
        super().__init__("signals_refused", message)


class SignalRefusedError(Exception):
    """A signal has no grade. rule, message: as in a FileProblem."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message


@dataclass(frozen=True, slots=True)
class Signals:
    """words: the grade of each word. bounds: (least number, grade), the greatest number first.

    One of the two is empty. numbers: the grades of those words that are numbers, since tools write
    the same number in many ways (100, 100.000, 1e2).
    """

    words: dict[str, int]
    bounds: tuple[tuple[float, int], ...]
    numbers: dict[float, int]

    @classmethod
    def parse(cls, text: str, *, scale: Scale) -> Self | None:
        """The meaning that a text gives; None for an empty one.

        Raises SignalsRefused for what is not of the form, contradicts itself, or gives a grade
        that the scale does not have.
        """
        if len(text) > MOST_CHARACTERS:
            raise SignalsRefused(f"The mapping must have at most {MOST_CHARACTERS:,} characters.")
        steps = [step.strip() for step in re.split(r"[,;\n]", text) if step.strip()]
        if not steps:
            return None
        if len(steps) > MOST_STEPS:
            raise SignalsRefused(f"At most {MOST_STEPS} signals can have a grade.")
        words: dict[str, int] = {}
        bounds: dict[float, int] = {}
        numbers: dict[float, int] = {}
        for step in steps:
            signal, grade = _step(step, scale)
            if signal.startswith(BOUND):
                bound = _bound(signal)
                _put(bounds, bound, grade, step)
            else:
                _put(words, signal, grade, step)
                if (number := _number(signal)) is not None:
                    _put(numbers, number, grade, step)
        if words and bounds:
            raise SignalsRefused("Map either words (E=3) or number ranges (>=60=3), not both.")
        ordered = tuple(sorted(bounds.items(), reverse=True))
        _check_rising(ordered)
        return cls(words, ordered, numbers)

    def grade(self, signal: str) -> int:
        """The grade of a signal. Raises SignalRefusedError for one that has none."""
        text = signal.strip()
        if self.words:
            if text in self.words:
                return self.words[text]
            number = _number(text)
            if number in self.numbers:
                return self.numbers[number]
            known = ", ".join(list(self.words)[:10])
            message = f"{quoted(signal)} is not mapped to a grade; mapped: {known}."
            raise SignalRefusedError("signal", message)
        if not _NUMBER.fullmatch(text):
            raise SignalRefusedError(Rule.SCORE, f"the signal {quoted(signal)} is not a number.")
        number = _number(text)
        if number is None:
            message = f"the signal {quoted(signal)} is too large for a number."
            raise SignalRefusedError(Rule.NOT_FINITE, message)
        for bound, grade in self.bounds:
            if number >= bound:
                return grade
        message = f"{quoted(signal)} is below the lowest bound, {self.bounds[-1][0]:g}."
        raise SignalRefusedError("signal", message)

    def steps(self) -> list[tuple[str, int]]:
        """(signal, grade), as it was read."""
        if self.words:
            return list(self.words.items())
        return [(f"{BOUND}{bound!r}".removesuffix(".0"), grade) for bound, grade in self.bounds]


def _step(step: str, scale: Scale) -> tuple[str, int]:
    signal, sign, grade = step.rpartition("=")
    signal, grade = signal.strip(), grade.strip()
    if not sign or not signal or signal == ">" or not _GRADE.fullmatch(grade):
        raise SignalsRefused(f"Write E=3 or >=60=3, not {quoted(step)}.")
    if len(signal) > LONGEST_WORD or not signal.isprintable():
        raise SignalsRefused(f"A signal must be a word of at most {LONGEST_WORD} characters.")
    if not scale.contains(int(grade)):
        raise SignalsRefused(f"The scale {scale} has no grade {int(grade)}.")
    return signal, int(grade)


def _bound(signal: str) -> float:
    text = signal.removeprefix(BOUND).strip()
    number = _number(text)
    if number is None:
        raise SignalsRefused(f"A bound must be a number, not {quoted(text)}.")
    return number


def _number(text: str) -> float | None:
    """The finite number that a text is; None for any other text."""
    return float(text) if _NUMBER.fullmatch(text) and math.isfinite(float(text)) else None


def _put(into: dict[Key, int], key: Key, grade: int, step: str) -> None:
    if key in into:
        raise SignalsRefused(f"{quoted(step)} maps a value that is already mapped.")
    into[key] = grade


def _check_rising(bounds: tuple[tuple[float, int], ...]) -> None:
    """More of a signal can't be worse; then the bounds were mixed up."""
    for (high, better), (low, worse) in pairwise(bounds):
        if better < worse:
            raise SignalsRefused(
                f"Values from {high:g} can't have a lower grade than from {low:g}."
            )
