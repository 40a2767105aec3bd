"""`reset_second_factor`: a person who lost theirs signs in with the password alone."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from judgments.management.command import RefusingCommand, add_author


class Command(RefusingCommand):
    help = "Turn two-step sign-in of an account off, and sign it out in all browsers."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", metavar="USERNAME")
        add_author(parser)

    def work(self, **options: Any) -> dict[str, Any]:
        from judgments.accounts.second_factor import reset_second_factor
        from judgments.management.lookup import get_account, get_author

        user, by = get_account(options["username"]), get_author(options["by"])
        changed = reset_second_factor(user=user, by=by, at=timezone.now())
        return {"username": user.username, "changed": changed}
