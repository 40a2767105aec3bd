"""How fast a large leaderboard opens, two runs are compared, and an order's stability is known.

    python -m benchmarks.board [--runs 200] [--queries 10000] [--compared 8] [--data DATA]

In a temporary SQLite database, each asked for as a reader's browser asks, through every
middleware: the leaderboard of 200 made-up runs over 100 queries; the comparison of eight made-up
runs over 10,000 queries, with 10,000 resamples, their judge next and the page of their list; and
what a worker computes of how stable the order of these boards is. DATA is the folder of the public
collections: with it the same of the real runs of trec-covid-r1-sample and cast-2021. CPU and
wall-clock times of this process.
Aims: the leaderboard below 0.3 s warm, the first look at the comparison of eight 1.5 s, judge next
1 s a second look, the page of the list 0.1 s of CPU time.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.homes import temporary_home
from benchmarks.usage import timed

DEPTH: Final = 100  # of the many runs
SHORT: Final = 20  # of the two long ones
TIMES: Final = 5
REAL: Final = {
    "trec-covid-r1-sample": ("raw/qrels-rnd1.txt.gz", "0..2"),
    "cast-2021": ("raw/trec-cast-qrels-docs.2021.qrel.gz", "0..4"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--compared", type=int, default=8)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--first", metavar="SLUG", help="of an own run: a new process's first page")
    options = parser.parse_args()
    if options.first:
        _open_first(options.first, options.compared)
        return
    with temporary_home():
        from django.core.management import call_command

        if options.runs:
            _fill("many", runs=options.runs, queries=100, depth=DEPTH)
            print(f"{options.runs} runs, 100 queries, {DEPTH} documents each", flush=True)
            _measure_board("many")
            _measure_stability("many")
        _fill("long", runs=options.compared, queries=options.queries, depth=SHORT)
        words = f"{options.compared} runs, {options.queries:,} queries, {SHORT} documents each"
        print(words, flush=True)
        _measure_comparison("long", options.compared)
        _measure_pages("long")
        _measure_stability("long")
        for name, (qrels, scale) in REAL.items() if options.data else ():
            folder = options.data / name
            arguments = ("--create", "--scale", scale)
            call_command("import_qrels", f"{name}/main", str(folder / qrels), *arguments)
            for path in sorted((folder / "raw" / "runs").iterdir()):
                slug = "".join(c if c.isalnum() else "-" for c in path.name.lower())
                call_command("import_run", f"{name}/{slug}", str(path), "--create")
            _let_dora_read(name)
            print(name, flush=True)
            _measure_stability(name)


def _fill(slug: str, *, runs: int, queries: int, depth: int) -> None:
    """Runs that are good by a little more each, over documents with made-up grades."""
    from evaluation.evaluations.refreshing import refresh_evaluations
    from tests.builders import NOW, commit, make_world
    from tests.evaluation.builders import make_run

    world = make_world(slug=slug, queries=queries, documents=2 * depth)
    dice = np.random.default_rng(7)
    grades = dice.choice(5, size=(queries, 2 * depth), p=(0.6, 0.15, 0.1, 0.1, 0.05))
    commit(
        judgment_list=world.judgments,
        grades={
            (query, document): int(grades[row, place])
            for row, query in enumerate(world.queries)
            for place, document in enumerate(world.documents)
        },
    )
    docids = np.array([document.docid for document in world.documents])
    for number in range(runs):
        noise = dice.normal(0, 2.5 - number / runs, size=grades.shape)
        order = np.argsort(-(grades + noise), axis=1)[:, :depth]
        make_run(
            collection=world.collection,
            rankings={
                query.qid: docids[order[row]].tolist() for row, query in enumerate(world.queries)
            },
            ranker=f"ranker-{number:03}",
        )
    while refresh_evaluations(list_id=world.judgments.pk, at=NOW).left:
        pass


def _let_dora_read(slug: str) -> None:
    from judgments.models import Collection
    from tests.builders import make_member

    make_member(collection=Collection.objects.get(slug=slug), username="dora", role="researcher")


def _reader() -> Any:
    from django.test import Client

    from judgments.models import User

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username="dora"))
    return client


def _opener(name: str, slug: str, query: str = "") -> Callable[[], None]:
    from django.urls import reverse

    reader, address = _reader(), reverse(name, args=[slug, "main"]) + query
    reader.get(reverse("healthz"))  # a server has loaded its middleware

    def open_page() -> None:
        response = reader.get(address)
        assert response.status_code == 200, response.status_code

    return open_page


def _measure_board(slug: str) -> None:
    page = _opener("leaderboard", slug)
    timed("  leaderboard, first time", page)
    timed(f"  leaderboard, median of {TIMES}", page, times=TIMES)


def _compared(runs: int) -> str:
    return "?runs=" + ",".join(f"ranker-{number:03}" for number in range(runs))


def _open_first(slug: str, runs: int) -> None:
    """In the database that the environment names, as after a new version was deployed."""
    import django

    django.setup()
    from django.core.cache import cache

    cache.clear()
    timed("  comparison page, a new process's first", _opener("compare", slug, _compared(runs)))


def _measure_comparison(slug: str, runs: int) -> None:
    from django.core.cache import cache

    for _ in range(TIMES):
        again = ["-m", "benchmarks.board", "--first", slug, "--compared", str(runs)]
        subprocess.run([sys.executable, *again], check=True)
    query = _compared(runs)
    for name, words in (("compare", "page"), ("api-compare", "over REST")):
        cache.clear()
        page = _opener(name, slug, query)
        timed(f"  comparison {words}, nothing kept", page)
        timed(f"  comparison {words}, median of {TIMES}", page, times=TIMES)


def _measure_pages(slug: str) -> None:
    # of as many of the leading runs as the page waits for: it chooses them itself
    for name, words in (("judge-next", "judge next"), ("list", "page of the list")):
        page = _opener(name, slug)
        timed(f"  {words}, first look", page)
        timed(f"  {words}, median of {TIMES}", page, times=TIMES)


def _measure_stability(slug: str) -> None:
    from django.utils import timezone

    from evaluation.runs.selection import RunsFilters
    from evaluation.stability.queries import get_order_stability
    from evaluation.stability.services import report_stability
    from judgments.models import User
    from judgments.permissions import get_access

    access = get_access(viewer=User.objects.get(username="dora"), slug=slug)
    found = get_order_stability(access=access, slug="main", filters=RunsFilters())
    list_id, version, question = found.order.message

    def compute() -> None:
        assert report_stability(
            list_id=list_id, version=version, question=question, clock=timezone.now
        )

    opened = _opener("stability", slug)
    timed(f"  stability of {len(found.order.runs)} runs, page before it is known", opened)
    timed("  stability, computing in the worker", compute)
    timed(f"  stability, page, median of {TIMES}", opened, times=TIMES)


if __name__ == "__main__":
    main()
