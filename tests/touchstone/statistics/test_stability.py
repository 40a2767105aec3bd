"""How stable a board is: certain where nothing varies, a coin's toss where nothing differs."""

import numpy as np
import pytest

from touchstone.statistics.stability import board_stability, drawn_levels


def test_a_run_that_is_better_on_every_query_is_always_first():
    low = np.linspace(0.1, 0.5, 20)
    found = board_stability(np.stack([low, low + 0.2]), resamples=200, seed=1)
    assert found.first.tolist() == [0, 1]
    assert found.wins.tolist() == [[0.5, 0], [1, 0.5]]
    assert (found.tau_median, found.tau_reached) == (1, 1)


def test_runs_that_are_the_same_share_the_first_place():
    values = np.tile(np.linspace(0, 1, 30), (3, 1))
    found = board_stability(values, resamples=100, seed=1)
    assert found.first == pytest.approx([1 / 3] * 3)
    assert (found.wins == 0.5).all()
    assert found.tau_median is None


def test_the_chance_to_win_is_that_of_resampling_by_hand():
    dice = np.random.default_rng(4)
    values = dice.uniform(0, 1, (2, 25))
    found = board_stability(values, resamples=20_000, seed=1)
    drawn = dice.integers(0, 25, (20_000, 25))
    by_hand = (values[0][drawn].mean(axis=1) > values[1][drawn].mean(axis=1)).mean()
    assert found.wins[0, 1] == pytest.approx(by_hand, abs=0.015)
    assert found.low[0] < values[0].mean() < found.high[0]


def test_a_query_outside_a_runs_mean_does_not_count_in_it():
    values = np.array([[0.5, np.nan, 0.5, 0.5], [0.4, 0.9, 0.4, 0.4]])
    found = board_stability(values, resamples=500, seed=1)
    assert found.low[0] == found.high[0] == 0.5


def test_noise_of_labels_makes_a_board_less_stable():
    values = np.stack([np.full(40, 0.5), np.full(40, 0.48)])
    steady = board_stability(values, resamples=400, seed=1)

    def draw(dice: np.random.Generator) -> np.ndarray:
        return values + dice.normal(0, 0.2, values.shape)

    shaken = board_stability(values, resamples=400, seed=1, draw=draw)
    assert steady.wins[0, 1] == 1
    assert 0.5 < shaken.wins[0, 1] < 0.9


def test_levels_are_drawn_by_their_chances_and_kept_where_there_are_none():
    levels = np.full(30_000, 2, np.uint8)
    chances = np.tile([1.0, 0.0, 3.0], (30_000, 1))
    chances[:10_000] = 0
    drawn = drawn_levels(levels, chances, np.random.default_rng(0))
    assert (drawn[:10_000] == 2).all()
    assert set(drawn[10_000:].tolist()) == {1, 3}
    assert (drawn[10_000:] == 3).mean() == pytest.approx(0.75, abs=0.02)


def test_a_place_is_as_sure_as_the_runs_are_apart():
    queries = np.linspace(0, 1, 40)
    noise = np.random.default_rng(2).normal(0, 0.2, (2, 40))
    values = np.stack([queries + 5, queries + noise[0], queries + noise[1]])
    found = board_stability(values, resamples=500, seed=1)
    assert (found.highest[0], found.lowest[0]) == (1, 1)
    assert {*found.highest[1:], *found.lowest[1:]} == {2, 3}
    tied = board_stability(np.tile(queries, (3, 1)), resamples=50, seed=1)
    assert tied.highest.tolist() == tied.lowest.tolist() == [1, 1, 1]
