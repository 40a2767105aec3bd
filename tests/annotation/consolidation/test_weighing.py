"""One pair at a time comes to what the whole model says of it."""

import numpy as np
import pytest

from annotation.campaigns.forms import RULE_WORDS
from annotation.consolidation.rules import RULES
from annotation.consolidation.weighing import (
    WEIGHED,
    Known,
    grade_by,
    most_probable,
    posterior,
    rounded,
)
from annotation.models import Campaign
from annotation.quality.figures import quality
from tests.annotation.quality.test_figures import material
from tests.annotation.simulated_campaign import GRADES, simulate
from touchstone.agreement.dawid_skene import PRIORS, dawid_skene
from touchstone.agreement.reliability import RIGHT_BEFORE, WRONG_BEFORE, weighted_vote


@pytest.fixture(scope="module")
def simulated():
    return simulate(seed=3)


@pytest.fixture(scope="module")
def known(simulated):
    people = [100 + place for place in range(len(simulated.people))]
    return Known.of(quality(material(simulated)) | {"people": people})


def said_of(labels, unit):
    own = np.flatnonzero(labels.units == unit)
    return [(100 + int(labels.annotators[at]), int(labels.steps[at])) for at in own]


@pytest.mark.parametrize("rule", ["dawid_skene", "reliability"])
def test_a_pair_alone_has_the_posterior_of_the_whole_fit(simulated, known, rule):
    labels = simulated.labels
    fit = dawid_skene if rule == "dawid_skene" else weighted_vote
    whole = fit(labels.units, labels.annotators, labels.steps, shape=labels.shape).posterior
    for unit in range(0, 400, 7):
        found = posterior(rule, said_of(labels, unit), known, GRADES)
        assert found == pytest.approx(tuple(whole[unit]), abs=1e-9)
        assert sum(found) == pytest.approx(1)


@pytest.mark.parametrize("rule", ["dawid_skene", "reliability"])
def test_weighed_grades_are_right_more_often_than_the_majority(simulated, known, rule):
    labels, right, plain = simulated.labels, 0, 0
    for unit, truth in enumerate(simulated.truth):
        said = said_of(labels, unit)
        right += most_probable(posterior(rule, said, known, GRADES)) == truth
        steps = [step for _, step in said]
        most = [step for step in set(steps) if steps.count(step) == max(map(steps.count, steps))]
        plain += most == [truth]
    assert right > plain + 20


def test_of_people_whom_nobody_knows_yet_the_majority_counts_and_equals_tie():
    for rule in ("dawid_skene", "reliability"):
        assert most_probable(posterior(rule, [(1, 2), (2, 2), (3, 0)], Known(), 4)) == 2
        assert most_probable(posterior(rule, [(1, 2), (2, 0)], Known(), 4)) is None
    assert Known.of({"labels": 0}) == Known()


@pytest.mark.parametrize(
    ("rule", "right"),
    [
        ("dawid_skene", PRIORS.right / (PRIORS.right + 3 * PRIORS.wrong)),
        ("reliability", RIGHT_BEFORE / (RIGHT_BEFORE + WRONG_BEFORE)),
    ],
)
def test_a_stranger_is_as_often_right_as_people_are_before_anything_is_known(rule, right):
    wrong = (1 - right) / 3
    found = posterior(rule, [(1, 2)], Known(), 4)
    assert found == pytest.approx((wrong, wrong, right, wrong))


CODES = (-2, 0, 3)


def test_a_rule_that_weighs_gives_the_code_of_the_likeliest_grade_and_how_likely_each_is():
    grade, likely = grade_by("dawid_skene", [1, 2, 3], [3, 3, -2], CODES, Known())
    assert grade == 3
    assert likely == posterior("dawid_skene", [(1, 2), (2, 2), (3, 0)], Known(), 3)
    assert grade_by("dawid_skene", [1, 2], [3, -2], CODES, Known())[0] is None


def test_a_rule_that_counts_knows_no_probabilities():
    assert grade_by("majority", [1, 2, 3], [3, 3, -2], CODES, Known()) == (3, ())
    assert grade_by("median", [1, 2, 3], [3, 0, -2], CODES, Known()) == (0, ())
    assert grade_by("majority", [1, 2], [3, -2], CODES, Known()) == (None, ())


def test_the_order_of_the_labels_changes_no_digit(known):
    said = [(100, 1), (103, 2), (107, 2)]
    assert posterior("dawid_skene", said, known, 5) == posterior(
        "dawid_skene", said[::-1], known, 5
    )
    assert rounded([0.12345678, 1.0]) == [0.123457, 1.0]


def test_every_rule_that_can_be_chosen_is_computed_and_has_words() -> None:
    chosen = set(Campaign.Rule.values)
    assert chosen == set(RULES) | set(WEIGHED)
    assert chosen == set(RULE_WORDS)
