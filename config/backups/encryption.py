"""Encrypting a backup for public keys of age, so that the server that makes it can't read it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyrage
from pyrage.x25519 import Identity, Recipient

from config.backups.archive import create_private
from config.backups.refusing import BackupRefused

MAGIC: Final = b"age-encryption.org/v1\n"


def encrypt(*, source: Path, target: Path, recipients: Sequence[str]) -> None:
    """Write the file, encrypted for these public keys; any of their private keys decrypts it."""
    try:
        keys = [Recipient.from_str(one) for one in recipients]
    except pyrage.RecipientError as error:
        raise BackupRefused(
            "backup_recipient",
            f"TOUCHSTONE_BACKUP_RECIPIENTS must hold public keys of age: {error}",
        ) from error
    with source.open("rb") as plain, create_private(target) as sealed:
        pyrage.encrypt_io(plain, sealed, keys)


def is_encrypted(path: Path) -> bool:
    """Whether the file is one that age, or `encrypt`, wrote; False where it can't be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def decrypt(*, source: Path, target: Path, identity: Path | None) -> None:
    """Write the file, decrypted with one of the private keys in the file `identity`.

    Raises BackupRefused without the key, or where what was encrypted was changed.
    """
    if identity is None:
        raise BackupRefused(
            "backup_encrypted", "It is encrypted. Name the file with its key by --identity."
        )
    try:
        keys = _read_identities(identity)
        with source.open("rb") as sealed, create_private(target) as plain:
            pyrage.decrypt_io(sealed, plain, keys)
    except (OSError, pyrage.DecryptError) as error:
        raise BackupRefused("backup_unreadable", f"{source} can't be read: {error}") from error


def _read_identities(path: Path) -> list[Identity]:
    """The private keys in a file of age-keygen, one a line, beside comments."""
    lines = [line.strip() for line in path.read_text(errors="replace").splitlines()]
    try:
        keys = [Identity.from_str(line) for line in lines if line and not line.startswith("#")]
    except pyrage.IdentityError as error:
        raise BackupRefused("backup_identity", f"{path} has a line that is no key of age.") from (
            error
        )
    if not keys:
        raise BackupRefused("backup_identity", f"{path} has no key of age.")
    return keys
