"""A traffic log of 10 million queries: imported, a sample drawn, the sample drawn again.

    python -m benchmarks.traffic [--queries 10000000]

In a temporary SQLite database. The log is made first, by another process: queries of three words
and a number, with searches that fall off as the power 0.9 of the rank. The database is migrated by
another process, as in production. CPU time of this process, start-up included, and the most memory
that it had. Aim: imported and drawn in 60 s and 1 GiB.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.homes import temporary_home

WORDS = ("red", "shoe", "lamp", "garden", "phone", "case", "oak", "chair", "usb", "cable", "led")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--queries", type=int, default=10_000_000)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        _write_log(options.write, options.queries)
        return
    with temporary_home() as home:
        log = home / "traffic.csv"
        own = [sys.executable, "-m", "benchmarks.traffic", "--queries", str(options.queries)]
        subprocess.run([*own, "--write", str(log)], check=True)
        print(f"{options.queries:,} queries, {log.stat().st_size / 1e6:,.0f} MB of CSV")
        _measure(log)
        stored = (home / "benchmark.sqlite3").stat().st_size
        print(f"{stored / 1e6:,.0f} MB of database")


def _measure(log: Path) -> None:
    from judgments.samples.designs import Design
    from judgments.samples.drawing import is_reproduced
    from judgments.samples.services import draw_sample
    from judgments.traffic.services import store_frame
    from tests.builders import NOW, make_world
    from touchstone.sampling.traffic import read_traffic

    world = make_world()
    by = world.ada
    _say("started")
    with log.open("rb") as file:
        frame = store_frame(
            collection=world.collection,
            name="October",
            blocks=read_traffic(file, name=log.name, columns={}),
            file_name=log.name,
            by=by,
            at=NOW,
        )
    _say("imported")
    design = Design(by_size=True, cuts=(0.5, 0.9), n=600, allocation="searches")
    plan = draw_sample(
        frame=frame,
        judgment_list=world.judgments,
        name="",
        design=design,
        seed=7,
        by=by,
        at=NOW,
    )
    _say("600 queries drawn by size in three strata")
    assert is_reproduced(plan)
    _say("drawn again and compared")


def _say(what: str) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    mib = used.ru_maxrss / 1024
    print(f"{what}: {time.process_time():.1f} s of CPU time so far, {mib:,.0f} MiB", flush=True)


def _write_log(path: Path, count: int) -> None:
    rng = np.random.default_rng(1)
    words = rng.integers(0, len(WORDS), (count, 3))
    searches = np.maximum(1, 5 * count / np.arange(1, count + 1) ** 0.9).astype(np.int64)
    with path.open("w") as file:
        file.write("query,searches\n")
        for number, (row, count_) in enumerate(zip(words.tolist(), searches.tolist(), strict=True)):
            text = " ".join(WORDS[place] for place in row)
            file.write(f"{text} {number * 7919 % count},{count_}\n")


if __name__ == "__main__":
    main()
