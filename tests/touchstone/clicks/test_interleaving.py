"""Interleaving: mpkato/interleaving's own expectations of allocations, credits and winners.

From its tests at 7907f7d (MIT): test_team_draft, test_optimized, test_probabilistic,
test_probabilistic_interleave.
"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.clicks.interleaving import (
    TeamRanking,
    click_credits,
    insensitivity,
    optimized_interleaving,
    preferences,
    prefix_rankings,
    probabilistic_allocations,
    probabilistic_credits,
    probabilistic_distribution,
    team_draft,
    team_draft_credits,
    team_draft_distribution,
)


@pytest.mark.parametrize(
    ("rankings", "length", "expected"),
    [
        ([[1, 2], [2, 3]], 2, [(1, 2), (2, 1)]),
        ([[1, 2], [2, 3]], 3, [(1, 2, 3), (2, 1, 3)]),
        ([[1, 2], [2, 3]], 4, [(1, 2, 3), (2, 1, 3)]),
        ([[1, 2], [3, 4]], 2, [(1, 3), (3, 1)]),
        ([[1, 2], [3, 4]], 3, [(1, 3, 2), (1, 3, 4), (3, 1, 2), (3, 1, 4)]),
        ([[1, 2], [2, 3], [3, 4]], 2, [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)]),
        ([[1, 2], [3, 4], [5, 6]], 2, [(1, 3), (1, 5), (3, 1), (3, 5), (5, 1), (5, 3)]),
    ],
)
def test_team_draft_shows_these_rankings(
    rankings: list[list[int]], length: int, expected: list[tuple[int, ...]]
) -> None:
    found = team_draft_distribution(rankings, length=length)
    assert {one.documents for one in found} == set(expected)
    assert sum(found.values()) == pytest.approx(1)
    drawn = {team_draft(rankings, length=length, seed=seed) for seed in range(100)}
    assert drawn == set(found)


def test_team_draft_has_these_teams() -> None:
    for rankings, own in (
        ([[1, 2], [2, 3]], {(1, 0), (2, 1)}),
        ([[1, 2], [3, 4]], {(1, 0), (3, 1)}),
    ):
        for one in team_draft_distribution(rankings, length=2):
            assert set(zip(one.documents, one.teams, strict=True)) == own
    assert len(team_draft_distribution([[1, 2, 3], [2, 3, 1]], length=3)) == 4


@pytest.mark.parametrize(
    ("shown", "clicked", "winners"),
    [
        (TeamRanking((1, 2), (0, 1)), [0, 1], set()),
        (TeamRanking((1, 2), (0, 1)), [0], {(0, 1)}),
        (TeamRanking((1, 2), (0, 1)), [1], {(1, 0)}),
        (TeamRanking((1, 2), (0, 1)), [], set()),
        (TeamRanking((1, 3, 4), (0, 1, 1)), [0, 1, 2], {(1, 0)}),
        (TeamRanking((1, 3, 4), (0, 1, 1)), [0, 1], set()),
        (TeamRanking((1, 3, 4), (0, 1, 1)), [0, 2], set()),
        (TeamRanking((1, 3, 4), (0, 1, 1)), [1, 2], {(1, 0)}),
        (TeamRanking((1, 3, 4), (0, 1, 1)), [0], {(0, 1)}),
        (TeamRanking((1, 3, 4), (0, 1, 1)), [2], {(1, 0)}),
    ],
)
def test_team_draft_credits_these_winners(
    shown: TeamRanking, clicked: list[int], winners: set[tuple[int, int]]
) -> None:
    assert preferences(team_draft_credits(shown, clicked, rankers=2)) == winners


def test_probabilistic_allocations_have_these_credits() -> None:
    assert probabilistic_allocations((1, 2), [[1, 2], [2, 3]], [0, 1]) == {
        (0, 0): ([2, 0], 1 / (1 + 0.125) * (0.125 / 0.125)),
        (0, 1): ([1, 1], 1 / (1 + 0.125) * (1 / (1 + 0.125))),
        (1, 0): ([1, 1], 0.0),
        (1, 1): ([0, 2], 0.0),
    }


def test_probabilistic_interleaving_has_this_winner() -> None:
    scores = probabilistic_credits((1, 2, 3, 4), [[1, 2, 3, 4], [2, 3, 4, 1]], [1, 2])
    assert preferences(scores) == {(1, 0)}


@given(st.permutations(range(5)), st.permutations(range(5)), st.sets(st.integers(0, 3)))
def test_credits_are_the_sums_over_all_allocations(
    first: list[int], second: list[int], clicked: set[int]
) -> None:
    shown = [*second[:2], *(document for document in first if document not in second[:2])][:4]
    sums = [0.0, 0.0]
    for credit, chance in probabilistic_allocations(shown, [first, second], list(clicked)).values():
        if credit[0] != credit[1]:
            sums[credit[0] < credit[1]] += chance
    assert probabilistic_credits(shown, [first, second], list(clicked)) == pytest.approx(sums)


def test_probabilistic_rankings_have_these_probabilities() -> None:
    found = probabilistic_distribution([[1, 2], [1, 3]], length=2, in_turns=True)
    assert found == pytest.approx(
        {
            (1, 2): 0.444444444,
            (1, 3): 0.444444444,
            (2, 1): 0.049382716,
            (2, 3): 0.00617284,
            (3, 1): 0.049382716,
            (3, 2): 0.00617284,
        },
        abs=1e-8,
    )


@pytest.mark.parametrize(
    ("rankings", "expected"),
    [
        ([[0], [1]], {0: 0.5, 1: 0.5}),
        ([[0], [0]], {0: 1.0}),
        ([[0, 1, 2], [0, 1, 2]], {0: 0.86056, 1: 0.10757, 2: 0.03187}),
        ([[0, 1], [1, 2]], {0: 0.44444, 1: 0.50000, 2: 0.05556}),
    ],
)
def test_the_first_document_has_these_probabilities(
    rankings: list[list[int]], expected: dict[int, float]
) -> None:
    found = dict.fromkeys(expected, 0.0)
    for shown, chance in probabilistic_distribution(rankings, length=len(rankings[0])).items():
        assert len(set(shown)) == len(shown)
        found[int(shown[0])] += chance
    assert found == pytest.approx(expected, abs=1e-5)


def test_any_order_can_be_shown() -> None:
    assert len(probabilistic_distribution([[1, 2, 3], [2, 3, 1]], length=3)) == 6


def test_prefix_rankings_are_these() -> None:
    assert set(prefix_rankings([[1, 2], [2, 3]], length=2)) == {(1, 2), (2, 1), (2, 3)}
    assert len(prefix_rankings([[1, 2, 3], [4, 5, 6], [7, 8, 9]], length=3)) == 27
    assert prefix_rankings([[1], [1]], length=3) == [(1,)]


def test_credits_and_sensitivity_are_these() -> None:
    given_to = click_credits([(1, 2), (2, 1), (2, 3)], [[1, 2], [2, 3]])
    third = 1 / 3
    assert given_to == pytest.approx(
        np.array([[[1, third], [0.5, 1]], [[0.5, 1], [1, third]], [[0.5, 1], [third, 0.5]]])
    )
    assert insensitivity(given_to) == pytest.approx(
        [
            (1 + 0.5 * 0.5 - (1.75 + third) / 2) ** 2 + (third + 0.5 - (1.75 + third) / 2) ** 2,
            (0.5 + 0.5 - (2 + 0.5 / 3) / 2) ** 2 + (1 + third * 0.5 - (2 + 0.5 / 3) / 2) ** 2,
            (0.5 + 0.5 * third - (1.75 + 0.5 / 3) / 2) ** 2
            + (1 + 0.5 * 0.5 - (1.75 + 0.5 / 3) / 2) ** 2,
        ]
    )


def test_optimized_interleaving_has_these_probabilities() -> None:
    found = optimized_interleaving([[1, 2], [2, 3]], length=2)
    probabilities = dict(zip(found.rankings, found.probabilities.tolist(), strict=True))
    assert probabilities == pytest.approx(
        {(1, 2): 0.4285714273469387, (2, 1): 0.37142857025306114, (2, 3): 0.20000000240000002},
        abs=1e-7,
    )


@pytest.mark.parametrize(
    ("shown", "winners"),
    [
        ((1, 2), [{(0, 1)}, {(0, 1)}, {(1, 0)}, set()]),
        ((2, 1), [{(0, 1)}, {(1, 0)}, {(0, 1)}, set()]),
        ((2, 3), [{(1, 0)}, {(1, 0)}, {(1, 0)}, set()]),
    ],
)
def test_optimized_interleaving_credits_these_winners(
    shown: tuple[int, int], winners: list[set[tuple[int, int]]]
) -> None:
    (own,) = click_credits([shown], [[1, 2], [2, 3]])
    for clicked, expected in zip(([0, 1], [0], [1], []), winners, strict=True):
        assert preferences(own[clicked].sum(axis=0).tolist()) == expected


@pytest.mark.parametrize("rankings", [[[1, 2, 3], [3, 2, 1]], [[1, 2, 3], [2, 3, 1], [3, 1, 2]]])
@pytest.mark.parametrize("credit", ["inverse", "negative"])
def test_someone_who_clicks_at_random_prefers_nobody(
    rankings: list[list[int]], credit: str
) -> None:
    found = optimized_interleaving(rankings, length=3, credit=credit)  # type: ignore[arg-type]
    for depth in (1, 2, 3):
        expected = found.probabilities @ found.credits[:, :depth].sum(axis=1)
        for one, other in pairwise(expected):
            assert one == pytest.approx(other, abs=1e-9)


def test_rankings_that_allow_no_fair_distribution_are_refused() -> None:
    with pytest.raises(ValueError, match="unbiased"):
        optimized_interleaving([[1, 2], [1, 2, 3, 4], [1, 4]], length=3)
