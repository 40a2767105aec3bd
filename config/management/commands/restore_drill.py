"""`restore_drill`: whether a backup can be restored, without touching this installation."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from config.backups.command import CHECK_FAILED
from judgments.management.command import RefusingCommand


class Command(RefusingCommand):
    help = (
        "Restore a backup into a scratch database beside this installation, verify it and drop it "
        "again. Problems are listed, with exit status 1."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", metavar="FILE", type=Path)
        parser.add_argument("--identity", metavar="FILE", type=Path, help="age's private key")

    def work(self, **options: Any) -> dict[str, Any]:
        from config.backups.drill import drill

        done = drill(source=options["file"], identity=options["identity"])
        self._failed, self._problems = not done.is_clean, done.problems
        if not options["json"]:
            rows = done.found["rows"]
            self.stdout.write(
                f"Restored in {done.seconds:.1f} s and dropped again: {sum(rows.values())} rows in "
                + f"{len(rows)} tables, {len(done.found['problems'])} problems"
            )
        return {**done.found, "seconds": done.seconds}

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if self._problems:
            self.stderr.write(self._problems)
        if self._failed:
            sys.exit(CHECK_FAILED)
