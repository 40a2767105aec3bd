"""Intervals that resample clusters of units, such as the queries of pairs."""

import numpy as np
import pytest

from touchstone.agreement.alpha import alpha, alpha_with_others
from touchstone.agreement.counts import count_labels, count_own
from touchstone.agreement.kappas import cohen_kappa, percent

VALUES = [0.0, 1.0, 2.0]
QUERIES, EACH = 40, 6


def two_raters(seed, *, alike):
    """Two labels of each pair. alike: all pairs of a query have the same two labels."""
    rng = np.random.default_rng(seed)
    size = QUERIES if alike else QUERIES * EACH
    first = rng.integers(0, 3, size)
    second = np.where(rng.random(size) < 0.6, first, rng.integers(0, 3, size))
    steps = np.concatenate([np.repeat(one, EACH if alike else 1) for one in (first, second)])
    units = np.tile(np.arange(QUERIES * EACH), 2)
    return units, steps, units // EACH


def width(found):
    return found.high - found.low


def test_clusters_change_no_value_and_widen_intervals_where_pairs_of_a_query_are_alike():
    units, steps, queries = two_raters(1, alike=True)
    plain = count_labels(units, steps, VALUES)
    clustered = count_labels(units, steps, VALUES, queries)
    for measure in (alpha, percent):
        one, other = measure(plain), measure(clustered)
        assert one.value == other.value
        # six copies of everything: the interval of one query a unit, √6 times as wide
        assert width(other) == pytest.approx(np.sqrt(EACH) * width(one), rel=0.15)


def test_of_independent_pairs_both_intervals_are_about_as_wide():
    units, steps, queries = two_raters(2, alike=False)
    plain = count_labels(units, steps, VALUES)
    clustered = count_labels(units, steps, VALUES, queries)
    assert width(alpha(clustered)) == pytest.approx(width(alpha(plain)), rel=0.3)


def test_the_clusters_of_a_table_and_of_ones_own_labels_say_the_same():
    units, steps, queries = two_raters(3, alike=True)
    half = len(units) // 2
    first, second = steps[:half], steps[half:]
    cells = np.zeros((QUERIES, 9), np.int64)
    np.add.at(cells, (queries[:half], 3 * first + second), 1)
    kappa = cohen_kappa(cells.reshape(-1, 3, 3), VALUES)
    narrow = cohen_kappa(cells.sum(axis=0).reshape(3, 3), VALUES)
    assert kappa.value == narrow.value
    assert width(kappa) == pytest.approx(np.sqrt(EACH) * width(narrow), rel=0.15)
    is_own = np.arange(len(units)) < half
    own = alpha_with_others(count_own(units, steps, is_own, VALUES, queries))
    both = alpha(count_labels(units, steps, VALUES, queries))
    assert (own.low, own.high) == pytest.approx((both.low, both.high))


def test_below_fifteen_clusters_there_is_a_value_and_no_interval():
    units, steps, queries = two_raters(4, alike=False)
    kept = queries < 14
    found = alpha(count_labels(units[kept], steps[kept], VALUES, queries[kept]))
    assert found.value is not None
    assert (found.low, found.high) == (None, None)
