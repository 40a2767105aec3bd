"""Estimates of how often people are right, from gold and from agreement."""

import numpy as np
import pytest

from touchstone.agreement.accuracy import accuracies

KNOWN = np.full(10, 0.03)  # standard errors of agreement


def of(right, checked, agreement, error=KNOWN):
    return accuracies(
        np.array(right), np.array(checked), np.array(agreement, dtype=float), np.array(error)
    )


def test_much_gold_outweighs_agreement_and_little_hardly_moves_it():
    agreement = [0.7] * 10
    much = of([190, *[140] * 9], [200] * 10, agreement)
    assert much.mean[0] == pytest.approx(0.95, abs=0.05)
    little = of([2, *[140] * 9], [2, *[200] * 9], agreement)
    assert little.mean[0] == pytest.approx(0.7, abs=0.03)
    assert little.high[0] - little.low[0] > much.high[0] - much.low[0]


def test_agreement_counts_for_as_much_as_it_has_proved_to_be_worth():
    truth = np.linspace(0.5, 0.95, 10)
    right, checked = np.round(truth * 100).astype(int), np.full(10, 100)
    checked[0] = right[0] = 0  # of this one there is agreement alone
    useful = of(right, checked, truth)
    useless = of(right, checked, np.random.default_rng(1).permutation(truth)[:10])
    assert useful.mean[0] < 0.62
    assert useless.mean[0] > 0.62
    assert useless.high[0] - useless.low[0] > useful.high[0] - useful.low[0]


def test_people_of_whom_nothing_is_known_are_like_the_others_and_never_called_worse():
    found = of([0] + [85] * 9, [0] + [100] * 9, [np.nan] + [0.8] * 9)
    assert found.mean[0] == pytest.approx(0.85, abs=0.04)
    assert not found.is_below[0]
    nobody = of([0] * 10, [0] * 10, [np.nan] * 10)
    assert not nobody.is_below.any()
    assert (nobody.high - nobody.low > 0.3).all()


def test_somebody_far_below_is_found_and_more_people_need_more_proof():
    right, checked = [4, *[17] * 9], [20] * 10
    found = of(right, checked, [0.3, *[0.8] * 9])
    assert found.is_below.tolist() == [True] + [False] * 9
    assert found.high[0] < found.median
    # the same little proof, once among ten people and once among three hundred
    alone = of([11, *[17] * 9], checked, [0.7, *[0.8] * 9])
    many = of(
        [11] + [17] * 299, [20] * 300, [0.7] + [0.8] * 299, np.full(300, 0.03)
    )  # fmt: skip
    assert many.chance[0] <= alone.chance[0] * 2
    assert not many.is_below[0]


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    rng, held, people = np.random.default_rng(4), 0, 0
    for _ in range(100):
        truth = rng.beta(12, 4, 12)
        checked = rng.integers(0, 40, 12)
        agreement = np.clip(0.2 + 0.7 * truth + rng.normal(0, 0.07, 12), 0, 1)
        found = of(rng.binomial(checked, truth), checked, agreement, np.full(12, 0.03))
        held += int(((found.low <= truth) & (truth <= found.high)).sum())
        people += 12
    assert 0.9 < held / people < 0.99


def test_more_right_than_checked_is_refused():
    with pytest.raises(ValueError, match="from none to all"):
        of([3] * 10, [2] * 10, [0.5] * 10)
