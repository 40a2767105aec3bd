"""Can gold be told from other pairs? `python -m tests.leaks --gold 5000`, or with `--active`.

In a database of its own (that of DATABASE_URL's server, or SQLite) people label a campaign over
REST until they have met so much gold; then a classifier tries. With --active an adversary drives
the accounts: leases, releases, skips, retracts, waits and sends late, by a list of strategies, each
fitted on half of the accounts and campaigns and scored on the other half; --gold is what each
strategy is offered. Exits with 1 if gold can be told.
"""

import argparse
import os
import sys
import time

import django
from django.test.utils import setup_databases, setup_test_environment, teardown_databases

MOST_AUC = 0.52


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gold", type=int, default=5_000, help="requests that are gold")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--active", action="store_true", help="an adversary drives the accounts")
    parser.add_argument("--sabotage", help="with --active: a way that was open once, put back")
    words = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("TOUCHSTONE_THROTTLE", "0")  # an adversary has all the time there is
    django.setup()
    setup_test_environment()
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        if words.sabotage:
            return run_sabotage(words.sabotage, seed=words.seed)
        if words.active:
            return run_active(gold=words.gold, seed=words.seed)
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


def run_active(*, gold: int, seed: int) -> int:
    from tests.leaks.active import HEAD, attack
    from tests.leaks.notes import compare_notes

    verdicts = attack(gold=gold, seed=seed, effort=4, report=_say)
    _say(HEAD)
    for verdict in verdicts:
        _say(str(verdict))
    for are_alone, who in ((True, "nobody else"), (False, "others as fast as the two")):
        notes = compare_notes(
            seed=seed, campaigns=max(1, gold // 500), queries=6, are_alone=are_alone
        )
        _say(
            f"two accounts that compare notes, {who} (no verdict: it can't be hidden): "
            f"{notes.gold:,} gold, rate {notes.rate:.3f}, AUC {notes.auc:.3f}, "
            f"precision {notes.precision:.3f}, recall {notes.recall:.3f}, p {notes.p:.2g}"
        )
    _say(f"{time.process_time():.0f} s of processor time")
    return 0 if all(verdict.is_blind for verdict in verdicts) else 1


def run_sabotage(name: str, *, seed: int) -> int:
    from tests.leaks.active import HEAD
    from tests.leaks.sabotage import find_sabotage

    _say(HEAD)
    verdict = find_sabotage(name, seed=seed)
    _say(str(verdict))
    return 0 if verdict.is_blind else 1


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
