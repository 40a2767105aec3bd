"""Imports of judgments and a run, and the first evaluation: whole processes, on either database.

    python -m benchmarks.imports [--queries 250000] [--depth 20] [--documents 1000000] [--postgres]

Each step is a process of its own, start-up included: judgments of a list without any, the same
with other grades for a tenth, a run of as many lines, and the run's first evaluation by the
default measures. CPU time and memory are of that process; PostgreSQL's own CPU time is printed
beside it. In the end, the sizes of the largest tables and indexes.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np

ROOT: Final = Path(__file__).resolve().parents[1]
STEPS: Final = ("judgments", "again", "run", "evaluate")
FIRST: Final = "prepare"  # compile what reads large files, as once on every machine
SIZES: Final = {
    "sqlite": "SELECT name, SUM(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 12",
    "postgresql": (
        "SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relkind IN ('r', 'i') "
        "ORDER BY 2 DESC LIMIT 12"
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--queries", type=int, default=250_000)
    parser.add_argument("--depth", type=int, default=20)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--step", choices=(FIRST, *STEPS))
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.step:
        _step(options.step, options.folder)
        return
    with tempfile.TemporaryDirectory(prefix="touchstone-benchmark-") as name:
        folder = Path(name)
        _write(folder, options.queries, options.depth, options.documents)
        lines = options.queries * options.depth
        with _database(folder, is_postgres=options.postgres) as environment:
            manage = [sys.executable, "manage.py", "migrate", "-v0"]
            subprocess.run(manage, cwd=ROOT, env=environment, check=True)
            for step in (FIRST, *STEPS):
                _measure(step, folder, environment, lines)
            subprocess.run(
                [sys.executable, "-c", f"{_SETUP}\nfrom benchmarks.imports import sizes\nsizes()"],
                cwd=ROOT,
                env=environment,
                check=True,
            )


_SETUP: Final = "import django; django.setup()"


@contextmanager
def _database(folder: Path, *, is_postgres: bool) -> Iterator[dict[str, str]]:
    from tests.services import private_postgres

    environment = os.environ | {
        "TOUCHSTONE_HOME": str(folder),
        "REDIS_URL": "",
        "DATABASE_URL": f"sqlite:///{folder / 'benchmark.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    if not is_postgres:
        yield environment
        return
    with private_postgres() as url:
        yield environment | {"DATABASE_URL": url}


def _write(folder: Path, queries: int, depth: int, documents: int) -> None:
    """Judgments, the same with a tenth of other grades, and a run; ids as of a shop's catalogue."""
    rng = np.random.default_rng(1)
    with (
        (folder / "judgments").open("w") as judgments,
        (folder / "again").open("w") as again,
        (folder / "run").open("w") as run,
    ):
        for query in range(queries):
            # an odd step gives different documents
            first, step = int(rng.integers(documents)), 2 * int(rng.integers(documents // 64)) + 1
            own = [(first + place * step) % documents for place in range(depth)]
            grades = rng.integers(0, 5, depth).tolist()
            moved = (rng.random(depth) < 0.1).tolist()
            scores = rng.random(depth).tolist()
            for place, document in enumerate(own):
                pair = f"query-{query} 0 product-{document:08}"
                judgments.write(f"{pair} {grades[place]}\n")
                again.write(f"{pair} {(grades[place] + moved[place]) % 5}\n")
                run.write(
                    f"query-{query} Q0 product-{document:08} {place + 1} {scores[place]:.6f} a\n"
                )


def _measure(step: str, folder: Path, environment: dict[str, str], lines: int) -> None:
    before = _postgres_cpu()
    begun = time.perf_counter()
    words = ["-m", "benchmarks.imports", "--step", step, "--folder", str(folder)]
    child = subprocess.Popen([sys.executable, *words], cwd=ROOT, env=environment)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{step} ended with {status}")
    cpu = usage.ru_utime + usage.ru_stime
    theirs = _postgres_cpu() - before
    print(
        f"{step:10} {cpu:7.1f} s CPU, {1e6 * cpu / lines:5.1f} µs a line, "
        f"{time.perf_counter() - begun:6.1f} s, {usage.ru_maxrss / 1024:6,.0f} MiB"
        + (f"; PostgreSQL {theirs:.1f} s CPU" if theirs else ""),
        flush=True,
    )


def _postgres_cpu() -> float:
    """Seconds of all PostgreSQL processes of this process's, those that have ended included."""
    ticks = 0
    own = str(os.getpid())
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = stat.read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        parents[stat.parent.name] = (name, rest.split())
    for name, fields in parents.values():
        parent = parents.get(fields[1])
        if name == "postgres" and (fields[1] == own or (parent and parent[1][1] == own)):
            # the postmaster has the times of its children that were waited for
            ticks += sum(int(one) for one in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def _step(step: str, folder: Path) -> None:
    import django

    django.setup()
    from django.utils import timezone

    from evaluation.evaluations.refreshing import refresh_evaluations
    from evaluation.models import Ranker
    from evaluation.runs.services import read_run_file, store_run
    from judgments.imports.services import import_qrels
    from judgments.models import Collection, JudgmentList
    from touchstone.files.trec import read_qrels
    from touchstone.scales import Scale

    at = timezone.now()
    if step == FIRST:
        for _ in range(2):  # the first may still be compiling at its end
            read_qrels(folder / "judgments", name=step, scale=Scale.parse("0..4"))
            read_run_file(source=folder / "run", file_name="run")
        return
    if step == "judgments":
        collection = Collection.objects.create(slug="shop", name="Shop", created_at=at)
        JudgmentList.objects.create(
            collection=collection,
            slug="main",
            name="Main",
            scale=Scale.parse("0..4").to_json(),
            created_at=at,
        )
    judgment_list = JudgmentList.objects.select_related("collection").get()
    collection = judgment_list.collection
    if step in ("judgments", "again"):
        scale = Scale.from_json(judgment_list.scale)
        qrels = read_qrels(folder / step, name=step, scale=scale)
        done = import_qrels(
            judgment_list=judgment_list, qrels=qrels, create=True, by=None, at=at, reason=""
        )
        print(done.counts(), flush=True)
    elif step == "run":
        ranker = Ranker.objects.create(collection=collection, slug="a", name="A", created_at=at)
        read = read_run_file(source=folder / "run", file_name="run")
        store_run(ranker=ranker, read=read, name="a", by=None, at=at, create=True)
    else:
        refresh_evaluations(list_id=judgment_list.pk, at=at)


def sizes() -> None:
    """Print the largest tables and indexes."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(SIZES[connection.vendor])
        for name, size in cursor.fetchall():
            print(f"    {name:45} {int(size) / 2**20:8,.1f} MiB")


if __name__ == "__main__":
    main()
