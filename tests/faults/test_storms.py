"""People label while processes are killed and messages lost: nothing acknowledged is, ever.

The longer forms: `python -m tests.faults --help`.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.faults.storm import Outcome, Plan, storm_embedded, storm_in_production

SECONDS = 20.0  # until nothing is due, on a machine that does other things as well
SMALL = Plan(labels=60, faults=0, think=0.1, patience=8.0)


def check_calm(outcome: Outcome, plan: Plan) -> None:
    """Nothing lost, nothing double, everything done, and the storm was one."""
    assert outcome.problems == {}, str(outcome)
    assert len(outcome.struck) == plan.faults + 1, str(outcome)
    assert outcome.labels >= plan.labels, str(outcome)
    assert outcome.convergence_seconds is not None, str(outcome)
    assert outcome.convergence_seconds < SECONDS, str(outcome)


@pytest.mark.postgres
@pytest.mark.redis
def test_killed_workers_and_a_flushed_redis_lose_no_label_and_no_bit(
    tmp_path: Path, own_database_url: str, own_redis_url: str
) -> None:
    plan = Plan(labels=500, annotators=8, faults=6, think=0.2)
    outcome = storm_in_production(
        plan, directory=tmp_path, database_url=own_database_url, redis_url=own_redis_url
    )
    check_calm(outcome, plan)


def test_the_one_process_of_the_embedded_mode_may_be_killed_at_any_moment(tmp_path: Path) -> None:
    plan = Plan(labels=120, faults=2, think=0.2)
    check_calm(storm_embedded(plan, directory=tmp_path), plan)


@pytest.mark.parametrize(
    ("sabotage", "found"),
    [
        ("no_sweep", "still_due"),
        ("early_answers", "missing"),
        ("forgotten_query", "verify"),
    ],
)
def test_a_storm_finds_what_was_broken_on_purpose(
    sabotage: str, found: str, tmp_path: Path
) -> None:
    outcome = storm_embedded(replace(SMALL, sabotage=sabotage), directory=tmp_path)
    assert found in outcome.problems, str(outcome)


@pytest.mark.postgres
@pytest.mark.redis
@pytest.mark.parametrize(
    ("sabotage", "found"), [("counted_seats", "over_the_overlap"), ("late_flag", "wrong_grades")]
)
def test_a_storm_finds_a_race_that_was_left_open_on_purpose(
    sabotage: str, found: str, tmp_path: Path, own_database_url: str, own_redis_url: str
) -> None:
    outcome = storm_in_production(
        replace(SMALL, sabotage=sabotage),
        directory=tmp_path,
        database_url=own_database_url,
        redis_url=own_redis_url,
    )
    assert found in outcome.problems, str(outcome)
