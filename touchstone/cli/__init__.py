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
    "agreement": "agreement between the annotators of a file of labels",
    "bulk": "measures of rankings in Parquet, too many rows for memory",
    "clicks": "figures of a click log",
    "compare": "differences between runs, with intervals and p-values",
    "estimate": "a machine judge's mean, corrected by people's labels",
    "evaluate": "measures of runs",
    "gate": "whether a run on a server is worse than a baseline",
    "leaderboard": "the leaderboard of a list on a server",
    "login": "save a server's address and a token",
    "push": "upload a run to a server",
    "sample": "draw the queries to judge, and estimate from them",
    "values": "per-query values of runs on a server",
    "wait": "wait for the values of a run on a server",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit status: 0, or 2 for bad input; of a server's client 4 where it does
    not answer; `gate` has more. arguments: default the process's.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = ArgumentParser(prog="touchstone", description="Relevance judgments and rankings.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, words_of_it in COMMANDS.items():
        own = commands.add_parser(name, help=words_of_it)
        if words[:1] == [name]:
            module = import_module(f"touchstone.cli.{name}")
            own.description = module.HELP
            module.add_arguments(own)
    options = vars(parser.parse_args(words))
    return run(module.work, options, say=writer(sys.stdout), warn=writer(sys.stderr))
