"""The server that a command asks, and the options that such commands share."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from touchstone.cli.running import BadOptionError, Write
from touchstone.client.api import PATIENCE, TIMEOUT, Client
from touchstone.client.credentials import https_advice


def add_server_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--url", help="server URL (default: TOUCHSTONE_URL, else the saved one)")
    parser.add_argument(
        "--timeout",
        type=float,
        default=TIMEOUT,
        metavar="SECONDS",
        help=f"time limit of one request (default: {TIMEOUT:g})",
    )


def add_judgment_arguments(parser: ArgumentParser) -> None:
    """By which measures, at which version of the judgments."""
    parser.add_argument(
        "--measures", default="", help="for example 'nDCG@10 RR@10' (default: the list's)"
    )
    parser.add_argument(
        "--version", default="head", help="version number or release name (default: head)"
    )


def add_patience(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--patience",
        type=float,
        default=PATIENCE,
        metavar="SECONDS",
        help=f"longest time to wait for values (default: {PATIENCE:g})",
    )


def open_client(options: Mapping[str, Any], warn: Write) -> Client:
    """The client that the options ask for. Raises BadOptionError and ClientUsageError."""
    if not options["timeout"] > 0:
        raise BadOptionError("--timeout must be above 0 seconds")
    client = Client(options["url"], timeout=options["timeout"], frames="rows")
    if advice := https_advice(client.url):
        warn(f"warning: {advice}")
    return client
