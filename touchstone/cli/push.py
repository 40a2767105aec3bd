"""`push`: upload a run to a server."""

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from touchstone.cli.own_server import add_patience, add_server_arguments, open_client
from touchstone.cli.run_details import add_detail_arguments, add_order_argument, parameters_of
from touchstone.cli.running import Write

HELP = (
    "Upload a TREC run file, all or nothing. An unknown ranker is registered. Uploading the same "
    "content again gives the existing run. Invalid lines are printed."
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="TREC run file, may be gzipped")
    parser.add_argument("--to", required=True, metavar="COLLECTION/RANKER")
    parser.add_argument(
        "--name",
        metavar="RUN",
        help="name of the run, for example a commit (default: the file's name)",
    )
    parser.add_argument(
        "--create",
        action="store_true",
        help="create unknown queries and documents as stubs instead of refusing the file",
    )
    add_detail_arguments(parser)
    add_order_argument(parser)
    parser.add_argument("--wait", action="store_true", help="wait until the run is evaluated")
    add_patience(parser)
    add_server_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def work(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Raises what `Client.push` raises, and BadOptionError for a parameter given twice."""
    pushed = open_client(options, warn).push(
        options["to"],
        options["file"],
        name=options["name"],
        parameters=parameters_of(options),
        commit=options["commit"],
        tags=options["tags"],
        order=options["order"],
        create=options["create"],
        wait=options["wait"],
        patience=options["patience"],
    )
    if options["json"]:
        say(json.dumps(asdict(pushed), ensure_ascii=False))
        return
    say(f"{pushed.path}  {pushed.name}, {pushed.queries:,} queries, {pushed.rows:,} lines")
    for remark in (pushed.note, *pushed.remarks):
        if remark:
            warn(remark)
