"""`backup`: all of the installation in one file, checked."""

from pathlib import Path
from typing import Any

from django.utils import timezone

from config.backups.archive import Manifest
from config.backups.command import BackupCommand
from evaluation.evaluations.verifying import Verified


class Command(BackupCommand):
    help = (
        "Write a consistent backup of the whole installation to one file, without downtime. The "
        "copy is verified; problems are listed, with exit status 1."
    )

    def act(self, file: Path, **_: Any) -> tuple[Manifest, Verified]:
        from config.backups.making import make_backup

        return make_backup(target=file, at=timezone.now())
