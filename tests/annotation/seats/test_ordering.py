"""The order in which people meet pairs: their own, blind to ranks, stable."""

import itertools
from collections.abc import Iterable
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.seats.ordering import Order

places_sets = st.sets(st.tuples(st.integers(1, 9), st.integers(1, 40)), max_size=60)
both_ways = pytest.mark.parametrize("query_by_query", [True, False])


class Place(NamedTuple):
    """A pair as the order sees it."""

    pair: int
    query: int
    document: int


def stream(
    places: Iterable[Place], *, seed: int, annotator: int, query_by_query: bool
) -> list[Place]:
    """The pairs in the order in which this annotator meets them."""
    order = Order(seed=seed, annotator=annotator, query_by_query=query_by_query)
    return sorted(places, key=lambda place: order.key(**place._asdict()))


def as_places(pairs: set[tuple[int, int]]) -> list[Place]:
    return [Place(100 * pair[0] + pair[1], *pair) for pair in sorted(pairs)]


def block(queries: int, documents: int) -> list[Place]:
    return as_places(set(itertools.product(range(1, queries + 1), range(1, documents + 1))))


@both_ways
@given(pairs=places_sets, annotator=st.integers(1, 50), seed=st.integers(-(2**63), 2**63 - 1))
def test_everybody_meets_every_pair_once(
    query_by_query: bool, pairs: set[tuple[int, int]], annotator: int, seed: int
) -> None:
    places = as_places(pairs)
    met = stream(places, seed=seed, annotator=annotator, query_by_query=query_by_query)
    assert sorted(met) == places


@both_ways
@given(pairs=places_sets, random=st.randoms(use_true_random=False))
def test_the_order_in_which_pairs_came_in_has_no_part_in_it(
    query_by_query: bool, pairs: set[tuple[int, int]], random: object
) -> None:
    places = as_places(pairs)
    shuffled = list(places)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first = stream(places, seed=1, annotator=2, query_by_query=query_by_query)
    assert stream(shuffled, seed=1, annotator=2, query_by_query=query_by_query) == first


@both_ways
@given(pairs=places_sets, more=places_sets)
def test_pairs_that_are_added_do_not_move_the_others(
    query_by_query: bool, pairs: set[tuple[int, int]], more: set[tuple[int, int]]
) -> None:
    def order(of: set[tuple[int, int]]) -> list[tuple[int, int]]:
        met = stream(as_places(of), seed=7, annotator=3, query_by_query=query_by_query)
        return [(place.query, place.document) for place in met]

    assert [pair for pair in order(pairs | more) if pair in pairs] == order(pairs)


def test_a_pair_has_a_name_of_its_own_for_each_person_and_each_occasion() -> None:
    pairs = list(itertools.product(range(1, 4), range(1, 30), range(3)))
    orders = [Order(seed=7, annotator=person, query_by_query=True) for person in (1, 2)]
    names = [order.name(*pair) for order in orders for pair in pairs]
    assert len(set(names)) == len(names)
    again = Order(seed=7, annotator=1, query_by_query=False)
    assert again.name(1, 1) == names[0]
    assert {len(name) for name in names} == {16}


def test_a_query_has_a_name_of_its_own_for_each_person_that_is_in_no_order() -> None:
    queries = range(1, 200)
    orders = [Order(seed=7, annotator=person, query_by_query=True) for person in (1, 2)]
    names = [order.query_name(query) for order in orders for query in queries]
    assert len(set(names)) == len(names)
    assert Order(seed=7, annotator=1, query_by_query=False).query_name(1) == names[0]
    assert {len(name) for name in names} == {16}
    met = orders[0].sort_chunks(queries)
    assert met != sorted(queries, key=orders[0].query_name)


@given(pairs=places_sets)
def test_query_by_query_keeps_a_query_together(pairs: set[tuple[int, int]]) -> None:
    met = stream(as_places(pairs), seed=7, annotator=3, query_by_query=True)
    groups = [query for query, _ in itertools.groupby(met, key=lambda place: place.query)]
    assert len(groups) == len(set(groups))


def test_shuffled_mixes_the_queries() -> None:
    met = stream(block(5, 20), seed=7, annotator=3, query_by_query=False)
    changes = sum(a.query != b.query for a, b in itertools.pairwise(met))
    assert changes > 60


@both_ways
def test_another_person_and_another_seed_have_other_orders(query_by_query: bool) -> None:
    orders = [
        tuple(stream(block(4, 10), seed=seed, annotator=annotator, query_by_query=query_by_query))
        for seed in (1, 2)
        for annotator in (1, 2)
    ]
    assert len(set(orders)) == 4


@both_ways
def test_a_document_of_the_first_rank_is_no_more_often_met_first(query_by_query: bool) -> None:
    # documents 1..10 stand for ranks; 1,000 people: 100 each, with a standard deviation of 9.5
    first = [
        stream(block(1, 10), seed=3, annotator=annotator, query_by_query=query_by_query)[0].document
        for annotator in range(1_000)
    ]
    assert all(65 < first.count(document) < 135 for document in range(1, 11))
