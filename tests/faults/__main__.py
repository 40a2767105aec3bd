"""A storm by hand, longer than the suite's: `python -m tests.faults --labels 20000 --faults 60`.

It starts a PostgreSQL and a Redis of its own on loopback (or one embedded process), ends them,
prints what came of it, and exits with 1 if anything was lost. `--sabotage` breaks one thing
first: then it must exit with 1.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.faults.sabotage import SABOTAGES
from tests.faults.storm import Outcome, Plan, storm_embedded, storm_in_production
from tests.services import private_postgres, private_redis


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    usual = Plan()
    parser.add_argument("--embedded", action="store_true", help="one process, on SQLite")
    parser.add_argument("--labels", type=int, default=usual.labels)
    parser.add_argument("--annotators", type=int, default=usual.annotators)
    parser.add_argument("--depth", type=int, default=usual.depth)
    parser.add_argument("--faults", type=int, default=usual.faults)
    parser.add_argument("--think", type=float, default=usual.think, help="seconds for a label")
    parser.add_argument("--ending", choices=("kill", "freeze"), default=usual.ending)
    parser.add_argument("--lull", type=float, default=usual.lull, help="when the ending begins")
    parser.add_argument("--seed", type=int, default=usual.seed)
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds for all labels")
    parser.add_argument("--patience", type=float, default=usual.patience)
    parser.add_argument("--sabotage", choices=sorted(SABOTAGES), default="")
    words = vars(parser.parse_args())
    is_embedded = words.pop("embedded")
    with tempfile.TemporaryDirectory(prefix="touchstone-storm-") as name:
        outcome = run(Plan(**words), Path(name), is_embedded=is_embedded)
    sys.stdout.write(f"{outcome}\n")
    return 1 if outcome.problems else 0


def run(plan: Plan, directory: Path, *, is_embedded: bool) -> Outcome:
    """The storm on servers of its own."""
    if is_embedded:
        return storm_embedded(plan, directory=directory)
    with private_postgres() as database_url, private_redis() as redis_url:
        return storm_in_production(
            plan, directory=directory, database_url=database_url, redis_url=redis_url
        )


if __name__ == "__main__":
    sys.exit(main())
