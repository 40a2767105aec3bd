"""What a model claims of its grades, against pairs whose right grade is known."""

import numpy as np
import pytest

from touchstone.agreement.calibration import (
    FEWEST_CALIBRATED,
    CheckedPairs,
    GoldLabels,
    calibrate,
    calibrated_posterior,
    checked_decisions,
    checked_gold,
    measure,
)
from touchstone.agreement.dawid_skene import dawid_skene


def shared_mistakes(seed, *, pairs=1_500, gold=200, people=12, overlap=3):
    """A crowd that misreads a fifth of the pairs alike; the last `gold` pairs are gold, which
    everyone labels. Returns the model, the gold labels, and the truth of the other pairs."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, pairs + gold)
    shown = np.where(rng.random(len(truth)) < 0.2, (truth + 1) % 3, truth)

    def label(pair, person):
        return shown[pair] if rng.random() < 0.85 else int(rng.integers(3))

    seats = [
        (pair, person) for pair in range(pairs) for person in rng.permutation(people)[:overlap]
    ]
    units, who = np.array(seats).T
    steps = np.array([label(pair, person) for pair, person in seats])
    checks = [(pair, person) for pair in range(pairs, pairs + gold) for person in range(people)]
    gold_units, gold_people = np.array(checks).T
    gold_steps = np.array([label(pair, person) for pair, person in checks])
    model = dawid_skene(units, who, steps, shape=(pairs, people, 3))
    answers = truth[gold_units]
    made = GoldLabels(gold_units, gold_people, gold_steps, answers, answers)
    return model, made, truth[:pairs], np.bincount(units), np.bincount(who, minlength=people)


def test_a_model_that_takes_shared_mistakes_for_independent_ones_is_corrected_by_gold():
    inside = 0
    for seed in range(12):
        model, gold, truth, sizes, shares = shared_mistakes(seed)
        confidence = model.posterior.max(axis=1)
        right = (model.posterior.argmax(axis=1) == truth).mean()
        checked = checked_gold(model, gold, sizes=sizes, shares=shares)
        measured, found = measure(checked), calibrate(checked, "gold")
        value, low, high = found.accuracy(confidence)
        assert confidence.mean() - right > 0.1
        assert abs(value - right) < 0.1
        assert found.log_loss < found.log_loss_before
        assert measured.pairs == 200
        inside += low <= right <= high
    assert inside >= 10


def test_gold_is_drawn_with_as_many_labels_as_other_pairs_have():
    # with all twelve labels gold would be far clearer than a pair with three
    model, gold, _, sizes, shares = shared_mistakes(1)
    three = measure(checked_gold(model, gold, sizes=sizes, shares=shares))
    twelve = measure(checked_gold(model, gold, sizes=np.full(len(sizes), 12), shares=shares))
    assert three.confidence == pytest.approx(model.posterior.max(axis=1).mean(), abs=0.03)
    assert twelve.confidence > three.confidence + 0.02
    few = GoldLabels(*(part[:2] for part in vars(gold).values()))
    assert len(checked_gold(model, few, sizes=sizes, shares=shares)) == 0


def test_an_accepted_range_is_right_all_over():
    model, gold, _, sizes, shares = shared_mistakes(2)
    anything = GoldLabels(
        gold.pairs, gold.annotators, gold.steps, np.zeros_like(gold.low), np.full_like(gold.low, 2)
    )
    assert measure(checked_gold(model, anything, sizes=sizes, shares=shares)).value == 1.0


def test_a_claim_is_calibrated_from_fifty_checked_pairs_on():
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.5, 1.0, (FEWEST_CALIBRATED, 1))
    is_right = rng.random(confidence.shape) < 0.6
    assert calibrate(CheckedPairs(confidence, is_right), "gold") is not None
    assert calibrate(CheckedPairs(confidence[1:], is_right[1:]), "gold") is None


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_pairs_that_are_all_right_or_all_wrong_give_a_number_short_of_certainty(share):
    checked = CheckedPairs(np.full((60, 1), 0.9), np.full((60, 1), bool(share)))
    value, low, high = calibrate(checked, "gold").accuracy(np.full(10, 0.9))
    assert abs(value - share) < 0.05
    assert 0 < low <= value <= high < 1


def test_more_confidence_never_means_right_less_often():
    confidence = np.linspace(0.5, 0.99, 100)[:, None]
    found = calibrate(CheckedPairs(confidence, confidence < 0.75), "adjudicated")
    assert found.slope == 0.0
    assert found.accuracy(np.array([0.6]))[0] == pytest.approx(0.5, abs=0.01)


def test_without_a_checked_pair_nothing_is_measured():
    nothing = np.array([], dtype=np.int64)
    model = dawid_skene(np.array([0]), np.array([0]), np.array([0]), shape=(1, 1, 2))
    gold = checked_gold(
        model, GoldLabels(*[nothing] * 5), sizes=np.array([1]), shares=np.array([1])
    )
    decided = checked_decisions(np.empty((0, 2)), nothing)
    for checked in (gold, decided):
        found = measure(checked)
        assert (found.pairs, found.value, found.low) == (0, None, None)


def test_a_calibrated_posterior_keeps_its_rows_and_their_best_grade_says_what_was_measured():
    posterior = np.array([[0.97, 0.02, 0.01], [0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    found = calibrated_posterior(posterior, -0.5, 0.5)
    assert found.sum(axis=1) == pytest.approx(np.ones(3))
    odds = -0.5 + 0.5 * np.log(0.97 / 0.03)
    assert found[0, 0] == pytest.approx(1 / (1 + np.exp(-odds)))
    assert found[0, 1] == pytest.approx(2 * found[0, 2])
    assert calibrated_posterior(posterior, 0.0, 1.0)[:2] == pytest.approx(posterior[:2])
