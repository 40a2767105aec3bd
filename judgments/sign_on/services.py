"""What a sign-on changes: the account, and the roles that groups have."""

from collections.abc import Callable, Sequence
from datetime import datetime

from django.db import transaction

from judgments.accounts.services import (
    AccountRefused,
    end_sessions,
    make_administrator,
    remove_administrator,
    revoke_tokens,
)
from judgments.audit import services as audit
from judgments.members.services import set_membership
from judgments.models import Collection, User
from judgments.sign_on.rules import (
    Claims,
    Grant,
    SignOnRefused,
    is_administrator,
    is_admitted,
    list_usernames,
    roles_of,
)
from judgments.usernames import fold


def sign_on(
    *,
    claims: Claims,
    account: User | None,
    grants: Sequence[Grant],
    creates: bool,
    link: Callable[[User], None],
    at: datetime,
) -> User:
    """The account of a person whom the identity provider has signed in, with the roles of today.

    account: what the issuer's subject is linked to. creates: whether others get a new account,
    which `link` then links. An account is never found by an e-mail address or a user name.
    Raises SignOnRefused; who has left all groups first loses roles, sessions and API tokens.
    """
    if account is not None and not account.is_active:
        raise SignOnRefused("suspended", "This account is suspended.")
    if not is_admitted(grants, claims.groups):
        if account is not None:
            _withdraw(account, grants, at)
        raise SignOnRefused("no_group", "You are in no group that may use this server.")
    if account is None and not creates:
        raise SignOnRefused("unknown", "No account is linked to you. Ask an administrator.")
    with transaction.atomic():
        if account is None:
            account = _create(claims, at)
            link(account)
        _apply(account, grants, claims.groups, at)
    account.refresh_from_db()
    return account


def _create(claims: Claims, at: datetime) -> User:
    """A new account without a password."""
    username = next(
        name
        for name in list_usernames(claims)
        if not User.objects.filter(username_key=fold(name)).exists()
    )
    user = User(username=User.normalize_username(username), name=claims.name, email=claims.email)
    user.set_unusable_password()
    user.save()
    audit.record(
        collection=None, actor=user, at=at, action="account.signed_on_first", subject=user.username
    )
    return user


def _apply(account: User, grants: Sequence[Grant], groups: Sequence[str], at: datetime) -> None:
    for slug, role in sorted(roles_of(grants, groups).items()):
        collection = Collection.objects.filter(slug=slug).first()
        if collection is not None:
            set_membership(collection=collection, user=account, role=role, at=at)
    is_admin = is_administrator(grants, groups)
    if is_admin:
        make_administrator(user=account, by=None, at=at)
    elif is_admin is False:
        _remove_administrator(account, at)


def _withdraw(account: User, grants: Sequence[Grant], at: datetime) -> None:
    """End what the groups gave, and all that outlives a sign-on: sessions and API tokens."""
    with transaction.atomic():
        _apply(account, grants, (), at)
        end_sessions(user=account, by=None, at=at)
        revoke_tokens(user=account, by=None, at=at)


def _remove_administrator(account: User, at: datetime) -> None:
    try:
        remove_administrator(user=account, by=None, at=at)
    except AccountRefused:
        # the last one: a server without an administrator could not be repaired from its pages
        audit.record(
            collection=None,
            actor=None,
            at=at,
            action="account.last_administrator_kept",
            subject=account.username,
        )
