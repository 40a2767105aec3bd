"""The keys that encrypt secrets.

They are neither the secret key nor in the database, and in no backup: who can read a database or a
backup can't read the secrets in it.
"""

import base64
import hashlib
from pathlib import Path
from typing import Final

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings

from judgments.secrets.private_files import add_secret_line, make_secret_file
from touchstone.errors import DomainError

NAME: Final = "encryption_keys"
SHORTEST: Final = 32  # characters
OTHERS: Final = 0o077
CONTEXT: Final = b"touchstone secrets\0"  # so that no key of something else is this one


class SecretRefused(DomainError):
    """The secret can't be stored, or can't be read."""


def encrypting() -> MultiFernet:
    """What encrypts with the first key; the embedded mode makes one at the first secret.

    Raises SecretRefused where production has none.
    """
    if not settings.ENCRYPTION_KEYS and not settings.PRODUCTION:
        make_secret_file(path_of_keys())
    return decrypting()


def decrypting() -> MultiFernet:
    """What decrypts with any key. Raises SecretRefused where there is none, or it is no key.

    The file is read each time: another process may just have added a key.
    """
    keys = _list_keys()
    if not keys:
        raise SecretRefused(
            "encryption_key_missing",
            "This server has no key to encrypt secrets with. An administrator sets "
            f"TOUCHSTONE_ENCRYPTION_KEYS, or puts a key into the file {NAME}.",
        )
    return MultiFernet([_fernet(key) for key in keys])


def add_key() -> None:
    """Put a new key before the others of the file.

    Raises SecretRefused where the keys are in TOUCHSTONE_ENCRYPTION_KEYS.
    """
    if settings.ENCRYPTION_KEYS:
        raise SecretRefused(
            "encryption_keys_given",
            "The keys are in TOUCHSTONE_ENCRYPTION_KEYS. Put a new one first there.",
        )
    add_secret_line(path_of_keys())


def path_of_keys() -> Path:
    """The file with the keys, one a line."""
    return Path(settings.HOME) / NAME


def _list_keys() -> list[str]:
    if settings.ENCRYPTION_KEYS:
        return list(settings.ENCRYPTION_KEYS)
    path = path_of_keys()
    if not path.exists():
        return []
    if path.stat().st_mode & OTHERS:
        raise SecretRefused(
            "encryption_key_exposed", f"Others can read {path}. Run chmod 600 {path} first."
        )
    keys = [line.strip() for line in path.read_text().splitlines() if line.strip()]
    if any(len(key) < SHORTEST for key in keys):
        raise SecretRefused(
            "encryption_key_short", f"A key in {path} has fewer than {SHORTEST} characters."
        )
    return keys


def _fernet(key: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(CONTEXT + key.encode()).digest()))
