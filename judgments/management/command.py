"""What our commands share: who acts, what they print, and how they fail."""

import json
import sys
from argparse import ArgumentTypeError
from types import ModuleType
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError

from touchstone.cli.running import BAD_INPUT, refusal, run
from touchstone.errors import DomainError


class RefusingCommand(BaseCommand):
    """A command that is quiet on success and says what was wrong with its input.

    A subclass writes `work`, which returns plain values for `--json` and may raise DomainError:
    that is said on stderr, a file's problems as `file:line: rule`, and the exit status is 2.
    Django's checks are left to `check`, `migrate` and `serve`: they import every page.
    """

    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Let `--version` mean a version of a list, not Django's."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            result = self.work(**options)
        except DomainError as error:
            self.fail([refusal(error)])
        except DatabaseError as error:
            self.fail([f"The database refused: {error}"])
        if options["json"]:
            self.stdout.write(json.dumps(result, ensure_ascii=False))
        elif result.get("note"):
            self.stdout.write(result["note"])

    def work(self, **options: Any) -> dict[str, Any]:
        """Do it; what is returned is printed with `--json`, its `note` without it too."""
        raise NotImplementedError

    def fail(self, lines: list[str]) -> NoReturn:
        """Say what was wrong and end with the status for bad input."""
        self.stderr.write("\n".join(lines))
        sys.exit(BAD_INPUT)


class LibraryCommand(BaseCommand):
    """A command of the library under `manage.py`: the same options, output and exit status."""

    requires_system_checks = ()
    library: ModuleType  # of touchstone.cli

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.help = self.library.HELP

    def add_arguments(self, parser: CommandParser) -> None:
        self.library.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        out, err = self.stdout.write, self.stderr.write
        if status := run(self.library.work, options, say=out, warn=err):
            sys.exit(status)


def add_author(parser: CommandParser) -> None:
    """The option `--by`."""
    parser.add_argument(
        "--by",
        metavar="USERNAME",
        help="username recorded in the audit log (default: “command line”)",
    )


def add_create(parser: CommandParser) -> None:
    """The option `--create`."""
    parser.add_argument(
        "--create",
        action="store_true",
        help="create unknown queries and documents as stubs (ids without text), and the collection "
        "if it is missing",
    )


def two_slugs(text: str) -> tuple[str, str]:
    """COLLECTION/LIST, or COLLECTION/RANKER, as its two parts; a type for argparse."""
    first, slash, second = text.partition("/")
    if not (first and slash and second) or "/" in second:
        raise ArgumentTypeError(f"expected COLLECTION/NAME, not {text!r}")
    return first, second
