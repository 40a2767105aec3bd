"""`rotate_secrets`: encrypt stored secrets again, with the first key."""

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from judgments.management.command import RefusingCommand


class Command(RefusingCommand):
    help = (
        "Encrypt all stored secrets (API keys of other servers) with the first encryption key. "
        "Older keys are not needed afterwards."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--new-key",
            action="store_true",
            help="first put a new key into the file encryption_keys",
        )

    def work(self, **options: Any) -> dict[str, Any]:
        from judgments.secrets.keys import KEYS
        from judgments.secrets.services import rotate_secrets

        if options["new_key"]:
            KEYS.add()
        done = rotate_secrets()
        note = f"{done.encrypted:,} encrypted with the first key."
        if done.unreadable:
            note += (
                f" {done.unreadable:,} could not be decrypted with any key and stay as they are."
            )
        return {**asdict(done), "note": note}
