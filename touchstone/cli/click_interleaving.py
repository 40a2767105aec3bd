"""`clicks interleaving`: which of two interleaved rankers wins."""

import json
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any, Final

from touchstone.cli.running import BadOptionError, Write
from touchstone.clicks.interleaving_log import InterleavingError, InterleavingReader
from touchstone.clicks.interleaving_outcome import RESAMPLES, outcome

MOST_RESAMPLES: Final = 100_000


def add_interleaving_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument(
        "--rankers",
        nargs=2,
        metavar="NAME",
        help="the two rankers; delta > 0 means the first is better (default: sorted by name)",
    )
    parser.add_argument(
        "--bootstrap",
        type=int,
        default=RESAMPLES,
        metavar="N",
        help=f"number of bootstrap resamples of users; 0 for no interval (default: {RESAMPLES})",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed of the resamples (default: 0)"
    )


def show_interleaving(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Print the outcome. Raises FileRefused, BadOptionError and InterleavingError."""
    if options["seed"] < 0 or not 0 <= options["bootstrap"] <= MOST_RESAMPLES:
        raise BadOptionError(f"--seed must be 0 or more, --bootstrap 0 to {MOST_RESAMPLES:,}")
    reader = InterleavingReader()
    for path in options["files"]:
        reader.read(path, name=path)
    log = reader.log(options["rankers"])
    if not len(log.users):
        raise InterleavingError("No interleaved page was clicked.")
    differences = log.credits[:, 0] - log.credits[:, 1]
    result = outcome(differences, log.users, resamples=options["bootstrap"], seed=options["seed"])
    first, second = log.rankers
    clicked = len(log.users)
    if options["json"]:
        totals = dict(zip(log.rankers, log.credits.sum(axis=0).tolist(), strict=True))
        values = {
            "rankers": [first, second],
            "delta": result.delta,
            "ci": None if result.low is None else [result.low, result.high],
            "p": result.p_value,
            "wins": {first: result.wins, second: result.losses},
            "ties": result.ties,
            "credits": totals,
            "sessions": log.pages,
            "clicked": clicked,
            "users": result.users,
            "clicks_without_credit": log.without_credit,
        }
        say(json.dumps(values, ensure_ascii=False))
        return
    interval = "" if result.low is None else f"  [{result.low:+.4f}, {result.high:+.4f}]"
    say(f"delta ({first} over {second})  {result.delta:+.4f}{interval}")
    say(f"wins  {first} {result.wins:,}, {second} {result.losses:,}, ties {result.ties:,}")
    say(f"p (sign test)  {result.p_value:.4f}")
    say(f"clicked pages  {clicked:,} of {log.pages:,}, of {result.users:,} users")
    if log.without_credit:
        warn(f"Note: {log.without_credit:,} clicks have neither team nor credits and were ignored.")


ADD_ARGUMENTS: Final[Mapping[str, Callable[[ArgumentParser], None]]] = {
    "interleaving": add_interleaving_arguments
}
WORK: Final[Mapping[str, Callable[[Mapping[str, Any], Write, Write], None]]] = {
    "interleaving": show_interleaving
}
