"""Workers are killed and Redis is emptied while a data set is evaluated: the same integers.

TOUCHSTONE_LAKE_ROWS=20000000 ./run tests tests/faults/test_data_sets.py --long is its longest form.
"""

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from tests.deployment import compose_command, production_environment
from tests.faults.site import POLL, Site
from tests.touchstone.bulk.generator import interactions, write_scattered
from touchstone.bulk.local import evaluate
from touchstone.bulk.plan import Plan
from touchstone.measures.exact import to_bytes

pytestmark = [pytest.mark.postgres, pytest.mark.redis]
MEASURES = "nDCG@5 AP(rel=2)"
COLUMNS = {
    "query": ["user"],
    "document": "item",
    "score": "score",
    "grade": "grade",
    "measures": MEASURES,
    "segments": ["country"],
}
START = f"""
import django; django.setup()
import sys
from evaluation.data_sets.services import start_evaluation
from evaluation.models import DataSet
from tests.builders import NOW, make_access, make_world
from django.utils import timezone
world = make_world()
data_set = DataSet.objects.create(
    collection=world.collection, slug="nightly", created_at=NOW, rankings=sys.argv[1], **{COLUMNS}
)
access = make_access(collection=world.collection)
start_evaluation(access=access, data_set=data_set, at=timezone.now())
"""
STEP = """
SELECT count(done_at), count(*) - count(done_at) FROM evaluation_datasetportion WHERE kind = %s
"""
STATE = "SELECT state, problem FROM evaluation_datasetevaluation"
FOUND = "SELECT segment, rows, queries, sums FROM evaluation_datasetfigures ORDER BY segment"
# as a clock that jumped by minutes would: those that were killed are taken as silent
SILENT = """
UPDATE evaluation_datasetportion
SET leased_until = '2001-01-01 00:00:00+00:00', announced_at = '2001-01-01 00:00:00+00:00'
WHERE done_at IS NULL
"""
SPILL, BUCKET = 2, 3
ROWS = int(os.environ.get("TOUCHSTONE_LAKE_ROWS", "1000000"))  # of the long form
PATIENCE = 120.0  # seconds, on a slow machine that does other things as well


class Lake:
    """A server with two workers for long jobs, and what its database says of an evaluation."""

    def __init__(self, directory: Path, database_url: str, redis_url: str, rows: int) -> None:
        settings = {
            **production_environment(directory / "home", database_url, redis_url),
            "DJANGO_SETTINGS_MODULE": "tests.faults.small_portions",
            "TOUCHSTONE_DATA_SETS": str(directory / "lake"),
            "TOUCHSTONE_DATA_SETS_FOLDER": str(directory / "work"),
            "PORTION_ROWS": str(rows),
        }
        self.site = Site(directory, settings)
        self.database_url, self.redis_url = database_url, redis_url

    def start(self, name: str) -> None:
        """A worker as docker-compose starts it."""
        self.site.start(name, [*compose_command("jobs"), "-n", f"{name}@lake"])

    def ask(self, statement: str, *values: int) -> list[tuple[Any, ...]]:
        """The rows of a statement, which may also change some."""
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def wait(self, holds: Callable[[], bool]) -> None:
        """Until something holds; fails with the workers' logs if it never does."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < deadline, self.site.logs()
            time.sleep(POLL)

    def is_at(self, kind: int) -> bool:
        """Whether some portions of a step are done, and others are left."""
        ((done, left),) = self.ask(STEP, kind)
        return bool(done and left)

    def flush(self) -> None:
        """Empty Redis, with the messages that it holds."""
        with redis.Redis.from_url(self.redis_url) as client:
            client.flushall()


@pytest.mark.parametrize(
    ("rows", "strikes"), [(40_000, 2), pytest.param(ROWS, 8, marks=pytest.mark.long)]
)
def test_killed_workers_and_a_flushed_redis_change_no_integer(
    rows: int, strikes: int, tmp_path: Path, own_migrated_database_url: str, own_redis_url: str
) -> None:
    """While rows are spilled and while buckets are evaluated: a worker with its child, or the
    child alone, dies by SIGKILL, and all messages are lost.
    """
    folder = tmp_path / "lake"
    write_scattered(interactions(rows, seed=7, giant=0.1), folder, files=30)
    plan = Plan.of(
        query="user",
        document="item",
        score="score",
        grade="grade",
        measures=MEASURES,
        by="country",
    )
    counts = evaluate(plan, [str(folder)], processes=1)
    expected = [
        (name, own.rows, own.queries, to_bytes(own.sums))
        for name, own in sorted(counts.segments.items())
    ]
    lake = Lake(tmp_path, own_migrated_database_url, own_redis_url, rows // 24)
    try:
        for name in ("one", "two"):
            lake.start(name)
        lake.site.call("-c", START, str(folder))
        for strike in range(strikes):
            # no rows are left to spill once a bucket is evaluated
            kind = SPILL if 2 * strike < strikes else BUCKET
            lake.wait(partial(lake.is_at, kind))
            if strike % 2:
                lake.site.kill_child("two", 0)
            else:
                lake.site.kill("one")
                if strike + 2 < strikes:
                    lake.start("one")
            lake.flush()
            lake.ask(SILENT)
        lake.wait(lambda: lake.ask(STATE) != [("running", "")])
        assert lake.ask(STATE) == [("done", "")], lake.site.logs()
    finally:
        lake.site.stop()
    assert [(*one[:3], bytes(one[3])) for one in lake.ask(FOUND)] == expected
