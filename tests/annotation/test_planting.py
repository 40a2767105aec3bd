"""How much is planted, which, and where: as functions of plain values."""

import random
from statistics import mean

from hypothesis import given
from hypothesis import strategies as st

from annotation.planting import Given, Unit, beside, deficit, draw, seeded

SINGLES = [Unit(number, (number,)) for number in range(20)]


def test_what_is_wanted_is_a_share_of_all_that_is_given() -> None:
    assert deficit(Given(plain=95, planted=0), percent=5) == 5
    assert deficit(Given(plain=90, planted=3), percent=5, others=5) == 2
    assert deficit(Given(plain=90, planted=30), percent=5, others=5) == 0
    assert deficit(Given(plain=90, planted=0), percent=0) == 0


def test_what_is_drawn_is_as_much_as_is_wanted_on_average() -> None:
    for wanted in (0.2, 0.5, 1.7, 4.0):
        drawn = [len(draw(SINGLES, wanted=wanted, dice=seeded(seed))) for seed in range(2_000)]
        assert abs(mean(drawn) - wanted) < 0.06
        assert max(drawn) - min(drawn) <= 1


def test_a_whole_query_is_drawn_whole_and_as_rarely_as_it_is_large() -> None:
    units = [Unit(1, tuple(range(10)))]
    drawn = [len(draw(units, wanted=0.5, dice=seeded(seed))) for seed in range(4_000)]
    assert set(drawn) == {0, 10}
    assert abs(mean(drawn) - 0.5) < 0.11


def test_the_same_words_draw_the_same() -> None:
    drawn = [draw(SINGLES, wanted=4.5, dice=seeded(7, seed // 2)) for seed in range(200)]
    assert all(drawn[place] == drawn[place + 1] for place in range(0, 200, 2))
    assert len({tuple(one) for one in drawn}) > 90


# pairs 1 to 6 of query 1, 11 to 14 of query 2, 21 and 22 of query 3, in an annotator's order
STREAM = [3, 1, 5, 2, 6, 4, 21, 22, 13, 11, 14, 12]
QUERIES = [pair // 10 for pair in STREAM]


def found(taken: list[int], gold: set[int], *, by_query: bool = True) -> list[tuple[int, ...]]:
    whole = {2: (21, 22)} if {21, 22} <= gold else {}
    units = beside(STREAM, QUERIES, taken=taken, gold=gold, whole=whole, query_by_query=by_query)
    return [unit.pairs for unit in units]


def test_gold_goes_with_the_next_pair() -> None:
    assert found([1, 2, 4], {3, 5, 6}) == [(3,), (5,), (6,)]
    assert found([1], {3, 5, 6}) == [(3,)]
    assert found([2, 4], {3, 5, 6}) == [(5,), (6,)]


def test_the_last_gold_of_a_query_goes_with_the_pair_before_it() -> None:
    assert found([3, 1, 5, 2, 6], {4}) == [(4,)]
    assert found([21, 22], {4}) == []
    assert found([11, 14], {12}) == [(12,)]
    assert found([13], {12}) == []


def test_a_query_that_is_gold_as_a_whole_comes_before_the_next_query() -> None:
    assert found([13, 11], {21, 22}) == [(21, 22)]
    assert found([6, 4], {21, 22}) == []


def test_shuffled_gold_goes_with_the_next_pair_of_any_query() -> None:
    assert found([21], {4}, by_query=False) == [(4,)]
    assert found([13], {21, 22}, by_query=False) == [(21,), (22,)]
    assert found([11], {12, 14}, by_query=False) == [(14,), (12,)]


@given(st.integers(0, 10_000), st.booleans())
def test_every_gold_pair_goes_with_exactly_one_part_of_the_stream(
    seed: int, by_query: bool
) -> None:
    dice = random.Random(seed)
    gold = set(dice.sample(STREAM, dice.randrange(len(STREAM) - 1)))
    plain = [pair for pair in STREAM if pair not in gold]
    whole = {
        query: tuple(pair for pair in STREAM if pair // 10 == query)
        for query in (0, 1, 2)
        if all(pair in gold for pair in STREAM if pair // 10 == query)
    }
    cut = dice.randrange(len(plain) + 1)
    met = [
        pair
        for taken in (plain[:cut], plain[cut:])
        for unit in beside(
            STREAM, QUERIES, taken=taken, gold=gold, whole=whole, query_by_query=by_query
        )
        for pair in unit.pairs
    ]
    assert sorted(met) == sorted(gold)
