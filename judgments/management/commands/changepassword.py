"""`changepassword`: in place of Django's, which leaves no trace of who changed what."""

import sys
from getpass import getpass
from typing import Any

from django.core.management.base import CommandParser

from judgments.management.command import RefusingCommand, add_author


class Command(RefusingCommand):
    help = "Change an account's password. It is prompted for twice, or read from standard input."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", metavar="USERNAME")
        parser.add_argument(
            "--keep-tokens",
            action="store_true",
            help="keep the account's API tokens; they are revoked by default",
        )
        add_author(parser)

    def work(self, **options: Any) -> dict[str, Any]:
        from django.utils import timezone

        from judgments.management.lookup import get_author, get_user
        from judgments.members.services import change_password

        user, by = get_user(options["username"]), get_author(options["by"])
        ended = change_password(
            user=user,
            password=_asked(),
            end_tokens=not options["keep_tokens"],
            by=by,
            at=timezone.now(),
        )
        return {"username": user.username, "tokens_ended": ended}


def _asked() -> str:
    from judgments.management.lookup import CommandRefused

    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    password = getpass("New password: ")
    if getpass("Repeat password: ") != password:
        raise CommandRefused("passwords_differ", "The passwords do not match.")
    return password
