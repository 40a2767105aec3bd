"""People label while processes are killed and messages lost: nothing acknowledged is, ever.

The longer forms: `python -m tests.faults --help`.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.deployment import ROOT
from tests.faults.site import POLL
from tests.faults.storm import Outcome, Plan, storm_embedded, storm_in_production

SECONDS = 60.0  # until nothing is due, on a slow machine that does other things as well
SMALL = Plan(labels=60, faults=0, think=0.1, patience=SECONDS)
IMPATIENT = replace(SMALL, patience=8.0)  # where something stays due


def check_calm(outcome: Outcome, plan: Plan) -> None:
    """Nothing lost, nothing double, everything done, and the storm was one."""
    assert outcome.problems == {}, str(outcome)
    assert len(outcome.struck) == plan.faults + 1, str(outcome)
    assert outcome.labels >= plan.labels, str(outcome)
    assert outcome.convergence_seconds is not None, str(outcome)
    assert outcome.convergence_seconds < SECONDS, str(outcome)
    assert any(outcome.backlog.values()), str(outcome)
    assert "no pair was due any more" in outcome.stages, str(outcome)


@pytest.fixture
def at_home(tmp_path: Path, make_home: Callable[[Path], Path]) -> Path:
    """A directory with a home, for one process on SQLite."""
    return make_home(tmp_path / "home").parent


@pytest.mark.parametrize(
    ("labels", "faults"), [(40, 1), pytest.param(120, 2, marks=pytest.mark.long)]
)
def test_the_one_process_of_the_embedded_mode_may_be_killed_at_any_moment(
    labels: int, faults: int, at_home: Path
) -> None:
    """Once while people label, and again at the end; in the long form once more."""
    plan = Plan(labels=labels, faults=faults, think=0.2, patience=SECONDS)
    check_calm(storm_embedded(plan, directory=at_home), plan)


@pytest.mark.long
@pytest.mark.parametrize(
    ("sabotage", "found", "labels"),
    [
        ("no_sweep", "still_due", 20),
        ("early_answers", "missing", 20),
        ("forgotten_query", "verify", 60),  # of more than one query
    ],
)
def test_a_storm_finds_what_was_broken_on_purpose(
    sabotage: str, found: str, labels: int, at_home: Path
) -> None:
    plan = replace(IMPATIENT, labels=labels, sabotage=sabotage)
    outcome = storm_embedded(plan, directory=at_home)
    assert found in outcome.problems, str(outcome)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_storm_that_is_told_to_end_leaves_no_server_behind() -> None:
    small = ("--embedded", "--labels", "20", "--think", "60")
    command = (sys.executable, "-m", "tests.faults", *small)
    with tempfile.TemporaryDirectory() as name:  # whose path is short enough for sockets
        folder = Path(name)
        with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "TMPDIR": name}) as process:
            while not any(folder.glob("*/acknowledged/*.jsonl")):  # people have begun
                assert process.poll() is None
                time.sleep(POLL)
            assert len(processes_of(folder)) > 1
            process.send_signal(signal.SIGTERM)
        assert process.returncode == 128 + signal.SIGTERM
        assert processes_of(folder) == []
        assert list(folder.iterdir()) == []


def processes_of(directory: Path) -> list[int]:
    """Those who were told of a directory in their environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it ended meanwhile, or is someone else's
            if bytes(directory) in place.read_bytes():
                found.append(int(place.parent.name))
    return found


@pytest.fixture
def storm(
    tmp_path: Path, own_migrated_database_url: str, own_redis_url: str
) -> Callable[[Plan], Outcome]:
    """A storm in production, on servers of the test's own."""
    return partial(
        storm_in_production,
        directory=tmp_path,
        database_url=own_migrated_database_url,
        redis_url=own_redis_url,
    )


@pytest.mark.postgres
@pytest.mark.redis
@pytest.mark.parametrize(
    ("labels", "faults"), [(160, 4), pytest.param(500, 6, marks=pytest.mark.long)]
)
def test_killed_workers_and_a_flushed_redis_lose_no_label_and_no_bit(
    labels: int, faults: int, storm: Callable[[Plan], Outcome]
) -> None:
    """Each of the four kinds of fault strikes; in the long form two of them twice."""
    plan = Plan(labels=labels, annotators=8, faults=faults, think=0.2, patience=SECONDS)
    check_calm(storm(plan), plan)


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.redis
def test_a_frozen_redis_slows_no_label_much_and_delays_the_numbers_by_seconds(
    storm: Callable[[Plan], Outcome],
) -> None:
    plan = replace(SMALL, lull=0.3, ending="freeze")
    outcome = storm(plan)
    check_calm(outcome, plan)
    assert max(outcome.waits) < 3.0, str(outcome)


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.redis
@pytest.mark.parametrize(
    ("sabotage", "found", "plan"),
    [
        # all at one query: they ask for the same ten pairs at once
        ("counted_seats", "over_the_overlap", replace(IMPATIENT, labels=20)),
        # no worker dies, which would take back what it does wrong
        ("late_flag", "wrong_grades", replace(IMPATIENT, labels=120, ending="freeze")),
    ],
)
def test_a_storm_finds_a_race_that_was_left_open_on_purpose(
    sabotage: str, found: str, plan: Plan, storm: Callable[[Plan], Outcome]
) -> None:
    outcome = storm(replace(plan, sabotage=sabotage))
    assert found in outcome.problems, str(outcome)
