"""A forgotten password: a link, by e-mail or from an administrator, with which one sets another."""

from datetime import datetime
from uuid import UUID

from django.contrib.auth.tokens import default_token_generator
from django.db import transaction

from judgments.audit import services as audit
from judgments.members.services import change_password
from judgments.messages.channels import get_channel
from judgments.messages.kinds import EMAIL
from judgments.messages.services import queue_message
from judgments.messages.tokens import reset_token
from judgments.models import User
from judgments.permissions import NotFound
from judgments.usernames import fold


def create_reset_token(*, user: User, by: User | None, at: datetime) -> str:
    """The token of a link that sets another password, for one day and one use.

    It ends with the next sign-in too. NotFound for an account that can't be used.
    """
    if not user.is_active:
        raise NotFound("account")
    audit.record(
        collection=None,
        actor=by,
        at=at,
        action="password.reset_link_created",
        subject=user.username,
    )
    return reset_token(user)


def request_reset(*, username: str, at: datetime) -> None:
    """Send a reset link to an account's own confirmed address, at most once an hour.

    Says nothing of whether there is such an account, or such an address.
    """
    user = User.objects.filter(username_key=fold(username), is_active=True).first()
    if user is None or not user.email or not get_channel(EMAIL).is_on():
        return
    queue_message(
        channel=EMAIL,
        kind="password_reset",
        key=f"password_reset:{at:%Y-%m-%dT%H}",
        address="",
        payload={"username": user.username},
        at=at,
        recipient=user,
    )


def get_reset_account(*, account: UUID, token: str) -> User:
    """Whose password a link sets; NotFound for one that was used, or is too old or wrong."""
    user = User.objects.filter(public_id=account, is_active=True).first()
    if user is None or not default_token_generator.check_token(user, token):
        raise NotFound("link")
    return user


def reset_password(*, account: UUID, token: str, password: str, at: datetime) -> User:
    """Set another password by a link; all sessions and API tokens end.

    Raises MemberRefused for a password that is too weak.
    """
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).filter(public_id=account).first()
        user = get_reset_account(account=account, token=token)
        change_password(user=user, password=password, end_tokens=True, by=user, at=at)
    return user
