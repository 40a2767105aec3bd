"""A worker that is killed in the middle of a snapshot: another asks only what was in flight."""

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.evaluation.live_rankers.engine import running
from tests.forks import begin_forked, run_forked

pytestmark = pytest.mark.first_pass  # the database is the processes' own
AT_ONCE = 4
QUERIES = 200
START = f"""
import django; django.setup()
import sys
from evaluation.live_rankers.services import start_snapshot
from tests.builders import NOW, make_access, make_world
from tests.evaluation.live_rankers.engine import make_live
world = make_world(queries={QUERIES}, documents=3)
revision = make_live(world, sys.argv[1], at_once={AT_ONCE})
access = make_access(collection=world.collection)
start_snapshot(access=access, ranker=revision.source.ranker, at=NOW)
"""
WORK = """
import django; django.setup()
from judgments.jobs.services import work_jobs
work_jobs()
"""
# as if the silence of the one that was killed had lasted
SILENT = """
import django; django.setup()
from django.utils import timezone
from datetime import timedelta
from judgments.models import Job
from evaluation.models import SnapshotAnswer
Job.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=1))
print(SnapshotAnswer.objects.count())
"""
END = """
import django; django.setup()
from evaluation.models import Snapshot
snapshot = Snapshot.objects.get()
print(snapshot.state, snapshot.answers.count(), snapshot.run.query_count)
"""


def test_a_killed_worker_loses_no_stored_answer_and_only_what_was_in_flight_is_sent_twice(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    home = make_home(tmp_path / "home")
    answer = {"results": [{"id": "d1", "score": 1.0}]}
    with running(lambda _: answer, seconds=0.02) as engine:
        variables = {
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "TOUCHSTONE_HOME": str(home),
            "TOUCHSTONE_OUTGOING": engine.entry,
        }

        def run(program: str) -> str:
            done = run_forked(("-c", program, engine.url), env=variables)
            assert done.returncode == 0, done.stderr
            return done.stdout.strip()

        run(START)
        worker = begin_forked(("-c", WORK), env=variables)
        begun = time.monotonic()
        while len(engine.asked) < QUERIES // 3 and time.monotonic() - begun < 60:
            time.sleep(0.005)
        os.kill(worker.pid, signal.SIGKILL)
        assert worker.wait(60) == -signal.SIGKILL
        worker.close()
        first = len(engine.asked)
        stored = int(run(SILENT))
        assert 0 < stored < QUERIES
        run(WORK)
        assert run(END) == f"done {QUERIES} {QUERIES}"
    repeated = [text for text, count in Counter(engine.asked).items() if count > 1]
    assert len(engine.asked) - first == QUERIES - stored
    # those whose answers had come and were being stored, and those without an answer yet
    assert len(repeated) == first - stored
    assert len(repeated) <= 3 * AT_ONCE
