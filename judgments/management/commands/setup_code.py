"""`setup_code`: the code for creating the first account."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    help = "Print the code for creating the first account in the browser."

    def handle(self, *args: Any, **options: Any) -> None:
        from judgments.members.services import is_set_up, setup_code

        if is_set_up():
            raise CommandError(
                "An account already exists. The set-up code is no longer needed.", returncode=1
            )
        self.stdout.write(setup_code())
