"""`login`: save a server's address and a token."""

import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from getpass import getpass
from typing import Any

from touchstone.cli.own_server import add_server_arguments, open_client
from touchstone.cli.running import BadOptionError, Write
from touchstone.client.api import Client
from touchstone.client.credentials import save_credentials

HELP = (
    "Check a server's URL and a token, and save them. The token is prompted for, or read from "
    "the first line of standard input; create one on the server's Tokens page. It is saved in the "
    "system keyring if the package keyring is installed, else in a file that only its "
    "owner can read. TOUCHSTONE_URL and TOUCHSTONE_TOKEN win over what is saved."
)


def add_arguments(parser: ArgumentParser) -> None:
    add_server_arguments(parser)


def work(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Raises BadOptionError for an empty token, and what `Client` raises."""
    client = open_client(options, warn)
    token = (getpass("Token: ") if sys.stdin.isatty() else sys.stdin.readline()).strip()
    if not token:
        raise BadOptionError("no token given")
    count = Client(client.url, token, timeout=options["timeout"]).count_collections()
    where = save_credentials(client.url, token)
    say(f"{client.url} is saved, the token in {where}. It opens {count:,} collections.")
