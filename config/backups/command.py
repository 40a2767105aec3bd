"""What `backup` and `restore` share: a file, and what was found when it was checked."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from config.backups.archive import Manifest
from evaluation.evaluations.verifying import Verified
from judgments.management.command import RefusingCommand

CHECK_FAILED = 1


class BackupCommand(RefusingCommand):
    """Acts on a backup, says what it held, and ends with 1 if something in it does not fit."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", metavar="FILE", type=Path)

    def act(self, file: Path, **options: Any) -> tuple[Manifest, Verified]:
        """Make the backup or restore it."""
        raise NotImplementedError

    def work(self, **options: Any) -> dict[str, Any]:
        manifest, result = self.act(**options)
        self._problems = result.problems
        if not options["json"]:
            self.stdout.write(
                f"Made at {manifest.made_at}: "
                + f"{sum(manifest.rows.values())} rows in {len(manifest.rows)} tables; "
                + f"{result.evaluations} evaluations, {result.releases} releases "
                + f"and {result.runs} runs checked, {len(result.problems)} problems"
            )
        return {"rows": manifest.rows, "digests": manifest.releases, **vars(result)}

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if self._problems:
            self.stderr.write("\n".join(self._problems))
            sys.exit(CHECK_FAILED)
