"""The keys that encrypt secrets.

They are neither the secret key nor in the database, and in no backup: who can read a database or a
backup can't read the secrets in it.
"""

import base64
import hashlib
from typing import Final

from cryptography.fernet import Fernet, MultiFernet

from judgments.secrets.key_files import KeyFile
from touchstone.errors import DomainError

CONTEXT: Final = b"touchstone secrets\0"  # so that no key of something else is this one


class SecretRefused(DomainError):
    """The secret can't be stored, or can't be read."""


KEYS: Final = KeyFile("encryption_keys", "encrypt secrets with", "encryption_key", SecretRefused)


def encrypting() -> MultiFernet:
    """What encrypts with the first key; the embedded mode makes one at the first secret.

    Raises SecretRefused where production has none.
    """
    KEYS.make()
    return decrypting()


def decrypting() -> MultiFernet:
    """What decrypts with any key. Raises SecretRefused where there is none, or it is no key."""
    return MultiFernet([_fernet(key) for key in KEYS.require()])


def _fernet(key: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(CONTEXT + key.encode()).digest()))
