"""How long a notebook waits for a server: for pushed runs, and for measures that a list lacks.

    python -m benchmarks.client [--runs 79] [--queries 40] [--depth 1000] [--data DATA]

A server on loopback, embedded mode, with its own worker and SQLite, as `./run serve` starts it.
Asked for as a client does it, wall-clock seconds from the request to the last byte:

- measures on demand, of made-up runs: posted to REST, computed by the worker, polled every 50 ms,
  and the leaderboard of them read. Each repetition asks for measures that no one asked for before;
- what every public tool would print of all these runs (the dialects), until none is computing;
- with DATA, the folder of the public collections: the 17 runs of trec-covid-r1-sample pushed in a
  loop and each waited for. tests/touchstone/client/test_real_runs.py holds their values.

Aims: 3 s for the measures, 15 s for the 17 runs.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from tests.running_server import ROOT, running_server
from touchstone import Client
from touchstone.client.connection import Connection
from touchstone.client.credentials import find_credentials

ASKED: Final = (
    "AP@1000 nDCG@1000 P@30 R@100 RR(rel=2)@1000",
    "AP@500 nDCG@500 P@25 R@200 RR(rel=3)@500",
    "AP@100 nDCG@100 P@15 R@500 RR(rel=2)@100",
)
POLL: Final = 0.05  # seconds
LIST: Final = "collections/books/lists/main"
FILL: Final = """
import json
import django
django.setup()
from benchmarks import client
print(json.dumps({{"TOUCHSTONE_TOKEN": client.{call}}}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=79)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--depth", type=int, default=1_000)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="touchstone-benchmark-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        _manage(home, "migrate", "--verbosity", "0")
        size = f"{options.runs} runs, {options.queries} queries, {options.depth:,} documents each"
        print(size, flush=True)
        call = f"fill({options.runs}, {options.queries}, {options.depth})"
        _run(home, "-c", FILL.format(call=call))
        with running_server(home, seed=FILL.format(call="token('dora')")) as found:
            credentials = find_credentials(found["TOUCHSTONE"], found["TOUCHSTONE_TOKEN"])
            server = Connection(credentials, timeout=60)
            for names in ASKED:
                _timed(f"on demand: {names}", partial(on_demand, server, names))
            again = partial(server.get, f"{LIST}/leaderboard", {"measures": ASKED[0]})
            _timed("the first of these leaderboards again", again)
            _timed("the dialects of all runs", partial(dialects, server))
        if options.data:
            _measure_pushing(options.data, Path(folder) / "covid")


def fill(runs: int, queries: int, depth: int) -> str:
    """Runs that are good by a little more each, over documents a third of which has a grade."""
    from evaluation.evaluations.refreshing import refresh_evaluations
    from tests.builders import NOW, commit, make_world
    from tests.evaluation.builders import make_run

    world = make_world(queries=queries, documents=2 * depth)
    rng = np.random.default_rng(7)
    grades = rng.choice(5, size=(queries, 2 * depth), p=(0.6, 0.15, 0.1, 0.1, 0.05))
    commit(
        judgment_list=world.judgments,
        grades={
            (query, document): int(grades[row, place])
            for row, query in enumerate(world.queries)
            for place, document in enumerate(world.documents)
            if place % 3 == 0
        },
    )
    docids = np.array([document.docid for document in world.documents])
    for number in range(runs):
        noise = rng.normal(0, 2.5 - number / runs, size=grades.shape)
        order = np.argsort(-(grades + noise), axis=1)[:, :depth]
        rankings = {q.qid: docids[order[row]].tolist() for row, q in enumerate(world.queries)}
        make_run(collection=world.collection, rankings=rankings, ranker=f"ranker-{number:03}")
    while refresh_evaluations(list_id=world.judgments.pk, at=NOW).left:
        pass
    return ""


def token(username: str) -> str:
    """Of a user who may push and read."""
    from tests.api.callers import make_token

    return make_token(username=username)


def judge(qrels: str) -> str:
    """A collection with the judgments of a file, and a researcher's token."""
    from django.core.management import call_command

    from judgments.models import Collection
    from tests.builders import make_member

    call_command("import_qrels", "covid/main", qrels, "--create", "--scale", "0..2")
    make_member(collection=Collection.objects.get(), username="dora", role="researcher")
    return token("dora")


def on_demand(server: Connection, measures: str) -> None:
    """Ask for measures, wait until every run has them, and read the leaderboard of them."""
    own = {"measures": measures}
    state = server.post_json(f"{LIST}/measures", own).data["state"]
    assert state == "computing"
    while server.get(f"{LIST}/measures", own)["state"] != "ready":
        time.sleep(POLL)
    assert not server.get(f"{LIST}/leaderboard", own)["computing"]


def dialects(server: Connection) -> None:
    """Ask for what every tool would print until all runs are there."""
    while server.get(f"{LIST}/rosetta")["computing"]:
        time.sleep(POLL)


def _measure_pushing(data: Path, home: Path) -> None:
    folder = data / "trec-covid-r1-sample" / "raw"
    home.mkdir()
    _manage(home, "migrate", "--verbosity", "0")
    call = f"judge({str(folder / 'qrels-rnd1.txt.gz')!r})"
    paths = sorted((folder / "runs").iterdir())

    def push_all(client: Client) -> None:
        for path in paths:
            client.push(f"covid/{path.name}", path, create=True, wait=True)

    with running_server(home, seed=FILL.format(call=call)) as found:
        client = Client(found["TOUCHSTONE"], found["TOUCHSTONE_TOKEN"])
        words = f"the {len(paths)} runs of {folder.parent.name}, pushed and each waited for"
        _timed(words, lambda: push_all(client))


def _timed(words: str, work: Callable[[], object]) -> None:
    began = time.perf_counter()
    work()
    print(f"  {words}: {time.perf_counter() - began:.2f} s", flush=True)


def _manage(home: Path, *words: str) -> None:
    _run(home, "manage.py", *words)


def _run(home: Path, *words: str) -> None:
    own = {"TOUCHSTONE_HOME": str(home), "DJANGO_SETTINGS_MODULE": "config.settings"}
    subprocess.run([sys.executable, *words], cwd=ROOT, env=os.environ | own, check=True)


if __name__ == "__main__":
    main()
