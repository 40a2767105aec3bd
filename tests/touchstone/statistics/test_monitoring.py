"""Alerts: one per incident, few false ones, and the delay that theory expects."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.statistics.monitoring import (
    Event,
    Fall,
    Finding,
    Watch,
    advance,
    detection_chance,
    fall_of,
    judge_coverage,
    judge_limit,
    judge_quality,
)

BAD, UNCLEAR, GOOD = Finding.BAD, Finding.UNCLEAR, Finding.GOOD
FINDINGS = st.sampled_from([BAD, UNCLEAR, GOOD, None])


def events(findings, *, in_a_row):
    watch, told = Watch(), []
    for finding in findings:
        watch, event = advance(watch, finding, in_a_row=in_a_row)
        told.append(event)
    return told


def test_an_incident_opens_after_n_in_a_row_and_alerts_once():
    told = events([BAD, BAD, GOOD, BAD, BAD, BAD, BAD, BAD], in_a_row=3)
    assert told == [None] * 5 + [Event.OPENED, None, None]


def test_it_ends_after_n_good_looks_in_a_row_and_says_so_once():
    told = events([BAD, GOOD, UNCLEAR, GOOD, BAD, GOOD, GOOD, GOOD, UNCLEAR], in_a_row=2)
    assert told == [None] * 9
    told = events([BAD, BAD, GOOD, UNCLEAR, GOOD, BAD, GOOD, GOOD, GOOD], in_a_row=2)
    assert told == [None, Event.OPENED, *[None] * 5, Event.RECOVERED, None]


def test_a_look_that_says_nothing_neither_breaks_a_streak_nor_adds_to_it():
    assert events([BAD, None, None, BAD], in_a_row=2) == [None, None, None, Event.OPENED]
    assert events([None] * 5, in_a_row=1) == [None] * 5


@given(st.lists(FINDINGS), st.integers(1, 4))
def test_events_alternate_whatever_comes(findings, in_a_row):
    told = [event for event in events(findings, in_a_row=in_a_row) if event]
    assert told == [(Event.OPENED, Event.RECOVERED)[n % 2] for n in range(len(told))]
    assert len(told) * in_a_row <= len(findings)


def test_a_fall_is_bad_only_if_its_whole_interval_is_beyond_the_margin():
    fall = Fall(n=50, difference=-0.05, low=-0.08, high=-0.02)
    assert judge_quality(fall, margin=0.01) is BAD
    assert judge_quality(fall, margin=0.02) is UNCLEAR
    assert judge_quality(fall, margin=0.1) is GOOD
    assert judge_quality(fall_of(np.array([-0.9])), margin=0.1) is UNCLEAR
    assert fall_of(np.array([])).high == inf


def test_a_fall_that_unjudged_documents_explain_is_coverage_and_not_quality():
    fall = Fall(n=50, difference=-0.2, low=-0.25, high=-0.15)
    same = Fall(n=50, difference=0.0, low=-0.02, high=0.02)
    assert judge_quality(fall, margin=0.05, judged_only=same) is UNCLEAR
    assert judge_quality(fall, margin=0.05, judged_only=fall) is BAD
    assert judge_coverage(0.6, baseline=0.95, margin=0.1) is BAD
    assert judge_coverage(0.88, baseline=0.95, margin=0.1) is UNCLEAR
    assert judge_coverage(0.94, baseline=0.95, margin=0.1) is GOOD


def test_latency_has_a_limit_and_is_over_well_below_it():
    assert [judge_limit(v, limit=1.0, clear=0.8) for v in (1.2, 0.9, 0.8)] == [BAD, UNCLEAR, GOOD]
    with pytest.raises(ValueError, match="above the limit"):
        judge_limit(1, limit=1, clear=2)
    with pytest.raises(ValueError, match="1 or more"):
        advance(Watch(), BAD, in_a_row=0)


# A month of looks: 180 snapshots, every four hours. 50 canaries and 3 boards. A tenth of the
# queries changes with each snapshot (the index) and stays so; a third has ties that flip.
MONTHS, LOOKS, QUERIES, BOARDS = 1_000, 180, 50, 3
MARGIN, IN_A_ROW = 0.02, 2
CHURN, CHURN_SPREAD, FLIP_SPREAD = 0.1, 0.08, 0.03
SPREAD = (CHURN_SPREAD**2 + FLIP_SPREAD**2 / 3) ** 0.5


def simulate(*, months, drop, at, seed):
    """Findings (months · boards, looks) as 1 bad, 0 unclear, −1 good."""
    rng = np.random.default_rng(seed)
    rows = months * BOARDS
    churn = rng.normal(0, CHURN_SPREAD, (rows, QUERIES))
    flips = rng.random((rows, QUERIES)) < 1 / 3
    found = np.zeros((rows, LOOKS), np.int8)
    for look in range(LOOKS):
        fresh = rng.random((rows, QUERIES)) < CHURN
        churn[fresh] = rng.normal(0, CHURN_SPREAD, int(fresh.sum()))
        values = churn + flips * rng.normal(0, FLIP_SPREAD, (rows, QUERIES))
        values -= drop * (look >= at)
        mean = values.mean(1)
        half = 2.0095752371292397 * values.std(1, ddof=1) / QUERIES**0.5  # t(49), 97.5 %
        found[:, look] = np.where(mean + half < -MARGIN, 1, np.where(mean >= -MARGIN / 2, -1, 0))
    return found


def opened_at(findings):
    """The looks at which incidents open, by the state machine itself."""
    by_code = {1: BAD, 0: UNCLEAR, -1: GOOD}
    watch, opened = Watch(), []
    for look, code in enumerate(findings.tolist()):
        watch, event = advance(watch, by_code[code], in_a_row=IN_A_ROW)
        if event is Event.OPENED:
            opened.append(look)
    return opened


def test_the_simulation_judges_as_the_module_does():
    rng = np.random.default_rng(1)
    values = rng.normal(-0.05, 0.1, 50)
    half = 2.0095752371292397 * values.std(ddof=1) / 50**0.5
    assert fall_of(values).high == pytest.approx(values.mean() + half, rel=1e-9)


def test_a_quiet_month_has_at_most_one_false_incident_on_average():
    findings = simulate(months=MONTHS, drop=0.0, at=LOOKS, seed=20261)
    per_month = sum(len(opened_at(row)) for row in findings) / MONTHS
    assert per_month <= 1  # 0.012 with this seed
    quiet = (findings == 1).mean()
    theory = detection_chance(drop=0, margin=MARGIN, spread=SPREAD, n=QUERIES)
    assert quiet == pytest.approx(theory, rel=0.5)


@pytest.mark.parametrize("drop", [0.05, 0.06, 0.08])
def test_a_planted_regression_is_found_as_theory_expects(drop):
    at = 60
    findings = simulate(months=200, drop=drop, at=at, seed=20262)
    chance = detection_chance(drop=drop, margin=MARGIN, spread=SPREAD, n=QUERIES)
    assert (findings[:, at + 30 :] == 1).mean() == pytest.approx(chance, abs=0.06)
    delays = [
        min((look - at for look in opened_at(row) if look >= at), default=LOOKS) for row in findings
    ]
    found = np.mean([delay < LOOKS for delay in delays])
    # looks that share most of their noise: two in a row are hardly rarer than one, so that within
    # twenty looks (in which most of the noise is another) it is found at least that often
    within = np.mean([delay < 20 for delay in delays])
    assert within >= chance - 0.05
    assert found >= within
    assert min(delays) >= IN_A_ROW - 1
    if chance > 0.9:
        assert np.median(delays) <= IN_A_ROW
