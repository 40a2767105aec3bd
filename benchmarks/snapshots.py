"""How long a snapshot of a live ranker takes, from its job's begin to its run.

    python -m benchmarks.snapshots [--queries 1000] [--milliseconds 50] [--at-once 8] [--depth 100]

A search engine on loopback, a process of its own, answers each query after so many milliseconds
with `depth` documents. The snapshot is taken in this process, on SQLite in a temporary home:
requests, storing each answer, and the run with its rankings. The ideal is
queries × milliseconds / at once.
"""

import argparse
import json
import threading
import time
from typing import Any

from benchmarks.homes import other_process, temporary_home


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--milliseconds", type=float, default=50)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--engine", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        _serve(options)
        return
    with temporary_home():
        ideal = options.queries * options.milliseconds / 1000 / options.at_once
        print(f"{_measure(options):.2f} s, ideal {ideal:.2f} s")


def _serve(options: argparse.Namespace) -> None:
    """Answer until killed."""
    import django

    django.setup()
    from tests.evaluation.live_rankers.engine import results, running

    answer = json.dumps(results([(f"d{n}", 1 / n) for n in range(1, options.depth + 1)])).encode()
    with running(lambda _: (200, {}, answer), seconds=options.milliseconds / 1000) as engine:
        print(engine.url, flush=True)
        threading.Event().wait()


def _measure(options: argparse.Namespace) -> float:
    """Seconds of the job."""
    from django.conf import settings

    from evaluation.live_rankers.services import start_snapshot
    from judgments.outgoing.rules import read_origins
    from tests.builders import NOW, make_access, make_world
    from tests.evaluation.live_rankers.engine import make_live, work

    milliseconds, depth = str(options.milliseconds), str(options.depth)
    words = ("--engine", "--milliseconds", milliseconds, "--depth", depth)
    with other_process("benchmarks.snapshots", *words) as url:
        settings.OUTGOING = read_origins([f"{url}=127.0.0.0/8"])
        world = make_world(queries=options.queries, documents=options.depth)
        given: dict[str, Any] = {"at_once": options.at_once, "depth": options.depth}
        ranker = make_live(world, url, **given).source.ranker
        access = make_access(collection=world.collection, username="dora")
        snapshot = start_snapshot(access=access, ranker=ranker, at=NOW)
        begun = time.perf_counter()
        work()
        seconds = time.perf_counter() - begun
        snapshot.refresh_from_db()
        assert (snapshot.state, snapshot.answers.count()) == ("done", options.queries)
    return seconds


if __name__ == "__main__":
    main()
