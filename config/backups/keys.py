"""The keys of backups: what proves that a backup was written by this installation.

They are neither the secret key nor in the database, and in no backup: who can read a database or a
backup can't sign another one.
"""

import hashlib
import hmac
from collections.abc import Sequence
from typing import Final

from config.backups.refusing import BackupRefused
from judgments.secrets.key_files import KeyFile

KEYS: Final = KeyFile("backup_keys", "sign the backup with", "backup_key", BackupRefused)
CONTEXT: Final = b"touchstone backup manifest\0"  # no MAC of anything else is one of a manifest


def signing_keys() -> list[str]:
    """The keys, the one that signs first; made at the first backup in the embedded mode.

    Raises BackupRefused where production has none.
    """
    KEYS.make()
    return KEYS.require()


def manifest_mac(key: str, manifest: bytes) -> str:
    """The HMAC-SHA256 of a manifest's bytes, in hexadecimal."""
    return hmac.new(key.encode(), CONTEXT + manifest, hashlib.sha256).hexdigest()


def is_signed(mac: bytes, manifest: bytes, keys: Sequence[str]) -> bool:
    """Whether one of the keys made this MAC."""
    return any(hmac.compare_digest(manifest_mac(key, manifest).encode(), mac) for key in keys)
