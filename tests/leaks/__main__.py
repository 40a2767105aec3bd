"""Can gold be told from other pairs? `python -m tests.leaks --gold 5000`.

In a database of its own (that of DATABASE_URL's server, or SQLite) people label a campaign over
REST until they have met so much gold; then a classifier tries. Exits with 1 if it can tell.
"""

import argparse
import os
import sys

import django
from django.test.utils import setup_databases, setup_test_environment, teardown_databases

MOST_AUC = 0.52


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gold", type=int, default=5_000, help="requests that are gold")
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    setup_test_environment()
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        return run(gold=words.gold, seed=words.seed)
    finally:
        teardown_databases(databases, verbosity=0)


def run(*, gold: int, seed: int) -> int:
    from tests.leaks.guess import guess
    from tests.leaks.requests import make_scene, observe

    people = 12
    queries = max(6, gold // (people * 4) + 1)
    campaign = make_scene(queries=queries, documents=45, people=people, seed=seed)
    found = guess(list(observe(campaign, seed=seed)), seed=seed)
    sys.stdout.write(f"{found}\n")
    return 0 if found.auc <= MOST_AUC and not found.is_told else 1


if __name__ == "__main__":
    sys.exit(main())
