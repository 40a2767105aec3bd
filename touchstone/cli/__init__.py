"""The command `touchstone`: what needs files alone, and the client of a server.

One module a command, with `HELP`, `add_arguments(parser)` and `work(options, say, warn)`; only the
one that is asked for is imported.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from touchstone.cli.running import run, writer

COMMANDS: Final = {
    "agreement": "measure annotator agreement in a CSV of labels",
    "bulk": "evaluate rankings in Parquet that do not fit into memory",
    "clicks": "analyse a click log",
    "compare": "compare runs with a baseline: differences, intervals, p-values",
    "estimate": "correct a machine judge's mean with human labels",
    "evaluate": "evaluate runs against qrels",
    "gate": "check that a run on a server is not worse than a baseline",
    "leaderboard": "print a list's leaderboard from a server",
    "login": "save a server's URL and a token",
    "push": "upload a run to a server",
    "sample": "draw a sample of queries to judge, and estimate from it",
    "values": "print runs' per-query values from a server",
    "wait": "wait until a run on a server is evaluated",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit status: 0, or 2 for bad input; of a server's client 4 where it does
    not answer; `gate` has more. arguments: default the process's.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = ArgumentParser(
        prog="touchstone", description="Evaluate rankings against relevance judgments."
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, words_of_it in COMMANDS.items():
        own = commands.add_parser(name, help=words_of_it)
        if words[:1] == [name]:
            module = import_module(f"touchstone.cli.{name}")
            own.description = module.HELP
            module.add_arguments(own)
    options = vars(parser.parse_args(words))
    return run(module.work, options, say=writer(sys.stdout), warn=writer(sys.stderr))
