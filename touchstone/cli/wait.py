"""`wait`: wait for the values of a run on a server."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from touchstone.cli.own_server import add_patience, add_server_arguments, open_client
from touchstone.cli.running import Write

HELP = "Wait until a run is evaluated on the newest judgments. Exit status 4 on time-out."


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN_ID", help="COLLECTION/RANKER/ID, as `push` prints it")
    add_patience(parser)
    add_server_arguments(parser)


def work(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Raises what `Client.wait` raises."""
    open_client(options, warn).wait(options["run"], patience=options["patience"])
