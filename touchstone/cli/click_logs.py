"""What the commands on click logs share: their files, and which events of them are evidence."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from touchstone.cli.running import BadOptionError
from touchstone.clicks.events import EventStore
from touchstone.clicks.log import ClickLog, LogBuilder
from touchstone.clicks.log_files import read_click_log
from touchstone.clicks.ubi import USUAL_ACTIONS, Actions


def add_log_arguments(parser: ArgumentParser) -> None:
    """The files, and how to read them."""
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument(
        "--join",
        action="store_true",
        help="look up the query text by query_id for events without user_query",
    )
    parser.add_argument("--application", metavar="NAME", help="only this application's events")
    parser.add_argument(
        "--impressions",
        nargs="+",
        metavar="ACTION",
        default=list(USUAL_ACTIONS.impressions),
        help="action names that count as impressions (default: impression)",
    )
    parser.add_argument(
        "--clicks",
        nargs="+",
        metavar="ACTION",
        default=list(USUAL_ACTIONS.clicks),
        help="action names that count as clicks (default: click)",
    )


def read_log(options: Mapping[str, Any], store: EventStore) -> ClickLog:
    """The log that the options name. Raises FileRefused and BadOptionError."""
    if set(options["impressions"]) & set(options["clicks"]):
        raise BadOptionError("--impressions and --clicks can't name the same action")
    actions = Actions(tuple(options["impressions"]), tuple(options["clicks"]))
    builder = LogBuilder(store)
    for path in options["files"]:
        read_click_log(path, builder, name=path, actions=actions)
    log = builder.log(join=options["join"])
    name = options["application"]
    if name is None:
        return log
    if name not in log.applications:
        known = ", ".join(own or "events without one" for own in sorted(log.applications))
        raise BadOptionError(f"--application {name}: not in the log, which has {known}")
    return log.of_application(name)
