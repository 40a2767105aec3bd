"""Which positions of a query show an annotator a gold pair, and which pair each.

A function of the campaign's secret, the person and the query: no one without the secret can tell,
and it does not depend on what the person does. Nothing follows a rhythm.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Place(NamedTuple):
    """A pair of a query. is_known: the person has had a seat at it before."""

    pair: int
    is_gold: bool
    is_known: bool


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


def list_replaceable(places: Sequence[Place]) -> list[int]:
    """The plain pairs in whose place another may be shown, in the order given."""
    return [place.pair for place in places if not place.is_gold and not place.is_known]


def draw_gold(places: Sequence[Place], *, percent: int, dice: Dice) -> dict[int, int]:
    """The plain pairs to replace, each with the gold pair to show in its place.

    `percent` of the plain pairs on average, rounded up or down by the dice; fewer where the query
    has less gold that the person has not met.
    """
    plain = list_replaceable(places)
    gold = [place.pair for place in places if place.is_gold and not place.is_known]
    wanted = draw_count(len(plain), percent=percent, rest=dice("gold rest"))
    replaced = sorted(plain, key=lambda pair: dice(("place", pair)))[:wanted]
    shown = sorted(gold, key=lambda pair: dice(("gold", pair)))
    return dict(zip(replaced, shown, strict=False))


def draw_count(places: int, *, percent: int, rest: float) -> int:
    """A whole number that is `percent` of the places on average. rest: random, from 0 up to 1."""
    return int(places * percent / 100 + rest)
