"""Accounts of the installation: suspend, resume, and who administers it. For commands."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F

from judgments.audit import services as audit
from judgments.models import ApiToken, Invitation, Session, User
from touchstone.errors import DomainError


class AccountRefused(DomainError):
    """This can't be done to this account."""


@dataclass(frozen=True)
class Suspended:
    """What a suspension ended."""

    sessions: int
    tokens: int
    invitations: int


def suspend_account(*, user: User, by: User | None, at: datetime) -> Suspended | None:
    """Suspend an account; None if it is suspended already.

    No one signs in or uses a token as this person until `resume_account`, which brings back
    neither sessions nor tokens. Open invitations that they made are withdrawn: with one they could
    come back under another name. Labels, memberships and pseudonyms stay. by: None for the command
    line. Raises AccountRefused for the last active administrator, and for a name that imported
    labels came with.
    """
    with transaction.atomic():
        # in the order of their keys, so that two who suspend each other's account take turns
        admins = _lock(is_superuser=True, is_active=True)
        account = _get_locked(user)
        if account.is_suspended:
            return None
        if not account.is_active:
            raise AccountRefused(
                "no_account", f"{account.username} is an imported name without a login."
            )
        _check_not_last(account, admins)
        User.objects.filter(pk=account.pk).update(is_active=False, suspended_at=at)
        ended = Suspended(
            sessions=_end_sessions(account),
            tokens=_end_tokens(account),
            invitations=Invitation.objects.filter(
                created_by=account, accepted_at=None, withdrawn_at=None
            ).update(withdrawn_at=at),
        )
        after = {
            "sessions_ended": ended.sessions,
            "tokens_ended": ended.tokens,
            "invitations_withdrawn": ended.invitations,
        }
        _record("account.suspended", account, by, at, after=after)
    return ended


def resume_account(*, user: User, by: User | None, at: datetime) -> bool:
    """End an account's suspension; False if it is not suspended. They sign in as before."""
    with transaction.atomic():
        account = _get_locked(user)
        if not account.is_suspended:
            return False
        # what a request under way made while the account was suspended
        _end_sessions(account)
        _end_tokens(account)
        before = {"suspended_at": account.suspended_at.isoformat()} if account.suspended_at else {}
        User.objects.filter(pk=account.pk).update(is_active=True, suspended_at=None)
        _record("account.resumed", account, by, at, before=before)
    return True


def make_administrator(*, user: User, by: User | None, at: datetime) -> bool:
    """Let an account read everything and manage all members; False if it does already.

    Raises AccountRefused for an account that is suspended, and for a name without an account.
    """
    with transaction.atomic():
        account = _get_locked(user)
        if not account.is_active:
            reason = (
                "is suspended" if account.is_suspended else "is an imported name without a login"
            )
            raise AccountRefused("not_active", f"{account.username} {reason}.")
        if account.is_superuser:
            return False
        User.objects.filter(pk=account.pk).update(is_superuser=True, is_staff=True)
        _record("account.made_administrator", account, by, at)
    return True


def set_language(*, by: User, language: str) -> None:
    """Keep the language that someone wants translated pages in; empty: their browser's."""
    by.language = language
    by.save(update_fields=["language"])


def remove_administrator(*, user: User, by: User | None, at: datetime) -> bool:
    """Take an administrator's rights away; False if the account has none.

    Raises AccountRefused for the last active administrator.
    """
    with transaction.atomic():
        admins = _lock(is_superuser=True, is_active=True)
        account = _get_locked(user)
        if not account.is_superuser:
            return False
        _check_not_last(account, admins)
        User.objects.filter(pk=account.pk).update(is_superuser=False, is_staff=False)
        _record("account.removed_administrator", account, by, at)
    return True


def record_break_glass(*, user: User, at: datetime) -> None:
    """Note a sign-in with a password where all others use sign-on."""
    _record("account.break_glass", user, user, at)


def end_sessions(*, user: User, by: User | None, at: datetime) -> int:
    """Sign an account out everywhere; how many sessions ended. API tokens stay."""
    with transaction.atomic():
        ended = _end_sessions(user)
        if ended:
            _record("sessions.ended", user, by, at, after={"sessions": ended})
    return ended


def revoke_tokens(*, user: User, by: User | None, at: datetime) -> int:
    """Delete all API tokens of an account; how many."""
    with transaction.atomic():
        ended = _end_tokens(user)
        if ended:
            _record("tokens.revoked", user, by, at, after={"tokens_ended": ended})
    return ended


def check_may_be_erased(user: User) -> None:
    """Raises AccountRefused for the last active administrator, and for who is erased already."""
    if user.erased_at:
        raise AccountRefused("erased", "This person is erased.")
    admins_qs = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")
    _check_not_last(user, list(admins_qs.values_list("pk", flat=True)))


def _check_not_last(account: User, admins: list[int]) -> None:
    if admins == [account.pk]:
        raise AccountRefused(
            "last_administrator",
            f"{account.username} is the last active administrator. Create another one first.",
        )


def _lock(**conditions: object) -> list[int]:
    """Lock accounts until the transaction ends; the ids of those for which it still holds."""
    rows_qs = User.objects.select_for_update(no_key=True).filter(**conditions).order_by("pk")
    return [row.pk for row in rows_qs]


def _get_locked(user: User) -> User:
    return User.objects.select_for_update(no_key=True).get(pk=user.pk)


def _end_sessions(account: User) -> int:
    """Delete the sessions; the epoch ends one that a request under way writes again."""
    User.objects.filter(pk=account.pk).update(session_epoch=F("session_epoch") + 1)
    ended: int = Session.objects.filter(user=account).delete()[0]
    return ended


def _end_tokens(account: User) -> int:
    ended: int = ApiToken.objects.filter(user=account).delete()[0]
    return ended


def _record(action: str, account: User, by: User | None, at: datetime, **values: object) -> None:
    audit.record(
        collection=None, actor=by, at=at, action=action, subject=account.username, **values
    )
