"""`values`: per-query values of runs on a server."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from itertools import chain
from typing import Any

from touchstone.cli.own_server import (
    add_judgment_arguments,
    add_server_arguments,
    open_client,
)
from touchstone.cli.running import Write
from touchstone.client.api import VALUES
from touchstone.files.csv_lines import csv_lines

HELP = "Print every run's value for every judged query, as CSV in full precision."


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("list", metavar="COLLECTION/LIST")
    parser.add_argument("--runs", default="", help="RANKER/RUN, RANKER or ids, comma-separated")
    add_judgment_arguments(parser)
    add_server_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the server's response")


def work(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Raises what `Client.per_query` raises."""
    client = open_client(options, warn)
    asked = {name: options[name] for name in ("measures", "runs", "version")}
    if options["json"]:
        say(json.dumps(client.get_values(options["list"], **asked), ensure_ascii=False))
        return
    rows = (row.values() for row in client.per_query(options["list"], **asked))
    say("".join(csv_lines(chain([VALUES], rows))))
