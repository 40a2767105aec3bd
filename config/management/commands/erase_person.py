"""`erase_person`: everything about a person goes, what they did stays without a name."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from judgments.management.command import RefusingCommand, add_author


class Command(RefusingCommand):
    help = (
        "Erase a person: name, address, sign-in, notes, messages and timing. Labels, grades and "
        "figures stay, under a number. It can't be undone, and is repeated by restore."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", metavar="USERNAME")
        add_author(parser)

    def work(self, **options: Any) -> dict[str, Any]:
        from config.privacy.erasing import erase_person
        from judgments.management.lookup import get_account, get_author

        user, by = get_account(options["username"]), get_author(options["by"])
        erased = erase_person(user=user, by=by, at=timezone.now())
        return {"person": str(user.public_id), **asdict(erased)}
