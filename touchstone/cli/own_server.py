"""The server that a command asks, and the options that such commands share."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from touchstone.cli.running import BadOptionError, Write
from touchstone.client.api import PATIENCE, TIMEOUT, Client
from touchstone.client.credentials import https_advice


def add_server_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--url", help="of the server (default: TOUCHSTONE_URL, else as saved)")
    parser.add_argument(
        "--timeout",
        type=float,
        default=TIMEOUT,
        metavar="SECONDS",
        help=f"that one answer may take (default: {TIMEOUT:g})",
    )


def add_judgment_arguments(parser: ArgumentParser) -> None:
    """By which measures, at which version of the judgments."""
    parser.add_argument("--measures", default="", help="such as 'nDCG@10 RR@10' (default: listed)")
    parser.add_argument("--version", default="head", help="a number or a release's name")


def add_patience(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--patience",
        type=float,
        default=PATIENCE,
        metavar="SECONDS",
        help=f"how long to wait for values (default: {PATIENCE:g})",
    )


def open_client(options: Mapping[str, Any], warn: Write) -> Client:
    """The client that the options ask for. Raises BadOptionError and ClientUsageError."""
    if not options["timeout"] > 0:
        raise BadOptionError("--timeout takes a number of seconds above 0")
    client = Client(options["url"], timeout=options["timeout"], frames="rows")
    if advice := https_advice(client.url):
        warn(f"warning: {advice}")
    return client
