"""A worker that is killed while a judge is at work: another asks only what was in flight.

In batches nothing is asked twice: a batch that was made is found again by its file.
"""

import json
import os
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from tests.annotation.machine_judges.batch_endpoint import BatchServer, Lines, serving
from tests.annotation.machine_judges.endpoint import grades, running
from tests.forks import Forked, begin_forked

pytestmark = pytest.mark.first_pass  # the database is the processes' own
AT_ONCE = 4
PAIRS = 150
EXPIRED = 50  # of the first batch
START, WORK, STORE = "start", "work", "die while labels are stored"
PROGRAM = f"""
import os, signal, sys, json
import django; django.setup()
from contextlib import ExitStack
from datetime import timedelta
from django.db import connection
from django.utils import timezone
from annotation.machine_judges.campaigns import start_judging
from judgments.jobs.services import work_jobs
from judgments.models import Job
from tests.annotation.machine_judges.endpoint import make_judge
from tests.builders import NOW, make_access, make_world
from tests.builders_annotation import make_draft

def start():
    world = make_world(queries=3, documents={PAIRS // 3})
    given = json.loads(sys.argv[2])
    revision = make_judge(world, sys.argv[1], at_once={AT_ONCE}, **given)
    access = make_access(collection=world.collection)
    start_judging(access=access, judge=revision.judge, campaign=make_draft(world=world), at=NOW)

def die(execute, sql, params, many, context):
    if sql.startswith("INSERT") and "machinelabel" in sql:
        os.kill(os.getpid(), signal.SIGKILL)
    return execute(sql, params, many, context)

def work():
    # as if the silence of the one that was killed had lasted, and batches were ready
    Job.objects.filter(state="running").update(heartbeat_at=timezone.now() - timedelta(minutes=1))
    for _ in range(10):
        Job.objects.update(not_before=None)
        if not work_jobs():
            break

with ExitStack() as stack:
    if sys.argv[3] == "{STORE}":
        stack.enter_context(connection.execute_wrapper(die))
    start() if sys.argv[3] == "{START}" else work()
"""
COUNTS = """
SELECT state,
    (SELECT count(*) FROM annotation_judgeattempt WHERE outcome = 'labelled'),
    (SELECT count(*) FROM annotation_judgeattempt WHERE outcome <> 'labelled'),
    (SELECT count(*) FROM annotation_machinelabel),
    (SELECT count(*) FROM annotation_judgebatch WHERE ended_at IS NULL)
FROM annotation_judgecampaign
"""


class Workers:
    """Processes that work on a home, one after the other."""

    def __init__(self, home: Path, endpoint: Any, given: dict[str, Any]) -> None:
        self._home = home
        self._arguments = (endpoint.url, json.dumps(given))
        self._variables = {
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "TOUCHSTONE_HOME": str(home),
            "TOUCHSTONE_OUTGOING": endpoint.entry,
        }
        self._last: Forked | None = None

    def begin(self, what: str) -> int:
        """The id of a new process."""
        words = ("-c", PROGRAM, *self._arguments, what)
        self._last = begin_forked(words, env=self._variables)
        return self._last.pid

    def wait(self) -> int:
        """The code with which it ended."""
        assert self._last is not None
        code = self._last.wait(600)
        self._last.close()
        return code

    def run(self, what: str) -> None:
        """To its end."""
        self.begin(what)
        assert self.wait() == 0

    def counts(self) -> tuple[Any, ...]:
        """The campaign's state; attempts with and without a label, labels, open batches."""
        with closing(sqlite3.connect(self._home / "touchstone.sqlite3")) as database:
            return tuple(database.execute(COUNTS).fetchone())


def start_working(home: Path, endpoint: Any, **given: Any) -> Workers:
    """Of a home in which a judge of this endpoint has been asked for 150 labels."""
    own = Workers(home, endpoint, given)
    own.run(START)
    return own


def test_a_killed_worker_loses_no_stored_answer_and_only_what_was_in_flight_is_paid_twice(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    home = make_home(tmp_path / "home")
    with running(lambda _: grades(1), seconds=0.02) as endpoint:
        own = start_working(home, endpoint)
        worker, begun = own.begin(WORK), time.monotonic()
        while len(endpoint.asked) < PAIRS // 3 and time.monotonic() - begun < 60:
            time.sleep(0.005)
        os.kill(worker, signal.SIGKILL)
        assert own.wait() == -signal.SIGKILL
        first = len(endpoint.asked)
        stored = own.counts()[1]
        assert 0 < stored < PAIRS
        own.run(WORK)
        assert own.counts() == ("done", PAIRS, 0, PAIRS, 0)
    repeated = [shown for shown, count in Counter(endpoint.shown).items() if count > 1]
    assert len(endpoint.asked) - first == PAIRS - stored
    # those whose answers had come and were being stored, and those without an answer yet
    assert len(repeated) == first - stored
    assert len(repeated) <= 3 * AT_ONCE


class Killer:
    """Kills the worker that a batch endpoint talks to, at the request that a test names.

    worker: gets its id. makes_batch: the endpoint makes the batch, only its answer does not arrive.
    """

    def __init__(self) -> None:
        self.worker: SimpleQueue[int] = SimpleQueue()
        self.at = ""
        self.makes_batch = False

    def __call__(self, server: BatchServer, method: str, path: str) -> int | None:
        if f"{method} {path}" != self.at:
            return None
        self.at = ""
        if self.makes_batch:
            server.create(list(server.files)[-1])
        os.kill(self.worker.get(timeout=60), signal.SIGKILL)
        return 500


def test_batches_of_a_worker_that_is_killed_at_every_step_are_made_once_and_stored_once(
    tmp_path: Path, make_home: Callable[[Path], Path]
) -> None:
    answered = 0

    def shape(lines: Lines) -> Lines:
        """The first batch expires before its last requests are answered."""
        nonlocal answered
        answers, _ = lines
        late: list[dict[str, Any]] = []
        if not answered:
            late = [
                {"custom_id": one["custom_id"], "error": {"code": "batch_expired"}}
                for one in answers[-EXPIRED:]
            ]
            answers = answers[:-EXPIRED]
        answered += len(answers)
        return answers, late

    killer = Killer()
    home = make_home(tmp_path / "home")
    with serving(lambda _: grades(1), fault=killer, shape=shape) as server:
        own = start_working(home, server, batches=True)

        def kill(at: str, *, makes_batch: bool = False) -> tuple[Any, ...]:
            killer.at, killer.makes_batch = at, makes_batch
            worker = own.begin(at if at == STORE else WORK)
            if at != STORE:
                killer.worker.put(worker)
            assert own.wait() == -signal.SIGKILL
            return own.counts()

        nothing = ("running", 0, 0, 0, 1)
        assert kill("POST /v1/files") == nothing
        assert kill("POST /v1/batches") == nothing
        assert len(server.files) == 1
        assert server.batches == {}
        assert kill("POST /v1/batches", makes_batch=True) == nothing
        assert kill("GET /v1/files/batch_0-output/content") == nothing
        assert kill(STORE) == nothing
        stored = ("running", PAIRS - EXPIRED, EXPIRED, PAIRS - EXPIRED, 1)
        assert kill("GET /v1/files/batch_1-output/content") == stored
        own.run(WORK)
        assert own.counts() == ("done", PAIRS, EXPIRED, PAIRS, 0)
        sizes = [len(server.requests_of(batch)) for batch in server.batches.values()]
    assert sizes == [PAIRS, EXPIRED]
    assert answered == PAIRS
