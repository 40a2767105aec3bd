"""Which places of a query show gold: as many as is planned on average, anywhere, by a key."""

from collections import Counter
from statistics import mean

import pytest

from annotation.gold.planting import Place, draw_gold, seeded


def make_places(plain: int, gold: int, known: int = 0) -> list[Place]:
    """So many plain pairs and gold ones, the last `known` of each kind known to the person."""
    kinds = [(pair, False, pair > plain - known) for pair in range(1, plain + 1)]
    kinds += [(100 + pair, True, pair > gold - known) for pair in range(1, gold + 1)]
    return [Place(*kind) for kind in kinds]


@pytest.mark.parametrize(("plain", "percent"), [(20, 5), (5, 5), (20, 12), (1, 30), (7, 30)])
def test_the_share_is_what_is_planned_on_average(plain: int, percent: int) -> None:
    places = make_places(plain, 10)
    drawn = [len(draw_gold(places, percent=percent, dice=seeded(n))) for n in range(4_000)]
    assert abs(mean(drawn) - plain * percent / 100) < 0.04
    assert max(drawn) - min(drawn) <= 1


def test_every_place_and_every_gold_pair_is_as_likely_as_any_other() -> None:
    places = make_places(20, 4)
    drawn = [draw_gold(places, percent=10, dice=seeded("secret", n)) for n in range(4_000)]
    replaced = Counter(pair for one in drawn for pair in one)
    shown = Counter(pair for one in drawn for pair in one.values())
    assert len(replaced) == 20
    assert all(310 < count < 490 for count in replaced.values())  # 400 each, deviation 19
    assert all(1_860 < count < 2_140 for count in shown.values())


def test_what_somebody_knows_is_neither_replaced_nor_shown() -> None:
    places = make_places(10, 5, known=3)
    for n in range(200):
        drawn = draw_gold(places, percent=30, dice=seeded(n))
        assert set(drawn) <= set(range(1, 8))
        assert set(drawn.values()) <= {101, 102}


def test_there_is_never_more_than_there_is_gold_and_places_for() -> None:
    assert len(draw_gold(make_places(20, 1), percent=30, dice=seeded(1))) == 1
    assert draw_gold(make_places(20, 0), percent=30, dice=seeded(1)) == {}
    assert draw_gold(make_places(0, 5), percent=30, dice=seeded(1)) == {}


def test_the_same_words_draw_the_same_and_others_something_else() -> None:
    places = make_places(20, 8)
    drawn = [draw_gold(places, percent=20, dice=seeded(7, n // 2)) for n in range(200)]
    assert all(drawn[place] == drawn[place + 1] for place in range(0, 200, 2))
    assert len({tuple(sorted(one.items())) for one in drawn}) > 95
