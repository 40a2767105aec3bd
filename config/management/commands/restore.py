"""`restore`: an empty installation becomes what a backup holds, checked."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from config.backups.archive import Manifest
from config.backups.command import BackupCommand
from evaluation.evaluations.verifying import Verified


class Command(BackupCommand):
    help = (
        "Restore a backup into an empty installation, migrate it to this version, and verify it. "
        "Problems are listed, with exit status 1."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--unsigned",
            action="store_true",
            help="restore a backup that none of your backup keys has signed. Anyone who could "
            "write the file controls everything in it: labels, accounts, passwords, administrators",
        )
        parser.add_argument(
            "--identity", metavar="FILE", type=Path, help="age's private key, of an encrypted one"
        )

    def act(self, file: Path, **options: Any) -> tuple[Manifest, Verified]:
        from config.backups.making import list_administrators, restore_backup

        unsigned = options["unsigned"]
        from config.privacy.ledger import list_erasures, path_of_ledger

        result = restore_backup(
            source=file,
            identity=options["identity"],
            allow_unsigned=unsigned,
            at=timezone.now(),
        )
        if list_erasures() is None:
            self.stderr.write(
                f"There is no erasure ledger at {path_of_ledger()}: people erased and "
                "collections purged after this backup was made are back."
            )
        if unsigned:
            names = ", ".join(list_administrators()) or "none"
            self.stderr.write(
                "The backup's signature was not checked: anyone who could write the file controls "
                f"what is in this installation. Its administrators: {names}. "
                "See docs/operations.md#backups."
            )
        return result
