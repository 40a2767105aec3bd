"""Heavy jobs are done by a process of their own, which does not outlive the worker."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

pytestmark = pytest.mark.first_pass  # the database is the processes' own
ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 180.0  # seconds
HEADER = "action,query,document,rank,query_id"
SUBMIT = f"""
import django; django.setup()
import uuid
from django.core.files.base import ContentFile
from django.utils import timezone
from judgments.jobs.services import submit_job
from judgments.models import Job
from tests.builders import make_access, make_world
world = make_world()
job = submit_job(
    access=make_access(collection=world.collection),
    kind="import_clicks",
    file=ContentFile(b"{HEADER}\\nimpression,q,d1,1,p\\nclick,q,d1,1,p\\n", name="log.csv"),
    params={{"name": "June"}},
    at=timezone.now(),
)
"""
WORK = """
import django; django.setup()
from judgments.jobs import kinds
from judgments.jobs.services import work_jobs
from judgments.models import ClickLog, Job
kinds._handlers["import_clicks"] = None  # in this process nothing could do it
work_jobs(spawn=True)
job = Job.objects.get()
is_kept = bool(job.file) and job.file.storage.exists(job.file.name)
print(job.state, ClickLog.objects.get().clicks, is_kept)
"""
CLAIM = """
token = uuid.uuid4()
Job.objects.update(state="running", token=token, heartbeat_at=timezone.now(), attempts=1)
print(job.pk, token, job.file.path)
"""
STATE = """
import django; django.setup()
from judgments.models import Job
print(Job.objects.get().state)
"""


@pytest.fixture
def environment(tmp_path: Path, make_home: Callable[[Path], Path]) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "TOUCHSTONE_HOME": str(make_home(tmp_path / "home")),
    }


def run(program: str, environment: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return done.stdout.strip()


def test_a_log_is_imported_by_another_process(environment: dict[str, str]) -> None:
    run(SUBMIT, environment)
    assert run(WORK, environment) == "done 1 False"


def test_the_process_ends_with_the_worker_and_leaves_the_job_to_another(
    environment: dict[str, str],
) -> None:
    pk, token, file = run(SUBMIT + CLAIM, environment).split()
    Path(file).unlink()
    os.mkfifo(file)  # opening it waits, and so shows that the child is at work
    command = [sys.executable, "-m", "judgments.jobs.child", pk, token]
    database = Path(environment["TOUCHSTONE_HOME"]) / "touchstone.sqlite3"
    with (
        closing(sqlite3.connect(database, isolation_level=None)) as other,
        subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE) as child,
    ):
        other.execute("BEGIN IMMEDIATE")  # until it is closed, the child can end no job
        assert child.stdin is not None
        with Path(file).open("wb"):
            child.stdin.close()
            assert child.wait(PATIENCE) == 1
    assert run(STATE, environment) == "running"
