"""`gate`: whether a run on a server is worse than a baseline."""

import os
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from touchstone.cli.own_server import add_server_arguments, open_client
from touchstone.cli.running import BadOptionError, Write
from touchstone.client.gate import FORMATS, Format, GateResult, summary

HELP = (
    "Compare a run with a baseline, query by query, on the same judgments: worse (exit status 1) "
    "if the interval of the mean difference lies below 0 and reaches the margin; passed (0) "
    "if it lies above the margin; else inconclusive (0, or 3 with --strict). 2 is misuse, 4 a "
    "server that does not answer."
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("list", metavar="COLLECTION/LIST")
    parser.add_argument("--run", required=True, metavar="RANKER[/RUN]", help="or an id")
    parser.add_argument("--baseline", required=True, metavar="RANKER[/RUN]", help="or an id")
    parser.add_argument("--measure", required=True, help="for example nDCG@10")
    parser.add_argument(
        "--max-drop",
        required=True,
        type=float,
        metavar="D",
        help="largest acceptable drop, for example 0.01",
    )
    parser.add_argument(
        "--level", type=float, default=0.95, help="confidence level of the interval (default: 0.95)"
    )
    parser.add_argument(
        "--version", default="head", help="judgments version: a number or a release (default: head)"
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit with 3 if the result is inconclusive"
    )
    parser.add_argument(
        "--summary",
        choices=FORMATS,
        help="print Markdown (also appended to $GITHUB_STEP_SUMMARY if set), a JUnit "
        "report, or one JSON object",
    )
    add_server_arguments(parser)
    parser.add_argument("--json", action="store_true", help="same as --summary json")


def work(options: Mapping[str, Any], say: Write, warn: Write) -> int:
    """The exit status. Raises BadOptionError, and what `Client.gate` raises."""
    if not options["max_drop"] >= 0:
        raise BadOptionError("--max-drop must be 0 or more")
    if not 0 < options["level"] < 1:
        raise BadOptionError("--level must be between 0 and 1")
    asked = {name: options[name] for name in ("run", "baseline", "measure", "max_drop", "level")}
    client = open_client(options, warn)
    result = client.gate(options["list"], **asked, version=options["version"])
    _print(result, options, say)
    return result.exit_status(strict=options["strict"])


def _print(result: GateResult, options: Mapping[str, Any], say: Write) -> None:
    form: Format | None = "json" if options["json"] else options["summary"]
    if form is None:
        say(result.sentence)
        return
    text = summary(result, form, strict=options["strict"])
    say(text)
    page = os.environ.get("GITHUB_STEP_SUMMARY")
    if form == "md" and page:
        with Path(page).open("a", encoding="utf-8") as file:
            file.write(text)
