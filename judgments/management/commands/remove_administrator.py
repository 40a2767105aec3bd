"""`remove_administrator`: one administrator fewer."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from judgments.management.command import RefusingCommand, add_author


class Command(RefusingCommand):
    help = "Remove an account as an administrator; it keeps its roles in collections."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", metavar="USERNAME")
        add_author(parser)

    def work(self, **options: Any) -> dict[str, Any]:
        from judgments.accounts.services import remove_administrator
        from judgments.management.lookup import get_account, get_author

        user, by = get_account(options["username"]), get_author(options["by"])
        changed = remove_administrator(user=user, by=by, at=timezone.now())
        return {"username": user.username, "changed": changed}
