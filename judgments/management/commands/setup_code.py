"""`setup_code`: what whoever makes the first account has to know."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    help = "Print the code for making the first account in the browser."

    def handle(self, *args: Any, **options: Any) -> None:
        from judgments.members.services import is_set_up, setup_code

        if is_set_up():
            raise CommandError("There is an account already; the code is of no use.", returncode=1)
        self.stdout.write(setup_code())
