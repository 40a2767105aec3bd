"""`end_sessions`: sign an account out everywhere."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from judgments.management.command import RefusingCommand, add_author


class Command(RefusingCommand):
    help = "Sign an account out in all browsers."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", metavar="USERNAME")
        parser.add_argument("--tokens", action="store_true", help="also revoke its API tokens")
        add_author(parser)

    def work(self, **options: Any) -> dict[str, Any]:
        from judgments.accounts.services import end_sessions, revoke_tokens
        from judgments.management.lookup import get_account, get_author

        user, by = get_account(options["username"]), get_author(options["by"])
        at = timezone.now()
        end_sessions(user=user, by=by, at=at)
        revoked = revoke_tokens(user=user, by=by, at=at) if options["tokens"] else 0
        return {"username": user.username, "tokens": revoked}
