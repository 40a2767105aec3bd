"""`leaderboard`: the leaderboard of a list on a server."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from touchstone.cli.own_server import (
    add_judgment_arguments,
    add_server_arguments,
    open_client,
)
from touchstone.cli.running import Write
from touchstone.tables import aligned

HELP = "Print a list's leaderboard, best run first: means and half-widths of 95 % intervals."


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("list", metavar="COLLECTION/LIST")
    add_judgment_arguments(parser)
    add_server_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the server's response")


def work(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Raises what `Client.leaderboard` raises."""
    client = open_client(options, warn)
    result = client.get_leaderboard(
        options["list"], options["measures"], version=options["version"]
    )
    if options["json"]:
        say(json.dumps(result, ensure_ascii=False))
        return
    names = [measure["name"] for measure in result["measures"]]
    rows = [["run", *names]] + [
        [f"{run['ranker']}/{run['run']}", *(_value(run["values"].get(name)) for name in names)]
        for run in result["runs"]
    ]
    say(f"{options['list']}, version {result['version']}\n{aligned(rows)}")
    if result["computing"]:
        warn("some values are still being computed")


def _value(value: Mapping[str, Any] | None) -> str:
    if value is None or value["mean"] is None:
        return "–"
    half = "" if value["high"] is None else f" ±{value['high'] - value['mean']:.4f}"
    return f"{value['mean']:.4f}{half}"
