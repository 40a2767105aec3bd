"""The keys of backups: what proves that a backup was written by this installation.

They are neither the secret key nor in the database, and in no backup: who can read a database or a
backup can't sign another one.
"""

import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from django.conf import settings

from config.backups.refusing import BackupRefused
from judgments.secrets.private_files import make_secret_file

NAME: Final = "backup_keys"
SHORTEST: Final = 32  # characters
OTHERS: Final = 0o077
CONTEXT: Final = b"touchstone backup manifest\0"  # no MAC of anything else is one of a manifest


def signing_keys() -> list[str]:
    """The keys, the one that signs first; made at the first backup in the embedded mode.

    Raises BackupRefused where production has none.
    """
    if not settings.BACKUP_KEYS and not settings.PRODUCTION:
        make_secret_file(_path())
    keys = list_keys()
    if not keys:
        raise BackupRefused(
            "backup_key_missing",
            "No key to sign the backup with. Set TOUCHSTONE_BACKUP_KEYS, or put a key of "
            f"{SHORTEST} characters or more into {_path()}, readable by its owner alone.",
        )
    return keys


def list_keys() -> list[str]:
    """The keys that a backup may have been signed with; none where there are none.

    From TOUCHSTONE_BACKUP_KEYS, or else the lines of the file `backup_keys`.
    """
    if settings.BACKUP_KEYS:
        return list(settings.BACKUP_KEYS)
    path = _path()
    if not path.exists():
        return []
    if path.stat().st_mode & OTHERS:
        raise BackupRefused(
            "backup_key_exposed", f"Others can read {path}. Run chmod 600 {path} first."
        )
    keys = [line.strip() for line in path.read_text().splitlines() if line.strip()]
    if any(len(key) < SHORTEST for key in keys):
        raise BackupRefused(
            "backup_key_short", f"A key in {path} has fewer than {SHORTEST} characters."
        )
    return keys


def manifest_mac(key: str, manifest: bytes) -> str:
    """The HMAC-SHA256 of a manifest's bytes, in hexadecimal."""
    return hmac.new(key.encode(), CONTEXT + manifest, hashlib.sha256).hexdigest()


def is_signed(mac: bytes, manifest: bytes, keys: Sequence[str]) -> bool:
    """Whether one of the keys made this MAC."""
    return any(hmac.compare_digest(manifest_mac(key, manifest).encode(), mac) for key in keys)


def _path() -> Path:
    return Path(settings.HOME) / NAME
