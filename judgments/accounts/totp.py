"""One-time codes by the clock, as authenticator apps compute them.

Source: RFC 6238 with SHA-1, 30 seconds and six digits, which are all that every app supports.
"""

import base64
import hashlib
import hmac
import secrets
from typing import Final
from urllib.parse import quote, urlencode

STEP: Final = 30  # seconds
DIGITS: Final = 6
DRIFT: Final = 1  # steps by which a phone's clock may be off
SECRET_BYTES: Final = 20  # as long as SHA-1's output: RFC 4226, 4


def new_secret() -> str:
    """A secret, as apps take it: base32 without padding."""
    return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode()


def code_at(secret: str, step: int) -> str:
    """The code of a step: how many times STEP seconds have passed since 1970."""
    digest = hmac.new(base64.b32decode(secret), step.to_bytes(8, "big"), hashlib.sha1).digest()
    offset = digest[-1] & 0xF
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**DIGITS:0{DIGITS}d}"


def find_step(secret: str, code: str, *, seconds: float, after: int) -> int | None:
    """The step that a code is of, now or DRIFT steps beside it; None for any other code.

    seconds: since 1970. after: the last step that was used; older ones are not accepted again.
    """
    now = int(seconds // STEP)
    steps = range(max(now - DRIFT, after + 1), now + DRIFT + 1)
    result = [step for step in steps if hmac.compare_digest(code_at(secret, step), code)]
    return result[0] if result else None


def key_uri(secret: str, *, account: str, issuer: str) -> str:
    """What the QR code says to an app."""
    label = quote(f"{issuer}:{account}", safe="")
    return f"otpauth://totp/{label}?{urlencode({'secret': secret, 'issuer': issuer})}"
