"""`restore`: an empty installation becomes what a backup holds, checked."""

from pathlib import Path

from config.backups.archive import Manifest
from config.backups.command import BackupCommand
from evaluation.services.verifying import Verified


class Command(BackupCommand):
    help = (
        "Make an empty installation what a backup holds, bring it to this version, and verify it. "
        "What does not fit is named, with exit status 1."
    )

    def act(self, file: Path) -> tuple[Manifest, Verified]:
        from config.backups.making import restore_backup

        return restore_backup(source=file)
