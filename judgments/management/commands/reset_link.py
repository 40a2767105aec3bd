"""`reset_link`: a link that lets a user set a new password."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.urls import reverse
from django.utils import timezone

from judgments.management.command import RefusingCommand, add_author


class Command(RefusingCommand):
    help = "Print the path of a link that sets another password, for one day and one use."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", metavar="USERNAME")
        add_author(parser)

    def work(self, **options: Any) -> dict[str, Any]:
        from judgments.accounts.password_reset import create_reset_token
        from judgments.management.lookup import get_account, get_author

        user, by = get_account(options["username"]), get_author(options["by"])
        token = create_reset_token(user=user, by=by, at=timezone.now())
        path = reverse("password-reset", args=[user.public_id, token])
        url = settings.SITE_URL + path
        return {"username": user.username, "url": url, "note": url}
