"""Significance groups: letters that say neither more nor less than the pairs do."""

from itertools import combinations
from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from touchstone.statistics.groups import Correction, letter_ranges, letters, significance_groups
from touchstone.statistics.paired import holm
from touchstone.statistics.tukey import tukey_hsd

CORRECTIONS: tuple[Correction, ...] = ("tukey", "holm")


def scored(*, queries: int = 60, gains: list[float] | None = None, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    means = gains if gains is not None else [0.5, 0.48, 0.4, 0.38, 0.1]
    return rng.normal(0, 0.3, (queries, 1)) + rng.normal(means, 0.1, (queries, len(means)))


def differs_of(pairs: set[tuple[int, int]], k: int) -> np.ndarray:
    differs = np.zeros((k, k), bool)
    for one, other in pairs:
        differs[one, other] = differs[other, one] = True
    return differs


@given(
    st.integers(1, 8).flatmap(
        lambda k: st.tuples(
            st.just(k),
            st.sets(st.sampled_from(list(combinations(range(k), 2)) or [(0, 0)])),
            st.permutations(range(k)),
        )
    )
)
def test_two_share_a_letter_exactly_where_they_do_not_differ(case):
    k, pairs, order = case
    pairs = {(one, other) for one, other in pairs if one != other}
    found = letters(differs_of(pairs, k), order=order)
    for pair in combinations(range(k), 2):
        assert bool(set(found[pair[0]]) & set(found[pair[1]])) == (pair not in pairs)
    assert all(found)
    assert found[order[0]].startswith("a")


def test_the_letters_of_an_example_by_hand():
    # 0 and 1 alike, 1 and 2 alike, 3 alone
    differs = differs_of({(0, 2), (0, 3), (1, 3), (2, 3)}, 4)
    assert letters(differs, order=[0, 1, 2, 3]) == ("a", "ab", "b", "c")
    assert letters(differs, order=[3, 2, 1, 0]) == ("c", "bc", "b", "a")


def test_beyond_the_alphabet_letters_have_numbers():
    every = differs_of(set(combinations(range(30), 2)), 30)
    found = letters(every, order=range(30))
    assert (found[0], found[25], found[26], found[29]) == ("a", "z", "a2", "d2")


def test_tukeys_groups_are_of_the_pairs_of_tukeys_test():
    values = scored()
    found = significance_groups(values, correction="tukey")
    for pair in tukey_hsd(values):
        assert found.differs[pair.first, pair.second] == (pair.p_value <= 0.05)
    assert found.letters == ("a", "a", "b", "b", "c")


def test_holms_groups_are_of_paired_t_tests_of_all_pairs():
    values = scored(queries=25, gains=[0.5, 0.46, 0.44, 0.4, 0.38])
    pairs = list(combinations(range(5), 2))
    raw = [stats.ttest_rel(values[:, one], values[:, other]).pvalue for one, other in pairs]
    found = significance_groups(values, correction="holm")
    expected = (holm(raw) <= 0.05).tolist()
    assert [bool(found.differs[pair]) for pair in pairs] == expected
    assert 0 < sum(expected) < len(pairs)


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_equal_runs_are_alike_and_a_constant_gap_is_none(correction):
    row = np.random.default_rng(2).normal(size=20)
    found = significance_groups(np.stack([row, row, row - 0.1], axis=1), correction=correction)
    assert found.letters == ("a", "a", "b")


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_two_hundred_runs_take_seconds_at_most(correction):
    values = scored(queries=50, gains=np.linspace(0.2, 0.6, 200).tolist())
    significance_groups(values[:, :2], correction=correction)  # imports what it needs
    begun = process_time()
    assert len(significance_groups(values, correction=correction).letters) == 200
    assert process_time() - begun < 5


def test_nothing_is_said_of_one_query_or_one_run():
    with pytest.raises(ValueError, match="two"):
        significance_groups(np.ones((1, 3)), correction="tukey")
    with pytest.raises(ValueError, match="two"):
        significance_groups(np.ones((3, 1)), correction="holm")


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("a", "a"),
        ("abc", "a b c"),
        ("abcd", "a–d"),
        ("abcdfg", "a–d f g"),
        ("a c d e f", "a c–f"),
        ("x y z a2 b2 z2 a3", "x–b2 z2 a3"),
        ("", ""),
    ],
)
def test_many_letters_are_read_as_a_range(told: str, shown: str) -> None:
    assert letter_ranges(told) == shown
