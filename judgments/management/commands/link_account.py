"""`link_account`: let a person at the identity provider sign in as an account that exists."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from judgments.management.command import RefusingCommand, add_author


class Command(RefusingCommand):
    help = "Link an account to a subject of the identity provider (TOUCHSTONE_SIGN_ON_ISSUER)."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", metavar="USERNAME")
        parser.add_argument("subject", metavar="SUBJECT", help="the sub of the person’s ID tokens")
        add_author(parser)

    def work(self, **options: Any) -> dict[str, Any]:
        from judgments.management.lookup import get_account, get_author

        if not settings.SIGN_ON_ISSUER:
            raise CommandError("Sign-on is off: TOUCHSTONE_SIGN_ON_ISSUER is not set.")
        from judgments.sign_on.linking import link_account

        user, by = get_account(options["username"]), get_author(options["by"])
        changed = link_account(user=user, subject=options["subject"], by=by, at=timezone.now())
        return {"username": user.username, "changed": changed}
