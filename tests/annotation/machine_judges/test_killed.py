"""A worker that is killed while a judge is at work: another asks only what was in flight."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.annotation.machine_judges.endpoint import grades, running

pytestmark = pytest.mark.first_pass  # the database is the processes' own
ROOT = Path(__file__).resolve().parents[3]
AT_ONCE = 4
PAIRS = 150
START = f"""
import django; django.setup()
import sys
from annotation.machine_judges.campaigns import start_judging
from tests.annotation.machine_judges.endpoint import make_judge
from tests.builders import NOW, make_access, make_world
from tests.builders_annotation import make_draft
world = make_world(queries=3, documents={PAIRS // 3})
revision = make_judge(world, sys.argv[1], at_once={AT_ONCE})
access = make_access(collection=world.collection)
start_judging(access=access, judge=revision.judge, campaign=make_draft(world=world), at=NOW)
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
from annotation.models import JudgeAttempt
Job.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=1))
print(JudgeAttempt.objects.count())
"""
END = """
import django; django.setup()
from annotation.models import JudgeCampaign, MachineLabel
own = JudgeCampaign.objects.get()
print(own.state, own.attempts.count(), MachineLabel.objects.count())
"""


def test_a_killed_worker_loses_no_stored_answer_and_only_what_was_in_flight_is_paid_twice(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    home = make_home(tmp_path / "home")
    with running(lambda _: grades(1), seconds=0.02) as endpoint:
        variables = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "TOUCHSTONE_HOME": str(home),
            "TOUCHSTONE_OUTGOING": endpoint.entry,
        }

        def run(program: str) -> str:
            command = [sys.executable, "-c", program, endpoint.url]
            done = subprocess.run(
                command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True
            )
            return done.stdout.strip()

        run(START)
        worker = subprocess.Popen([sys.executable, "-c", WORK], cwd=ROOT, env=variables)
        begun = time.monotonic()
        while len(endpoint.asked) < PAIRS // 3 and time.monotonic() - begun < 60:
            time.sleep(0.005)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        first = len(endpoint.asked)
        stored = int(run(SILENT))
        assert 0 < stored < PAIRS
        run(WORK)
        assert run(END) == f"done {PAIRS} {PAIRS}"
    repeated = [shown for shown, count in Counter(endpoint.shown).items() if count > 1]
    assert len(endpoint.asked) - first == PAIRS - stored
    # those whose answers had come and were being stored, and those without an answer yet
    assert len(repeated) == first - stored
    assert len(repeated) <= 3 * AT_ONCE
