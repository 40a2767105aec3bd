"""`suspend_account`: no one signs in or uses a token as this person any more."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from judgments.management.command import RefusingCommand, add_author


class Command(RefusingCommand):
    help = (
        "Suspend an account: sign it out, revoke its API tokens, release its leased pairs and "
        "withdraw its open invitations. Its labels are kept."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", metavar="USERNAME")
        add_author(parser)

    def work(self, **options: Any) -> dict[str, Any]:
        from config.suspending import suspend
        from judgments.management.lookup import get_account, get_author

        user, by = get_account(options["username"]), get_author(options["by"])
        ended = suspend(user=user, by=by, at=timezone.now())
        if ended and ended.collections_without_lead:
            slugs = ", ".join(ended.collections_without_lead)
            self.stderr.write(f"These collections no longer have an active lead: {slugs}.")
        done = {"username": user.username, "changed": ended is not None}
        return done | (asdict(ended) if ended else {})
