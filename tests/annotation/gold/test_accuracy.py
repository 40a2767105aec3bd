"""How near someone comes to known answers."""

import random
from collections import Counter
from collections.abc import Callable

import pytest

from annotation.gold.accuracy import accuracy, error_of
from annotation.gold.action_rules import Rule, broken, due_actions

CODES = (-2, 0, 1, 2, 4)


@pytest.mark.parametrize(("grade", "error"), [(-2, -2), (0, -1), (1, 0), (2, 0), (4, 1)], ids=str)
def test_an_error_is_counted_in_steps_beyond_the_range(grade: int, error: int) -> None:
    assert error_of(grade, low=1, high=2, codes=CODES) == error


def test_accuracy_says_how_often_how_nearly_and_on_which_side() -> None:
    found = accuracy([0, 0, 0, 1, 1, -1, 2, 0])
    assert found is not None
    assert (found.checks, found.exact, found.within_one) == (8, 4, 7)
    assert (found.exact_share, found.within_one_share) == (0.5, 0.875)
    assert found.mean_error == 0.375
    # Wilson 1927 for 4 of 8
    assert found.exact_interval == pytest.approx((0.2152, 0.7848), abs=1e-4)


def test_without_a_check_there_is_no_accuracy() -> None:
    assert accuracy([]) is None


RULES = [Rule("tell", 75, 8), Rule("warn", 75, 8), Rule("pause", 65, 8), Rule("requeue", 50, 8)]
SEEDS = range(200)


def careful(dice: random.Random, gold: int) -> int:
    """Right in 85 of 100 cases, else a step beside it."""
    near = [grade for grade in (gold - 1, gold + 1) if grade in range(5)]
    return gold if dice.random() < 0.85 else dice.choice(near)


def spammer(dice: random.Random, gold: int) -> int:
    return 2


def acted(person: Callable[[random.Random, int], int], seed: int, *, checks: int) -> dict[str, int]:
    """After how many checks each rule first acted on someone."""
    dice, first, errors = random.Random(seed), dict[str, int](), list[int]()
    for count in range(1, checks + 1):
        gold = dice.randrange(5)
        grade = person(dice, gold)
        errors.append(error_of(grade, low=gold, high=gold, codes=range(5)))
        for rule, _ in due_actions(RULES, dict.fromkeys((r.action for r in RULES), errors)):
            first.setdefault(rule.action, count)
    return first


def test_fewer_than_five_in_a_hundred_careful_people_ever_meet_a_rule() -> None:
    alarms = Counter(action for seed in SEEDS for action in acted(careful, seed, checks=100))
    assert all(count < 0.05 * len(SEEDS) for count in alarms.values())


def test_somebody_who_always_says_the_same_is_paused_within_twenty_checks() -> None:
    paused = [acted(spammer, seed, checks=20).get("pause") for seed in SEEDS]
    assert sum(count is not None for count in paused) >= 0.98 * len(SEEDS)


def test_a_rule_waits_for_enough_checks_and_looks_at_the_newest() -> None:
    rule = Rule("pause", 65, 8)
    assert broken(rule, [4] * 7) is None
    assert broken(rule, [4] * 8) is not None
    assert broken(rule, [4] * 30 + [0] * 20) is None
    assert broken(rule, [0] * 30 + [4] * 20) is not None
