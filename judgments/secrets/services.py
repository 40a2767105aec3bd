"""Storing, reading and erasing secrets, and encrypting them again under a new key."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cryptography.fernet import InvalidToken
from django.db import transaction

from judgments.models import Collection, Secret, User
from judgments.secrets.keys import SecretRefused, decrypting, encrypting

LONGEST: Final = 4_000  # characters
UNREADABLE: Final = (
    "The stored secret can't be decrypted with this server's keys. Enter it again, or ask an "
    "administrator for the key that encrypted it."
)


@dataclass(frozen=True)
class Rotated:
    """How many secrets are now under the first key, and how many no key could decrypt."""

    encrypted: int
    unreadable: int


def store_secret(
    *, collection: Collection | None, value: str, origin: str, by: User | None, at: datetime
) -> Secret:
    """Encrypt a secret and store it. The caller has checked that the person may, and audits it.

    origin: scheme, host and port of the only server that may get it.
    Raises SecretRefused for an empty or too long value, one with line breaks, and without a key.
    """
    if not value or len(value) > LONGEST or not value.isprintable():
        raise SecretRefused(
            "secret_invalid", f"A secret must have 1 to {LONGEST:,} visible characters on one line."
        )
    # the row that it belongs to is encrypted with it: copied to another row it can't be read
    secret = Secret(collection=collection, origin=origin, created_at=at, created_by=by)
    sealed = {"value": value, "origin": origin, "id": str(secret.public_id)}
    secret.ciphertext = encrypting().encrypt(json.dumps(sealed).encode()).decode()
    secret.save()
    return secret


def read_secret(*, secret: Secret, origin: str) -> str:
    """The value, for a request to `origin`.

    Raises SecretRefused where it was stored for another server, erased, or can't be decrypted.
    """
    if secret.origin != origin:
        raise SecretRefused(
            "secret_elsewhere",
            f"The secret was stored for {secret.origin} and is not sent to {origin}. "
            "Enter the secret of this server.",
        )
    if not secret.ciphertext:
        raise SecretRefused("secret_erased", "The secret was removed. Enter it again.")
    try:
        sealed = json.loads(decrypting().decrypt(secret.ciphertext.encode()))
    except InvalidToken as error:
        raise SecretRefused("secret_unreadable", UNREADABLE) from error
    if (sealed["origin"], sealed["id"]) != (secret.origin, str(secret.public_id)):
        raise SecretRefused("secret_unreadable", UNREADABLE)
    return str(sealed["value"])


def erase_secret(*, secret: Secret) -> None:
    """Remove the value; that there was one stays."""
    Secret.objects.filter(pk=secret.pk).update(ciphertext="")
    secret.ciphertext = ""


def rotate_secrets() -> Rotated:
    """Encrypt all secrets again with the first key. Those that no key decrypts stay as they are."""
    encrypted = unreadable = 0
    with transaction.atomic():
        for secret in Secret.objects.select_for_update().exclude(ciphertext="").order_by("pk"):
            try:
                fresh = decrypting().rotate(secret.ciphertext.encode()).decode()
            except InvalidToken:
                unreadable += 1
                continue
            Secret.objects.filter(pk=secret.pk).update(ciphertext=fresh)
            encrypted += 1
    return Rotated(encrypted, unreadable)
