"""Gold can't be told by someone who tries: the short form of `python -m tests.leaks --active`."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from tests.leaks.active import KINDS, Kind, Verdict, attack
from tests.leaks.notes import compare_notes
from tests.leaks.sabotage import FOUND_P, SABOTAGES, find_sabotage
from tests.leaks.scoring import Score, Scored, Seen, measure, score

# The bounds are as much wider than the long form's. That form has campaigns with less gold, too:
# these take more labels for each gold pair, and a way that is open is open at every percent.
GOLD, PERCENTS = 20, (20,)  # what is put back is found with as much
IN_SHORT = "drawn_for_each_count"


def _list_attacks() -> Iterator[Any]:
    """Each kind of session in each order of a campaign; in the short form in one, by turns."""
    for number, kind in enumerate(KINDS):
        short = kind.orders[number // 2 % len(kind.orders)]
        for order in kind.orders:
            marks = [] if order == short else [pytest.mark.long]
            yield pytest.param(kind, order, marks=marks, id=f"{kind.drive.__name__}-{order}")


@pytest.mark.django_db
@pytest.mark.first_pass
@pytest.mark.parametrize(("kind", "order"), list(_list_attacks()))
def test_no_strategy_of_an_active_annotator_tells_gold_from_other_pairs(
    kind: Kind, order: str
) -> None:
    """What fails is tried once more on other campaigns: one strategy in 30 may fail by chance."""
    failing = _attack(strategies=kind.strategies, order=order, seed=1)
    if failing:
        again = [verdict.strategy for verdict in failing]
        failing = _attack(strategies=again, order=order, seed=2)
    assert not failing, "\n".join(map(str, failing))


def _attack(*, strategies: Sequence[str], order: str, seed: int) -> list[Verdict]:
    verdicts = attack(
        gold=GOLD, seed=seed, strategies=strategies, percents=PERCENTS, orders=[order]
    )
    assert all(verdict.score.gold >= GOLD for verdict in verdicts)
    return [verdict for verdict in verdicts if not verdict.is_blind]


@pytest.mark.django_db
@pytest.mark.first_pass
@pytest.mark.parametrize(
    "name",
    [one if one == IN_SHORT else pytest.param(one, marks=pytest.mark.long) for one in SABOTAGES],
)
def test_each_way_that_was_open_once_is_found_when_it_is_put_back(name: str) -> None:
    verdict = find_sabotage(name, gold=GOLD, seed=3)
    assert not verdict.is_blind, str(verdict)
    assert verdict.score.auc > 0.7, str(verdict)


@pytest.mark.long
@pytest.mark.django_db
@pytest.mark.first_pass
def test_two_accounts_that_compare_notes_find_gold_as_the_docs_say() -> None:
    notes = compare_notes(seed=1, campaigns=2, queries=4, are_alone=True, percents=PERCENTS)
    assert notes.auc > 0.55
    assert notes.p < FOUND_P
    assert notes.precision < 1


@pytest.mark.parametrize(("shift", "is_told"), [(0.0, False), (2.0, True)])
def test_a_score_tells_chance_from_a_leak(shift: float, is_told: bool) -> None:
    found = score(_made(shift=shift), seed=1)
    assert (found.p < 1e-6) == is_told
    assert (found.auc > 0.7) == is_told
    assert (found.precision > 1.5 * found.rate) == is_told


def test_persons_with_more_gold_make_no_leak() -> None:
    """A score that knows only in which campaign it is tells nothing within any of them."""
    persons = []
    for percent in (5, 10, 20):
        is_gold = np.arange(100) < percent
        persons.append(Scored(percent, np.full(100, float(percent)), is_gold, np.ones(100)))
    found = measure(persons, gold=35)
    assert (found.auc, found.p) == (0.5, 1.0)
    assert found.precision == pytest.approx((0.05 * 5 + 0.1 * 10 + 0.2 * 20) / 35)
    assert found.by_lot == pytest.approx(found.precision)


def test_the_room_of_an_auc_grows_as_its_standard_error_does() -> None:
    chance = Score(500, 0.55, 0.02, 0.01, 0.1, 0.1, 0.1, 0.1)
    assert Verdict("one", chance, room=0.063, least_p=0.001).is_blind
    assert not Verdict("one", chance, room=0.02, least_p=0.001).is_blind
    assert not Verdict("one", chance, room=0.063, least_p=0.02).is_blind


def _made(*, shift: float) -> list[Seen]:
    rng, seen = random.Random(4), []
    for person in range(20):
        is_gold = np.array([rng.random() < 0.15 for _ in range(60)])
        features = [[rng.gauss(shift * kind, 1), rng.random()] for kind in is_gold]
        seen.append(Seen(person % 2, 10, np.array(features), is_gold, np.ones(60)))
    return seen


def test_what_was_sampled_is_found_no_better_than_by_lot() -> None:
    """Scores without a meaning, of all gold and of a tenth of the other pairs."""
    rng = np.random.default_rng(5)
    is_gold = np.arange(9) < 3
    weights = np.where(is_gold, 1.0, 9.5)
    persons = [Scored(5, rng.random(9), is_gold, weights) for _ in range(400)]
    found = measure(persons, gold=1200)
    assert found.precision == pytest.approx(found.by_lot, abs=0.02)
