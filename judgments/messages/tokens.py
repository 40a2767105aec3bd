"""The secrets in links that are sent: they lie in no row, but follow from the server's key."""

from typing import Final

from django.contrib.auth.tokens import default_token_generator
from django.core import signing
from django.utils.crypto import salted_hmac

from judgments.models import User

CONFIRMATION_SALT: Final = "judgments.messages.address"
CONFIRMATION_SECONDS: Final = 3 * 24 * 3600


def invitation_token(nonce: str) -> str:
    """The token of an invitation that is sent by e-mail; no one can tell it from the nonce."""
    return salted_hmac("judgments.messages.invitation", nonce, algorithm="sha256").hexdigest()


def confirmation_token(*, user_id: int, address: str) -> str:
    """What proves to the server that a person was sent a link to this address."""
    return signing.dumps({"user": user_id, "address": address}, salt=CONFIRMATION_SALT)


def reset_token(user: User) -> str:
    """What lets a person set another password: for a day, until they sign in or set one."""
    token: str = default_token_generator.make_token(user)
    return token


def read_confirmation(token: str) -> tuple[int, str] | None:
    """Whose address a token confirms, and the address; None for one that is wrong or too old."""
    try:
        said = signing.loads(token, salt=CONFIRMATION_SALT, max_age=CONFIRMATION_SECONDS)
        return int(said["user"]), str(said["address"])
    except (signing.BadSignature, KeyError, TypeError, ValueError):
        return None
