"""Gold can't be told from other pairs: the short form of `python -m tests.leaks`."""

import random
from dataclasses import replace

import pytest

from tests.leaks.guess import guess
from tests.leaks.requests import Seen, make_scene, observe

TREES = 60


@pytest.mark.django_db
@pytest.mark.postgres  # which has no order of its own that would hide a missing one
def test_gold_is_not_told_from_other_pairs_by_anything_that_its_annotator_sees() -> None:
    campaign = make_scene(queries=11, documents=45, people=2, seed=7)
    seen = list(observe(campaign, seed=7))
    found = guess(seen, seed=7, trees=TREES)
    assert min(found.items) > 30
    assert not found.is_told, str(found)
    # and something that tells, if only a little, is found among what was really seen
    dice = random.Random(7)
    for leak in (_by_time, _by_size, _by_field):
        assert guess([leak(one, dice) for one in seen], seed=7, trees=TREES).is_told, leak.__name__


def _by_time(one: Seen, dice: random.Random) -> Seen:
    """Gold mostly takes longer."""
    seconds = dice.gauss(0.026 if one.is_gold else 0.017, 0.003)
    return replace(one, features=(*one.features, seconds))


def _by_size(one: Seen, dice: random.Random) -> Seen:
    """An unmarked flag makes the answer longer."""
    return replace(one, size=one.size + 1_000 * one.is_gold)


def _by_field(one: Seen, dice: random.Random) -> Seen:
    return replace(one, fields=(*one.fields, "pair.reason str")) if one.is_gold else one


@pytest.mark.parametrize("tells", [False, True])
def test_a_guess_tells_chance_from_a_leak(tells: bool) -> None:
    """Whatever the seed: no more than one of ten thousand runs may cry wolf."""
    for seed in range(2):
        dice = random.Random(seed)
        kinds = [dice.random() < 0.5 for _ in range(120)]
        made = [_made(item, kinds[item], tells, dice) for item in range(120) for _ in range(3)]
        assert guess(made, seed=seed, trees=20).is_told == tells


def _made(item: int, is_gold: bool, tells: bool, dice: random.Random) -> Seen:
    shift = 0.6 if tells and is_gold else 0.0
    numbers = [dice.random() + shift, *(dice.random() for _ in range(4))]
    return Seen(is_gold, item, 100 + item % 7, ("pair.text str",), tuple(numbers))
