"""`demo`: the demo workspace, and a server for it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection, transaction
from django.utils import timezone


class Command(BaseCommand):
    help = "Build the demo workspace, then serve it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--port", type=int, default=8000, help="port to serve on (default: 8000)"
        )
        parser.add_argument(
            "--no-serve", action="store_true", help="build the workspace without serving it"
        )
        parser.add_argument("--reset", action="store_true", help="delete the SQLite database first")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError("the demo needs the embedded mode (TOUCHSTONE_MODE=embedded)")
        from config.database.migrating import migrate_what_is_due

        if options["reset"]:
            self._reset()
        migrate_what_is_due()
        self._build()
        if not options["no_serve"]:
            call_command("serve", port=options["port"], stdout=self.stdout)

    def _reset(self) -> None:
        """Remove the SQLite database of this home; another database is not ours to empty."""
        if connection.vendor != "sqlite":
            raise CommandError("--reset can only delete the SQLite database of the embedded mode")
        connection.close()
        name = str(settings.DATABASES["default"]["NAME"])
        for suffix in ("", "-wal", "-shm"):
            Path(name + suffix).unlink(missing_ok=True)

    def _build(self) -> None:
        from config.demo.people import keep_sign_ins, load_sign_ins
        from config.demo.workspace import build_workspace, is_built

        if is_built():
            self.stdout.write("The demo already exists.")
            sign_ins = load_sign_ins(settings.HOME)
            if not sign_ins:
                self.stdout.write(
                    "Its passwords are not stored here. Run `./run demo --reset` to rebuild it."
                )
        else:
            with transaction.atomic():
                built = build_workspace(
                    at=timezone.now(), say=lambda text: self.stdout.write(f"  {text}")
                )
                self._build_shop()
            self.stdout.write(
                f"  {built.documents:,} documents, {built.queries} queries, {built.runs} runs, "
                f"{built.pairs:,} pairs to judge, {built.grades:,} of them read\n"
            )
            keep_sign_ins(built.sign_ins, settings.HOME)
            sign_ins = list(built.sign_ins)
        if sign_ins:
            self.stdout.write("\nSign in as\n")
        for sign_in in sign_ins:
            self.stdout.write(f"  {sign_in.username:<12} {sign_in.password}")
        self.stdout.write("")

    def _build_shop(self) -> None:
        from config.demo.shop.building import build_shop
        from judgments.models import User

        roles = ("lead", "researcher", "annotator")
        people = {role: User.objects.get(username=role) for role in roles}
        # earlier than the documentation's campaign, with which the annotator begins
        campaign = build_shop(**people, at=timezone.now() - timedelta(days=11))
        self.stdout.write(
            f"  a shop with pictures, made up: {campaign.pairs.count()} pairs to judge\n"
        )
