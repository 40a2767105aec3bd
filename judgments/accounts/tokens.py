"""Keys for scripts: named, limited in scope and time, stored hashed, shown once."""

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction

from judgments.audit import services as audit
from judgments.models import ApiToken, User
from judgments.permissions import NotFound
from touchstone.errors import DomainError

TOKEN_DAYS: Final = (7, 30, 90, 365)
MOST: Final = 50


class TokenRefused(DomainError):
    """The token can't be made like this."""


def list_token_days() -> list[int]:
    """The lives that a token may have, in days; TOUCHSTONE_TOKEN_DAYS is the longest."""
    longest: int = settings.TOKEN_DAYS
    return [days for days in TOKEN_DAYS if days < longest] + [longest]


def create_token(
    *, by: User, name: str, scope: str, days: int, at: datetime
) -> tuple[ApiToken, str]:
    """Make a token of one's own; its text can't be read again later."""
    if days not in list_token_days() or scope not in ApiToken.Scope.values:
        raise TokenRefused("token_invalid", "Choose a scope and an expiry.")
    if ApiToken.objects.filter(user=by).count() >= MOST:
        raise TokenRefused(
            "too_many_tokens", f"You already have {MOST} tokens, the maximum. Delete one first."
        )
    with transaction.atomic():
        token, text = ApiToken.objects.create(
            user=by, expiry=timedelta(days=days), name=name.strip(), scope=scope
        )
        audit.record(
            collection=None,
            actor=by,
            at=at,
            action="token.created",
            subject=token.name,
            after={"scope": scope, "days": days},
        )
    return token, text


def delete_token(*, by: User, token_key: str, at: datetime) -> None:
    """Delete a token of one's own, named by its first characters; it stops working at once."""
    with transaction.atomic():
        token = ApiToken.objects.filter(user=by, token_key=token_key).first()
        if token is None:
            raise NotFound("token")
        name = token.name
        token.delete()
        audit.record(collection=None, actor=by, at=at, action="token.deleted", subject=name)
