"""Why two definitions give two numbers: how much of the difference each parameter makes.

Parameters are switched one after the other from the one definition to the other. What a parameter
makes depends on which were switched before it, so its effect is the mean over orders (all of them,
which is its Shapley value, or where that were too many, every rotation of the list and of its
reverse). So the effects add up to the difference.
"""

import math
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Final

from touchstone.measures.definition import PARAMETERS, Measure
from touchstone.measures.errors import MeasureError

Group = tuple[str, ...]

MOST_IN_ALL_ORDERS: Final = 6  # parameters: 720 orders of 64 definitions
# These say one thing together. `queries` is about the mean, not about the value of a query.
_TOGETHER: Final[tuple[Group, ...]] = (
    ("discount", "b"),
    ("ideal", "ideal_depth", "ideal_first", "top"),
    ("unjudged", "prior"),
    ("negatives", "negative_ideal"),
    ("decimals", "rounding", "rounded"),
)
_NOT_OF_THE_VALUE: Final = frozenset({"queries", "average"})


@dataclass(frozen=True)
class Switch:
    """What parameters that go together make of a difference.

    before, after: their values in the one definition and in the other. effect: what the switch
    adds to the value.
    """

    parameters: Group
    before: tuple[object, ...]
    after: tuple[object, ...]
    effect: float


@dataclass(frozen=True)
class Difference:
    """Two definitions of one measure, of one ranking.

    parts: the parameters that differ, those with the largest effect first; none where the two are
    no definitions of one family. orders: of switching them, over which each effect is the mean.
    """

    one: Measure
    other: Measure
    value: float
    other_value: float
    parts: tuple[Switch, ...]
    orders: int

    @property
    def is_every_order(self) -> bool:
        """Whether those are all the orders that there are."""
        return len(self.parts) <= MOST_IN_ALL_ORDERS

    @property
    def total(self) -> float:
        """What the parts add up to."""
        return self.other_value - self.value


def difference(one: Measure, other: Measure, value: Callable[[Measure], float]) -> Difference:
    """Takes the difference between two definitions apart.

    value: gives the value of any definition for the ranking in question; it is asked for each
    definition once.
    """
    values: dict[Measure, float] = {}

    def known(measure: Measure) -> float:
        if measure not in values:
            values[measure] = value(measure)
        return values[measure]

    if one.family != other.family:
        return Difference(one, other, known(one), known(other), (), 0)
    groups = _groups(one, other)
    effects = _effects(one, other, groups, known)
    parts = [
        Switch(
            group,
            tuple(getattr(one, parameter) for parameter in group),
            tuple(getattr(other, parameter) for parameter in group),
            effect,
        )
        for group, effect in zip(groups, effects, strict=True)
    ]
    parts.sort(key=lambda part: (-abs(part.effect), part.parameters))
    orders = sum(1 for _ in _orders(len(groups)))
    return Difference(one, other, known(one), known(other), tuple(parts), orders)


def _effects(
    one: Measure, other: Measure, groups: Sequence[Group], value: Callable[[Measure], float]
) -> list[float]:
    """The mean effect of switching each group, over the orders of switching."""
    steps: list[list[float]] = [[] for _ in groups]
    values: dict[frozenset[int], float] = {}  # orders are many more than sets of groups

    def value_with(switched: frozenset[int]) -> float:
        if switched not in values:
            values[switched] = value(_hybrid(one, other, groups, switched))
        return values[switched]

    for order in _orders(len(groups)):
        switched: frozenset[int] = frozenset()
        before = value_with(switched)
        for position in order:
            switched |= {position}
            after = value_with(switched)
            steps[position].append(after - before)
            before = after
    return [math.fsum(own) / len(own) for own in steps]


def _orders(n: int) -> Iterator[tuple[int, ...]]:
    if n <= MOST_IN_ALL_ORDERS:
        yield from permutations(range(n))
        return
    for positions in (tuple(range(n)), tuple(reversed(range(n)))):
        for start in range(n):
            yield positions[start:] + positions[:start]


def _groups(one: Measure, other: Measure) -> list[Group]:
    """The parameters that differ, each with those that it can't be switched without."""
    differ = {p for p in ("cutoff", *PARAMETERS) if getattr(one, p) != getattr(other, p)}
    differ -= _NOT_OF_THE_VALUE
    groups = [tuple(p for p in group if p in differ) for group in _TOGETHER]
    apart = differ.difference(*groups)
    groups = [group for group in groups if group]
    groups += [(parameter,) for parameter in ("cutoff", *PARAMETERS) if parameter in apart]
    while (pair := _inseparable(one, other, groups)) is not None:
        first, second = pair
        merged = groups[first] + groups[second]
        groups = [g for position, g in enumerate(groups) if position not in pair] + [merged]
    return groups


def _inseparable(one: Measure, other: Measure, groups: Sequence[Group]) -> tuple[int, int] | None:
    """Two groups of which one without the other makes no sense; None where all can stand alone."""
    positions = range(len(groups))
    for size in range(1, len(groups)):
        for chosen in combinations(positions, size):
            if _makes_sense(one, other, groups, set(chosen)):
                continue
            left = [position for position in positions if position not in chosen]
            for outside in left:
                if _makes_sense(one, other, groups, {*chosen, outside}):
                    return _culprit(one, other, groups, chosen), outside
            return _culprit(one, other, groups, chosen), left[0]
    return None


def _culprit(one: Measure, other: Measure, groups: Sequence[Group], chosen: tuple[int, ...]) -> int:
    """The group without which the others of a choice make sense; the first where none is it."""
    for position in chosen:
        if _makes_sense(one, other, groups, set(chosen) - {position}):
            return position
    return chosen[0]


def _makes_sense(one: Measure, other: Measure, groups: Sequence[Group], switched: Set[int]) -> bool:
    try:
        _hybrid(one, other, groups, switched)
    except MeasureError:
        return False
    return True


def _hybrid(one: Measure, other: Measure, groups: Sequence[Group], switched: Set[int]) -> Measure:
    """The one definition with these groups as in the other."""
    if len(switched) == len(groups):
        return other
    if not switched:
        return one
    changed = {p: getattr(other, p) for position in switched for p in groups[position]}
    return replace(one, **changed)
