"""What several people's grades of one pair come to.

A scale's codes are names in an order: the rules count steps along it, so that they mean the same
on 0..4, on -2..4 and on codes with gaps.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

Rule = Callable[[Sequence[int], Sequence[int]], int | None]


def votes(grades: Sequence[int], codes: Sequence[int]) -> dict[int, int]:
    """How many gave each grade, worst grade first; grades that no one gave are left out.

    grades: codes of the scale, at least one. codes: the scale's, worst first.
    Raises ValueError for no grade, or for one that is not on the scale.
    """
    if not grades:
        raise ValueError("the pair has no grades")
    counts = Counter(grades)
    unknown = counts.keys() - set(codes)
    if unknown:
        raise ValueError(f"not on the scale: {sorted(unknown)}")
    return {code: counts[code] for code in codes if counts[code]}


def majority(grades: Sequence[int], codes: Sequence[int]) -> int | None:
    """The grade that more people gave than any other; None where several share that place.

    A tie has no winner here: it needs adjudication, with a reason.
    """
    counts = votes(grades, codes)
    most = max(counts.values())
    winners = [code for code, count in counts.items() if count == most]
    return winners[0] if len(winners) == 1 else None


def median(grades: Sequence[int], codes: Sequence[int]) -> int:
    """The grade in the middle; between two middle ones half-way, a half step rounded up."""
    steps = _steps(grades, codes)
    low, high = steps[(len(steps) - 1) // 2], steps[len(steps) // 2]
    return codes[(low + high + 1) // 2]


def mean(grades: Sequence[int], codes: Sequence[int]) -> int:
    """The average grade, counted in steps of the scale, a half step rounded up."""
    steps = _steps(grades, codes)
    return codes[(2 * sum(steps) + len(steps)) // (2 * len(steps))]


RULES: Mapping[str, Rule] = MappingProxyType(
    {"majority": majority, "median": median, "mean": mean},
)


def _steps(grades: Sequence[int], codes: Sequence[int]) -> list[int]:
    place = {code: step for step, code in enumerate(codes)}
    return sorted(place[code] for code, count in votes(grades, codes).items() for _ in range(count))
