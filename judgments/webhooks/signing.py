"""Signatures of Standard Webhooks: HMAC-SHA256 over id, time and body.

Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Final

PREFIX: Final = "whsec_"
SECRET_BYTES: Final = 32


def new_secret() -> str:
    """A random secret, as receivers configure it."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(secret: str, *, message_id: str, timestamp: int, body: bytes) -> str:
    """One signature, `v1,…`. timestamp: seconds since 1970, UTC."""
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def signed_headers(
    secrets_in_use: Sequence[str], *, message_id: str, at: datetime, body: bytes
) -> tuple[tuple[str, str], ...]:
    """The headers of a request. With several secrets, each signs, the newest first."""
    timestamp = int(at.timestamp())
    signatures = (
        sign(secret, message_id=message_id, timestamp=timestamp, body=body)
        for secret in secrets_in_use
    )
    return (
        ("webhook-id", message_id),
        ("webhook-timestamp", str(timestamp)),
        ("webhook-signature", " ".join(signatures)),
    )
