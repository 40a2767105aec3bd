"""What a lead hangs on: against trying every set of changes."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from touchstone.statistics.winner_fragility import winner_fragility


def test_a_change_that_costs_more_than_the_lead_is_enough_alone():
    found = winner_fragility(
        margin=0.1, losses=np.array([0.05, 0.2, 0.12, 0.1]), queries=np.array([1, 1, 2, 3])
    )
    assert found.singles == (1, 2)
    assert (found.fewest, found.steps) == (1, (1,))


def test_two_changes_of_one_query_are_not_put_together():
    found = winner_fragility(
        margin=0.1, losses=np.array([0.08, 0.08, -0.5]), queries=np.array([1, 1, 2])
    )
    assert (found.singles, found.fewest) == ((), None)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-8, 8)), min_size=1, max_size=7),
    st.integers(0, 20),
)
def test_fewer_are_never_enough(changes, margin):
    queries = np.array([query for query, _ in changes])
    losses = np.array([float(loss) for _, loss in changes])
    found = winner_fragility(margin=float(margin), losses=losses, queries=queries)
    enough = [
        size
        for size in range(1, len(changes) + 1)
        for chosen in combinations(range(len(changes)), size)
        if len({queries[place] for place in chosen}) == size and losses[list(chosen)].sum() > margin
    ]
    assert found.fewest == (min(enough) if enough else None)
    assert len(found.steps) == (found.fewest or 0)
    assert all(losses[place] > margin for place in found.singles)
