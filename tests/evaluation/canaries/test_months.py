"""Simulated months of every kind of alert: few false ones, and planted changes are found.

The short form of `python -m benchmarks.canaries`.
"""

import numpy as np
import pytest

from benchmarks.canaries import (
    BY_CODE,
    CHANGES,
    COVERAGE_MARGIN,
    IN_A_ROW,
    KINDS,
    MARGIN,
    QUERIES,
    falls,
    look_at,
    simulate,
)
from touchstone.statistics.monitoring import fall_of, judge_coverage, judge_floor, judge_quality

MONTHS = 30
MORE = 100  # where shares are compared
NEAR = 0.12
BY_NAME = {change.name: change for change in CHANGES}


def outcome_of(name, months=MONTHS):
    return simulate(BY_NAME[name], months=months, seed=5)


def found(outcome):
    """The kinds of incident that open soon after the change in at least a fifth of the months."""
    return {kind for kind in KINDS if outcome.found(kind) >= 0.2}


def test_a_quiet_month_has_at_most_one_false_incident_of_all_kinds_together():
    outcome = outcome_of("none")
    assert sum(outcome.per_month(kind) for kind in KINDS) <= 1  # 0.07 in 1,000 months
    assert found(outcome) == set()


@pytest.mark.parametrize("name", ["a fall of 0.05", "a fall of 0.08"])
def test_a_planted_fall_is_found_as_theory_expects(name):
    outcome = outcome_of(name, MORE)
    assert outcome.bad["quality"] == pytest.approx(outcome.chance, abs=NEAR)
    assert outcome.found("quality") >= outcome.chance - NEAR
    assert outcome.delays("quality").min() >= IN_A_ROW - 1
    assert outcome.found("board") <= outcome.found("quality")  # its intervals are wider
    assert found(outcome) <= {"quality", "board", "threshold", "rules"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("unjudged documents first", "coverage"),
        ("a canary document lost", "rules"),
        ("slow", "latency"),
    ],
)
def test_any_other_change_is_found_as_what_it_is_and_as_nothing_else(name, kind):
    outcome = outcome_of(name)
    assert found(outcome) == {kind}
    assert outcome.found(kind) == 1.0
    assert np.median(outcome.delays(kind)) == IN_A_ROW - 1


def test_the_simulation_judges_as_the_product_does():
    rng = np.random.default_rng(3)
    shape = (40, QUERIES, 3)
    shift = rng.uniform(-0.1, 0.05, (40, 1, 1))
    base, alone = rng.random(shape), rng.random(shape)
    values = base + shift + rng.normal(0, 0.1, shape)
    apart = alone + shift * rng.integers(0, 2, (40, 1, 1)) + rng.normal(0, 0.1, shape)
    judged = rng.uniform(0.6, 1, (40, QUERIES)) - rng.uniform(0, 0.3, (40, 1))
    rank, floor = np.ones((40, QUERIES), np.int64), 0.48
    said = look_at(
        (values, apart, judged, rank), (base, alone, np.full((40, QUERIES), 0.8)), floor=floor
    )
    assert {BY_CODE[code] for code in said["quality"].tolist()} == set(BY_CODE.values())
    for row in range(40):
        both = [fall_of(one[row, :, 0]) for one in (values - base, apart - alone)]
        quality = judge_quality(both[0], margin=MARGIN, judged_only=both[1])
        coverage = judge_coverage(judged[row].mean(), baseline=0.8, margin=COVERAGE_MARGIN)
        threshold = judge_floor(
            values[row, :, 0].mean(),
            floor=floor,
            clear=MARGIN / 2,
            judged_only=apart[row, :, 0].mean(),
            coverage=coverage,
        )
        assert BY_CODE[int(said["quality"][row])] is quality
        assert BY_CODE[int(said["coverage"][row])] is coverage
        assert BY_CODE[int(said["threshold"][row])] is threshold
    wide = falls((values - base)[..., 0], (apart - alone)[..., 0], level=0.999)
    assert (wide == 1).sum() < (said["quality"] == 1).sum()
