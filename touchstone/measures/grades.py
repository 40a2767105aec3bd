"""The grades of a scale, as the engine counts them: level 0 is unjudged, 1 the lowest grade."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

LevelArray = npt.NDArray[np.uint8]

UNJUDGED: Final = 0
MOST_GRADES: Final = 255
_SMALL: Final = 1 << 12  # span of codes for which there is a table


@dataclass(frozen=True)
class Grades:
    """The grade codes of a scale and what each is worth, ascending by value.

    Level i + 1 stands for codes[i]; level 0 for "not judged". Levels ascend with the value, so
    "at least this grade" is one comparison.
    """

    codes: tuple[int, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.codes) != len(self.values) or len(set(self.codes)) != len(self.codes):
            raise ValueError("every grade needs one value, and may be listed once")
        if not 1 <= len(self.codes) <= MOST_GRADES:
            raise ValueError(f"a scale has 1 to {MOST_GRADES} grades, not {len(self.codes)}")
        if not all(map(math.isfinite, self.values)):
            raise ValueError("the value of a grade must be a finite number")
        pairs = list(zip(self.values, self.codes, strict=True))
        if pairs != sorted(pairs):
            raise ValueError("grades must be listed from the lowest value to the highest")

    @classmethod
    def of(cls, values: Mapping[int, float]) -> "Grades":
        """Grades from {code: value}, in any order."""
        pairs = sorted((float(value), int(code)) for code, value in values.items())
        return cls(tuple(code for _, code in pairs), tuple(value for value, _ in pairs))

    @classmethod
    def integers(cls, codes: Iterable[int]) -> "Grades":
        """Grades that are worth what they say: `Grades.integers(range(5))` is 0-4."""
        return cls.of({code: float(code) for code in codes})

    def levels(self, codes: npt.NDArray[np.integer]) -> LevelArray:
        """The levels of an array of grade codes. Raises ValueError for a code not on the scale."""
        if codes.size == 0:
            return np.zeros(codes.shape, np.uint8)
        ascending, level_of = self._lookup
        if (span := int(ascending[-1] - ascending[0])) < _SMALL:
            table = np.zeros(span + 3, np.uint8)  # what is outside the scale is before and behind
            table[ascending - ascending[0] + 1] = level_of
            positions = np.subtract(codes, int(ascending[0]) - 1, dtype=np.intp)
            result: LevelArray = table.take(positions, mode="clip")
            if result.all():
                return result
        positions = np.minimum(np.searchsorted(ascending, codes), len(ascending) - 1)
        unknown = ascending[positions] != codes
        if unknown.any():
            raise ValueError(f"grade {int(codes[unknown].flat[0])} is not on the scale")
        return level_of[positions]

    def at_least(self, value: float) -> int:
        """The lowest level that is worth `value` or more; one above all levels if none is."""
        return 1 + sum(1 for own in self.values if own < value)

    def with_value(self, value: float) -> tuple["Grades", LevelArray]:
        """These grades and one of this value, which may be there already.

        Returns the grades, and an array that gives each level of these its level in those.
        Raises ValueError where there is no room for one more.
        """
        position = self.at_least(value) - 1
        if position < len(self.values) and self.values[position] == value:
            return self, np.arange(len(self.codes) + 1, dtype=np.uint8)
        codes, values = list(self.codes), list(self.values)
        codes.insert(position, max(codes) + 1)
        values.insert(position, value)
        levels = np.arange(len(self.codes) + 1)
        return Grades(tuple(codes), tuple(values)), (levels + (levels > position)).astype(np.uint8)

    @cached_property
    def _lookup(self) -> tuple[npt.NDArray[np.int64], LevelArray]:
        codes = np.array(self.codes, np.int64)
        order = np.argsort(codes)
        return codes[order], (order + 1).astype(np.uint8)
