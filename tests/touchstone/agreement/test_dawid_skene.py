"""The model against its authors' own example, and against annotators whose errors are known."""

from itertools import pairwise

import numpy as np
import pytest

from touchstone.agreement.dawid_skene import NO_PRIORS, PRIORS, dawid_skene, without_own
from touchstone.agreement.reliability import weighted_vote

# Dawid & Skene 1979, table 1: 45 patients; observer 1 (three times), then observers 2 to 5.
ANAESTHETISTS = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343
1111111 2223212 1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222
1111111 1111111 2322222 1111111 1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343
2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222
"""
OBSERVERS = (0, 0, 0, 1, 2, 3, 4)


def anaesthetists():
    units = np.repeat(np.arange(45), 7)
    annotators = np.tile(OBSERVERS, 45)
    steps = np.array([int(grade) - 1 for row in ANAESTHETISTS.split() for grade in row])
    return units, annotators, steps


def planted(seed=3, pairs=4_000, overlap=3):
    """Labels of people with known matrices: careful, one grade too high, and always the same."""
    rng = np.random.default_rng(seed)
    careful = np.full((4, 4), 0.05) + np.eye(4) * 0.8
    generous = np.full((4, 4), 0.04) + np.eye(4, k=1) * 0.84
    generous[3, 3] += 0.84
    constant = np.full((4, 4), 0.02)
    constant[:, 2] += 0.92
    matrices = np.stack([careful, careful, careful, generous, constant])
    matrices = matrices / matrices.sum(axis=2, keepdims=True)
    truth = rng.choice(4, pairs, p=[0.4, 0.3, 0.2, 0.1])
    units = np.repeat(np.arange(pairs), overlap)
    annotators = np.concatenate([rng.permutation(5)[:overlap] for _ in range(pairs)])
    rows = matrices[annotators, truth[units]].cumsum(axis=1)
    steps = (rng.random(len(units))[:, None] > rows).sum(axis=1)
    return truth, matrices, (units, annotators, steps)


def test_the_authors_example_has_the_published_answer():
    found = dawid_skene(*anaesthetists(), shape=(45, 5, 4), priors=NO_PRIORS, tolerance=1e-9)
    # table 3: the marginal probabilities
    assert found.prevalence.round(2).tolist() == [0.40, 0.42, 0.11, 0.07]
    # table 2: observer 1's error rates
    assert found.matrices[0].round(2).tolist() == [
        [0.89, 0.11, 0.00, 0.00],
        [0.07, 0.88, 0.05, 0.00],
        [0.00, 0.34, 0.66, 0.00],
        [0.00, 0.00, 0.56, 0.44],
    ]
    # table 4: patient 3 is of class 2, patient 36 of class 4, although most said 3 or less
    assert found.posterior[2].argmax() == 1
    assert found.posterior[35].argmax() == 3
    assert found.converged


def test_planted_matrices_are_recovered():
    truth, matrices, labels = planted()
    found = dawid_skene(*labels, shape=(4_000, 5, 4))
    assert found.converged
    assert np.abs(found.matrices - matrices).max() < 0.06
    assert np.abs(found.prevalence - [0.4, 0.3, 0.2, 0.1]).max() < 0.03
    right = (found.posterior.argmax(axis=1) == truth).mean()
    # the majority, and ties of it at their best, is right less often
    counts = np.zeros((4_000, 4))
    np.add.at(counts, (labels[0], labels[2]), 1)
    most = counts.max(axis=1, keepdims=True)
    assert right > (np.where(counts == most, counts, 0)[np.arange(4_000), truth] > 0).mean() > 0.8


def test_the_order_of_the_labels_changes_nothing():
    _, _, (units, annotators, steps) = planted(pairs=300)
    found = dawid_skene(units, annotators, steps, shape=(300, 5, 4))
    other = np.random.default_rng(0).permutation(len(units))
    again = dawid_skene(units[other], annotators[other], steps[other], shape=(300, 5, 4))
    assert np.array_equal(found.posterior, again.posterior)
    assert (found.rounds, found.fit) == (again.rounds, again.fit)


@pytest.mark.parametrize("priors", [PRIORS, NO_PRIORS])
def test_the_fit_never_falls_from_round_to_round(priors):
    _, _, labels = planted(pairs=200)
    fits = [
        dawid_skene(*labels, shape=(200, 5, 4), priors=priors, most_rounds=rounds).fit
        for rounds in range(1, 15)
    ]
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(fits))


def test_a_search_that_is_cut_off_says_that_it_did_not_converge():
    _, _, labels = planted(pairs=200)
    found = dawid_skene(*labels, shape=(200, 5, 4), most_rounds=2)
    assert (found.rounds, found.converged) == (2, False)


def test_one_label_is_believed_as_far_as_the_priors_go_and_none_is_the_prevalence():
    found = dawid_skene(np.array([0]), np.array([0]), np.array([2]), shape=(2, 1, 3))
    assert found.posterior.sum(axis=1) == pytest.approx([1, 1])
    assert found.posterior[0].argmax() == 2
    assert found.posterior[1].tolist() == found.prevalence.tolist()
    nothing = np.array([], dtype=int)
    with pytest.raises(ValueError, match="no labels"):
        dawid_skene(nothing, nothing, nothing, shape=(1, 1, 3))


def test_what_the_others_say_leaves_the_own_label_out():
    _, _, labels = planted(pairs=500)
    found = dawid_skene(*labels, shape=(500, 5, 4))
    said = without_own(found, *labels)
    assert said.sum(axis=1) == pytest.approx(np.ones(len(said)))
    base = np.log(found.prevalence)
    others = [at for at in range(3) if at != 1]
    expected = base + sum(np.log(found.matrices[labels[1][at], :, labels[2][at]]) for at in others)
    expected = np.exp(expected - expected.max())
    assert said[1] == pytest.approx(expected / expected.sum(), abs=1e-4)


def test_a_vote_by_reliability_follows_the_careful_against_two_who_always_say_the_same():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, 200)
    careful = [np.where(rng.random(200) < 0.9, truth, rng.integers(0, 4, 200)) for _ in range(3)]
    steps = np.stack([*careful, np.full(200, 2), np.full(200, 2)])
    units = np.tile(np.arange(200), 5)
    people = np.repeat(np.arange(5), 200)
    # on some pairs only one careful person meets the two
    keep = (units >= 40) | (people == 0) | (people >= 3)
    found = weighted_vote(units[keep], people[keep], steps.reshape(-1)[keep], shape=(200, 5, 4))
    assert found.converged
    assert found.weights[3:].max() < found.weights[:3].min() / 2
    assert (found.winners[:40] == steps[0][:40]).mean() == 1
    assert found.posterior.sum(axis=1) == pytest.approx(np.ones(200))


def test_a_vote_between_equals_has_no_winner_and_neither_has_silence():
    units, people = np.array([0, 0]), np.array([0, 1])
    found = weighted_vote(units, people, np.array([1, 2]), shape=(2, 2, 4))
    assert found.winners.tolist() == [-1, -1]
    assert found.posterior[1].tolist() == [0.25] * 4
