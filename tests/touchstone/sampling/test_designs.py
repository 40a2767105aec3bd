"""Draws: seeds, chances, certainty, strata, and what stays from month to month."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.touchstone.sampling.builders import traffic
from touchstone.sampling.allocation import proportional
from touchstone.sampling.designs import (
    collapsed,
    expected_overlap,
    inclusion_probabilities,
    sequential_poisson,
    simple_random,
    sizes_of_strata,
    stratified,
)
from touchstone.sampling.errors import SamplingError
from touchstone.sampling.frames import Frame


def shares_drawn(draw, frame, seeds):
    """How often each query is drawn, over seeds."""
    drawn = np.zeros(len(frame))
    for seed in range(seeds):
        drawn[draw(seed).rows] += 1
    return drawn / seeds


DESIGNS = {
    "simple": lambda frame, seed: simple_random(frame, 40, seed=seed),
    "stratified": lambda frame, seed: stratified(frame, 40, seed=seed),
    "by size": lambda frame, seed: sequential_poisson(frame, 40, seed=seed),
    "stratified by size": lambda frame, seed: stratified(frame, 40, seed=seed, by_size=True),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_a_seed_draws_the_same_queries_whatever_the_order_of_the_frame(design):
    frame = traffic()
    rows = np.random.default_rng(1).permutation(len(frame)).tolist()
    other = Frame.of(
        [frame.queries[row] for row in rows],
        strata=[frame.strata[frame.stratum[row]] for row in rows],
        sizes=frame.size[rows],
    )
    first, again = DESIGNS[design](frame, 11), DESIGNS[design](other, 11)
    assert (again.queries, again.strata) == (first.queries, first.strata)
    assert again.pi.tolist() == first.pi.tolist()
    assert len(set(first.queries)) == 40
    assert DESIGNS[design](frame, 12).queries != first.queries


@pytest.mark.parametrize("design", DESIGNS)
def test_queries_are_drawn_as_often_as_their_chances_say(design):
    frame, seeds = traffic(60), 200
    chances = np.full(60, np.nan)
    for seed in range(60):
        plan = DESIGNS[design](frame, seed)
        chances[plan.rows] = plan.pi
    known = ~np.isnan(chances)
    assert known.sum() == 60
    drawn = shares_drawn(lambda seed: DESIGNS[design](frame, seed), frame, seeds)
    error = np.sqrt(chances * (1 - chances) / seeds)
    # proportional to size they are an approximation
    slack = 0.03 if "size" in design else 0
    assert (np.abs(drawn - chances) <= 4 * error + slack).all()
    assert (drawn[chances == 1] == 1).all()


def test_the_plan_of_a_seed_is_the_same_in_every_version():
    frame = traffic(12)
    assert simple_random(frame, 4, seed=7).queries == ["query 0", "query 1", "query 3", "query 6"]
    assert sequential_poisson(frame, 4, seed=7).queries == [
        "query 1",
        "query 4",
        "query 5",
        "query 6",
    ]


@given(st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=60), st.data())
def test_chances_by_size_add_up_to_n_and_are_in_proportion_below_1(sizes, data):
    size = np.array(sizes)
    n = data.draw(st.integers(1, len(size)))
    pi = inclusion_probabilities(size, n)
    assert pi.sum() == pytest.approx(n, rel=1e-9)
    assert ((pi > 0) & (pi <= 1)).all()
    drawn = pi < 1
    if drawn.any():
        assert pi[drawn] / size[drawn] == pytest.approx((pi[drawn] / size[drawn])[0], rel=1e-9)
        # what is certain would have had a chance of 1 or more
        assert (size[~drawn] * (pi[drawn] / size[drawn])[0] >= 1 - 1e-9).all()


def test_certain_queries_are_found_step_by_step():
    # 3 · 60/100 > 1; then 2 · 30/40 > 1; then 1 · 6/10
    found = inclusion_probabilities(np.array([6.0, 60.0, 4.0, 30.0]), 3)
    assert found.tolist() == [0.6, 1.0, 0.4, 1.0]


def test_queries_without_results_stay_in_the_frame():
    """A frame holds searches, not results: nothing of what a query finds can take it out."""
    frame = Frame.of(["finds nothing", "a", "b"], sizes=[50, 1, 1])
    assert "finds nothing" in sequential_poisson(frame, 1, seed=4).queries


def test_labels_are_kept_at_the_next_refresh_in_the_share_that_theory_says():
    frame = traffic(600)
    rng = np.random.default_rng(8)
    later = Frame.of(
        [frame.queries[row] for row in range(600)],
        sizes=np.maximum(1, frame.size * rng.lognormal(0, 0.6, 600)),
    )
    n, kept = 60, []
    for seed in range(150):
        before = sequential_poisson(frame, n, seed=seed).queries
        kept.append(len(set(before) & set(sequential_poisson(later, n, seed=seed).queries)))
    chances = inclusion_probabilities(frame.size, n), inclusion_probabilities(later.size, n)
    expected = expected_overlap(*chances)
    assert np.mean(kept) == pytest.approx(expected, abs=4 * np.std(kept) / np.sqrt(150) + 0.5)
    unrelated = float((chances[0] * chances[1]).sum())
    assert expected > 1.5 * unrelated


def test_a_query_that_joins_the_frame_replaces_at_most_one():
    frame = traffic(100)
    more = Frame.of([*(frame.queries[row] for row in range(100)), "new"])
    before = set(simple_random(frame, 20, seed=3).queries)
    after = set(simple_random(more, 20, seed=3).queries)
    assert len(before - after) <= 1


def test_each_stratum_gets_the_number_that_is_asked_for():
    frame = traffic()
    own = {"head": 5, "torso": 9, "tail": 2}
    plan = stratified(frame, own, seed=1)
    assert {name: plan.strata.count(name) for name in own} == own
    counts = dict(zip(frame.strata, sizes_of_strata(frame).tolist(), strict=True))
    for name, pi in zip(plan.strata, plan.pi.tolist(), strict=True):
        assert pi == own[name] / counts[name]


def test_by_size_the_strata_share_the_sample_as_they_share_the_searches():
    frame = traffic()
    plan = stratified(frame, 60, seed=1, by_size=True)
    searches = np.bincount(frame.stratum, weights=frame.size)
    expected = proportional(60, searches, sizes_of_strata(frame))
    assert [plan.strata.count(name) for name in frame.strata] == expected.tolist()
    assert expected[0] == 20  # the whole head, which has half of the searches


def test_a_stratum_of_one_query_is_refused_or_collapsed():
    frame = Frame.of(list("abcdefg"), strata=["x", "y", "y", "z", "z", "z", "w"])
    with pytest.raises(SamplingError, match="'w' has one query"):
        stratified(frame, 6, seed=1)
    joined = collapsed(frame)
    assert joined.strata == ("x + w", "y", "z")
    assert sizes_of_strata(joined).tolist() == [2, 2, 3]
    assert stratified(joined, 6, seed=1).strata == ["x + w", "y", "y", "z", "z", "x + w"]


def test_collapsing_changes_nothing_where_no_stratum_is_alone():
    frame = traffic()
    assert collapsed(frame).digest == frame.digest


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda frame: simple_random(frame, 401, seed=1), "can't be drawn from 400"),
        (lambda frame: simple_random(frame, 0, seed=1), "can't be drawn"),
        (lambda frame: simple_random(frame, 1, seed=-1), "seed"),
        (lambda frame: simple_random(frame, 1, seed=2**63), "seed"),
        (lambda frame: sequential_poisson(frame, 401, seed=1), "can't be drawn from 400"),
        (lambda frame: stratified(frame, 5, seed=1), "too little for 3 strata"),
        (lambda frame: stratified(frame, {"head": 2}, seed=1), "each stratum"),
        (
            lambda frame: stratified(frame, {"head": 2, "tail": 2, "torso": 999}, seed=1),
            "can't be drawn",
        ),
    ],
)
def test_what_can_not_be_drawn_is_refused(draw, said):
    with pytest.raises(SamplingError, match=said):
        draw(traffic())


def test_a_sample_as_large_as_the_frame_is_the_frame():
    frame = traffic(30)
    for plan in (simple_random(frame, 30, seed=1), sequential_poisson(frame, 30, seed=1)):
        assert plan.pi.tolist() == [1.0] * 30
        assert sorted(plan.rows.tolist()) == list(range(30))
