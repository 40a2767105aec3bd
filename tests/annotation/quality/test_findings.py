"""Whom a report names, and whom it must not: the short form of what
`python -m tests.annotation.simulated_campaign` counts over two hundred campaigns of each sort."""

from dataclasses import replace

import numpy as np
import pytest

from annotation.quality.findings import estimate_leans
from annotation.quality.profiles import Checks
from tests.annotation.false_alarms import Tally, tally_same, tally_varied
from tests.annotation.real_crowds import FILES, count_splits
from tests.annotation.simulated_campaign import (
    ACCURACY,
    GRADES,
    PREVALENCE,
    assess_all,
    label_like,
    profiles_of,
    simulate,
)
from tests.annotation.simulated_crowds import simulate_crowd


@pytest.fixture(scope="module")
def varied() -> Tally:
    return tally_varied(range(1_000, 1_040))


def test_people_at_or_above_the_median_are_hardly_ever_named_where_campaigns_differ(varied):
    # leaning majorities, misleading pairs, quick people who are right, few checks or none
    assert varied.good > 300
    assert varied.upper_bound <= 0.05


@pytest.mark.parametrize("gold", [0, 24])
def test_careful_people_are_hardly_ever_named(gold):
    tally = tally_same(range(1_000, 1_015), gold=gold)
    assert tally.good == 90
    assert tally.upper_bound <= 0.05


def test_spammers_with_enough_checks_are_named(varied):
    named, spammers = varied.spammers()
    assert named / spammers > 0.6
    named, spammers = tally_same(range(1_000, 1_010), gold=24).spammers()
    assert named == spammers == 20


def test_intervals_of_accuracy_hold_the_truth(varied):
    assert varied.covered / varied.told > 0.9


def test_the_true_accuracies_are_what_they_are_said_to_be():
    crowd = simulate_crowd(4)
    labels = crowd.labels
    right = labels.steps == crowd.truth[labels.units]
    many = np.bincount(labels.annotators) >= 100
    shares = np.bincount(labels.annotators, right) / np.bincount(labels.annotators)
    assert np.abs(shares - crowd.accuracy)[many].max() < 0.15
    rng = np.random.default_rng(0)
    for kind, accuracy in ACCURACY.items():
        truth = rng.choice(GRADES, 2_000, p=PREVALENCE)
        said = [
            label_like(kind, truth=int(true), has_turned=bool(place % 2), rng=rng)[0]
            for place, true in enumerate(truth)
        ]
        assert (np.array(said) == truth).mean() == pytest.approx(accuracy, abs=0.04)


def test_somebody_quick_who_is_right_is_noted_and_not_named():
    made = simulate(seed=2, planted=("always 2",), gold=24)
    seconds = np.where(made.labels.annotators == 0, 1.0, made.labels.seconds)
    assessed = assess_all(replace(made.labels, seconds=seconds), made.checks)
    assert assessed[0].findings == ()
    assert [note.kind for note in assessed[0].notes] == ["hasty"]
    assert [finding.kind for finding in assessed[6].findings] == ["one_grade"]


def test_a_crowd_that_leans_is_put_right_by_the_gold_of_some():
    made = simulate(seed=3, careful=2, planted=("generous",) * 4)
    gold = simulate(seed=3, careful=2, planted=("generous",) * 4, gold=24).checks
    of_two = np.isin(gold.annotators, (0, 2))
    some = Checks(*(part[of_two] for part in list(vars(gold).values())[:4]))
    leans = estimate_leans(profiles_of(made.labels, some))
    assert leans.is_absolute
    assert np.abs(leans.steps[:2]).max() < 0.3 < leans.steps[2:].min()
    without = estimate_leans(
        profiles_of(made.labels, Checks(*(part[:0] for part in vars(gold).values())))
    )
    assert not without.is_absolute
    assert without.steps[:2].max() < -0.3


def test_too_little_is_known_of_people_with_few_labels():
    made = simulate(seed=2, pairs=60, gold=5)
    assert not any(one.is_known for one in assess_all(made.labels, made.checks))
    made = simulate(seed=2, pairs=60, gold=10)
    assert all(one.is_known for one in assess_all(made.labels, made.checks))


@pytest.mark.data
@pytest.mark.parametrize("file", FILES)
def test_a_real_crowds_claims_and_people_are_judged_by_half_of_its_gold(data_dir, file):
    found = count_splits(data_dir, file, splits=2)
    assert found.rate < 0.05
    claimed, calibrated, _, _, right = np.mean(found.claims, axis=0)
    assert claimed - right > 0.1
    assert abs(calibrated - right) < 0.05
