"""A storm by hand, longer than the suite's: `python -m tests.faults --labels 20000 --faults 60`.

For a release, every kind of fault, and labels in batches:

    python -m tests.faults --release               100,000 labels under 300 faults, PostgreSQL
    python -m tests.faults --release --embedded    20,000 labels under 100 faults, SQLite

Ten minutes without Redis, which stands still or, with `--ending stop`, is gone:

    python -m tests.faults --outage

It starts a PostgreSQL and a Redis of its own on loopback (or one embedded process), ends them,
prints what came of it, and exits with 1 if anything was lost; SIGTERM ends them too.
`--sabotage` breaks one thing first: then it must exit with 1.
"""

import argparse
import shutil
import signal
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.faults.sabotage import SABOTAGES
from tests.faults.storm import Outcome, Plan, storm_embedded, storm_in_production
from tests.services import keep_sqlite_database, private_postgres, private_redis

EVERYTHING = Plan(
    annotators=12,
    depth=20,
    think=0.0,
    batch=20,
    mishaps=0.02,
    everything=True,
    people_wait=900.0,
    lull=0.99,
    limit=4 * 3600.0,
)
RELEASE = replace(EVERYTHING, labels=100_000, faults=300)
RELEASE_EMBEDDED = replace(EVERYTHING, labels=20_000, faults=100)
# eight people, a label a second each: ten minutes from the twentieth part on
OUTAGE = Plan(
    labels=5_000, faults=0, think=1.0, ending="freeze", lull=0.05, limit=3600.0, patience=60.0
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    is_embedded = "--embedded" in sys.argv
    usual = Plan(limit=3600.0)
    if "--outage" in sys.argv:
        usual = OUTAGE
    if "--release" in sys.argv:
        usual = RELEASE_EMBEDDED if is_embedded else RELEASE
    parser.add_argument("--embedded", action="store_true", help="one process, on SQLite")
    parser.add_argument("--release", action="store_true", help="as much as for a release")
    parser.add_argument("--outage", action="store_true", help="ten minutes without Redis")
    parser.add_argument("--labels", type=int, default=usual.labels)
    parser.add_argument("--annotators", type=int, default=usual.annotators)
    parser.add_argument("--depth", type=int, default=usual.depth)
    parser.add_argument("--faults", type=int, default=usual.faults)
    parser.add_argument("--think", type=float, default=usual.think, help="seconds for a label")
    parser.add_argument("--batch", type=int, default=usual.batch, help="labels sent at once")
    parser.add_argument("--mishaps", type=float, default=usual.mishaps, help="part of the answers")
    parser.add_argument("--everything", action="store_true", default=usual.everything)
    parser.add_argument("--ending", choices=("kill", "freeze", "stop"), default=usual.ending)
    parser.add_argument("--lull", type=float, default=usual.lull, help="when the ending begins")
    parser.add_argument("--seed", type=int, default=usual.seed)
    parser.add_argument("--limit", type=float, default=usual.limit, help="seconds for all labels")
    parser.add_argument("--patience", type=float, default=usual.patience)
    parser.add_argument("--sabotage", choices=sorted(SABOTAGES), default="")
    parser.add_argument("--people-wait", type=float, default=usual.people_wait)
    words = vars(parser.parse_args())
    del words["embedded"], words["release"], words["outage"]
    for end in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(end, _leave)
    with tempfile.TemporaryDirectory(prefix="touchstone-storm-") as name:
        outcome = run(Plan(**words), Path(name), is_embedded=is_embedded)
    sys.stdout.write(f"{outcome}\n")
    return 1 if outcome.problems else 0


def _leave(number: int, _: object) -> None:
    """As Ctrl-C: every server that was started is ended on the way out."""
    sys.exit(128 + number)


def run(plan: Plan, directory: Path, *, is_embedded: bool) -> Outcome:
    """The storm on servers of its own."""
    if is_embedded:
        (home := directory / "home").mkdir()
        shutil.copy(keep_sqlite_database(home=directory), home / "touchstone.sqlite3")
        return storm_embedded(plan, directory=directory)
    with private_postgres(is_durable=True) as database_url, private_redis() as redis_url:
        return storm_in_production(
            plan, directory=directory, database_url=database_url, redis_url=redis_url
        )


if __name__ == "__main__":
    sys.exit(main())
