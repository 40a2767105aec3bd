"""The secret of what sends requests to a server: stored for that server alone, and replaced."""

from datetime import datetime
from typing import Any, Protocol

from judgments.models import Secret
from judgments.permissions import Access
from judgments.secrets.services import erase_secret, store_secret
from touchstone.errors import DomainError


class Holder(Protocol):
    """A row with a secret."""

    secret: Any

    def save(self, *, update_fields: list[str]) -> None: ...


class SecretFieldRefused(DomainError):
    """The secret does not fit its header or server. field: secret or secret_header."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__("configuration_invalid", message)
        self.field = field


def keep_secret(
    *, holder: Holder, header: str, value: str, origin: str, access: Access, at: datetime
) -> bool:
    """Store a new secret, or see that the stored one goes to the same server; whether one was
    stored, which the caller audits.

    header: that carries it; "" for none. value: "" to keep the stored one.
    Raises SecretFieldRefused, and SecretRefused for a value that can't be stored.
    """
    if not header:
        if value:
            raise SecretFieldRefused("secret_header", "Enter the header that carries the secret.")
        return False
    if not value:
        old: Secret | None = holder.secret
        if old is None or not old.ciphertext:
            raise SecretFieldRefused("secret", "Enter the secret that the header carries.")
        if old.origin != origin:
            message = f"The stored secret is for {old.origin}. Enter the one of {origin}."
            raise SecretFieldRefused("secret", message)
        return False
    drop_secret(holder)
    holder.secret = store_secret(
        collection=access.collection, value=value, origin=origin, by=access.user, at=at
    )
    holder.save(update_fields=["secret"])
    return True


def drop_secret(holder: Holder) -> bool:
    """Erase the stored secret; False where there is none."""
    old: Secret | None = holder.secret
    if old is None:
        return False
    holder.secret = None
    holder.save(update_fields=["secret"])
    erase_secret(secret=old)
    return True
