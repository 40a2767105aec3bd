"""What is planted among the pairs that somebody is given: how much, which, and where.

An annotator must not be able to tell: so nothing here follows a rhythm, and every place is one
that the annotator's own order gives. Who is given what is a function of the campaign's seed, the
annotator, and how much they were given so far.
"""

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol


class Given(NamedTuple):
    """How much somebody was given so far: plain pairs, and what was planted among them."""

    plain: int
    planted: int


class Unit(NamedTuple):
    """What is planted together: one pair, or all pairs of a query."""

    name: int
    pairs: tuple[int, ...]


class Dice(Protocol):
    """A number from 0 up to 1 for a name; the same name gives the same number."""

    def __call__(self, name: object) -> float: ...


def seeded(*words: object) -> Dice:
    """Dice that follow from these words."""
    salt = hashlib.blake2b(repr(words).encode(), digest_size=32).digest()

    def throw(name: object) -> float:
        digest = hashlib.blake2b(repr(name).encode(), digest_size=7, key=salt).digest()
        return int.from_bytes(digest, "little") / 2**56

    return throw


def deficit(given: Given, *, percent: int, others: int = 0) -> float:
    """How much more is to be planted, so that it is `percent` of all that was given.

    others: the percent that is planted besides.
    """
    plain_percent = 100 - percent - others
    return max(0.0, given.plain * percent / plain_percent - given.planted)


def draw(units: Iterable[Unit], *, wanted: float, dice: Dice) -> list[int]:
    """The pairs of some of the units: `wanted` of them on average, where there are so many.

    Whether there is one more for a rest below a whole unit, the dice decide, once: so it is not
    every so-and-so-many-th pair that is planted.
    """
    drawn: list[int] = []
    for unit in sorted(units, key=lambda unit: dice(("which", unit.name))):
        size = len(unit.pairs)
        if wanted < size and dice("rest") >= wanted / size:
            break
        drawn += unit.pairs
        wanted -= size
        if wanted <= 0:
            break
    return drawn


def beside(
    stream: Sequence[int],
    queries: Sequence[int],
    *,
    taken: Sequence[int],
    gold: Container[int],
    whole: Mapping[int, tuple[int, ...]],
    query_by_query: bool,
) -> list[Unit]:
    """The gold that stands beside the pairs just taken, in the annotator's order.

    Each gold pair belongs to one plain pair: the next one, or, query by query, the next one of
    its query, else the last one of it. So it is met where the order has it, and nobody meets a
    query of which there is nothing but gold, unless the whole query is.

    stream, queries: all pairs in their order, and their queries. taken: some plain pairs, in
    order. gold: the pairs that are gold. whole: the pairs of queries that are gold as a whole;
    query by query they stay together, before the next plain pair.
    """
    if not taken:
        return []
    wanted, start, last = set(taken), stream.index(taken[0]), stream.index(taken[-1])
    while start and stream[start - 1] in gold:
        start -= 1
    units: dict[Unit, None] = {}  # in order, each once
    for at, before, after in _between(stream, gold, start, last):
        together = whole.get(queries[at]) if query_by_query else None
        stays = query_by_query and not together
        ends = after < 0 or (stays and queries[after] != queries[at])
        if stream[before if ends else after] in wanted:
            own = together or (stream[at],)
            units[Unit(min(own), own)] = None
    return list(units)


def _between(
    stream: Sequence[int], gold: Container[int], start: int, last: int
) -> Iterator[tuple[int, int, int]]:
    """The gold from one place to the plain pair that follows another: where it is, and where the
    plain pairs before and after it are (-1: behind the last of all there is none)."""
    before, waiting = -1, list[int]()
    for place in range(start, len(stream)):
        if stream[place] in gold:
            waiting.append(place)
            continue
        yield from ((at, before, place) for at in waiting)
        if before == last:
            return
        before = place
        waiting.clear()
    yield from ((at, before, -1) for at in waiting)
