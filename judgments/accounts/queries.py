"""The accounts of the installation. For administrators and commands."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Final
from uuid import UUID

from django.core.paginator import Page
from django.db.models import Q
from django.utils import timezone

from judgments.accounts.own_sessions import SessionRow, list_sessions
from judgments.members.queries import TokenRow, get_tokens_page
from judgments.models import ApiToken, Membership, Role, SecondFactor, Session, User
from judgments.pages.paging import paginate
from judgments.permissions import NotFound, check_administers
from judgments.usernames import fold


@dataclass(frozen=True)
class AccountRow:
    """An account. state: active, suspended, erased, or name (imported labels came with
    it).

    tokens: API tokens that work. collections: the roles, by the collection's short name.
    """

    username: str
    name: str
    state: str
    is_administrator: bool
    last_login: datetime | None
    suspended_at: datetime | None
    tokens: int
    collections: dict[str, str]


def is_session_expired(at: datetime) -> bool:
    """Whether there is a session to be cleared."""
    return Session.objects.filter(expire_date__lt=at).exists()


def list_accounts() -> list[AccountRow]:
    """All accounts, in the order in which they were made."""
    return _rows(User.objects.order_by("pk"))


@dataclass(frozen=True)
class AccountFilters:
    """search: part of a username, a name or an address. state: of an account, or administrator."""

    search: str = ""
    state: str = ""


STATES: Final = {
    "active": "active",
    "suspended": "suspended",
    "administrator": "administrators",
    "name": "imported names",
}


@dataclass(frozen=True)
class AccountsPage:
    rows: Page[AccountRow]
    total: int


def get_accounts_page(*, viewer: User, filters: AccountFilters, page: str) -> AccountsPage:
    """The accounts of the installation, for administrators, by username."""
    check_administers(viewer)
    users_qs = User.objects.order_by("username_key")
    total = users_qs.count()
    if filters.search:
        words = ("username_key", "name", "email")
        result = (Q(**{f"{field}__icontains": filters.search.strip()}) for field in words)
        users_qs = users_qs.filter(reduce(or_, result))
    if filters.state == "administrator":
        users_qs = users_qs.filter(is_superuser=True)
    elif filters.state in STATES:
        is_suspended = filters.state == "suspended"
        users_qs = users_qs.filter(
            is_active=filters.state == "active", suspended_at__isnull=not is_suspended
        )
    rows = paginate(users_qs, page=page, show=_rows)
    return AccountsPage(rows, total)


@dataclass(frozen=True)
class AccountPage:
    """An account with its roles (slug, name, role), sessions and API tokens.

    second_factor_since: None without one.
    """

    row: AccountRow
    public_id: UUID
    email: str
    second_factor_since: datetime | None
    is_self: bool
    collections: list[tuple[str, str, str]]
    sessions: list[SessionRow]
    tokens: list[TokenRow]


def get_account_page(*, viewer: User, username: str) -> AccountPage:
    """One account, for administrators; NotFound where there is none."""
    user = get_account(viewer=viewer, username=username)
    now = timezone.now()
    memberships_qs = Membership.objects.filter(user=user).order_by("collection__slug")
    (row,) = _rows([user])
    return AccountPage(
        row=row,
        public_id=user.public_id,
        email=user.email,
        second_factor_since=_second_factor_since(user),
        is_self=user == viewer,
        collections=list(
            memberships_qs.values_list("collection__slug", "collection__name", "role")
        ),
        sessions=list_sessions(user=user, current=None, now=now),
        tokens=get_tokens_page(user=user, now=now).rows,
    )


def _second_factor_since(user: User) -> datetime | None:
    own_qs = SecondFactor.objects.filter(user=user)
    return own_qs.values_list("confirmed_at", flat=True).first()


def get_account(*, viewer: User, username: str) -> User:
    """The account of this username, for administrators."""
    check_administers(viewer)
    user = User.objects.filter(username_key=fold(username)).first()
    if user is None:
        raise NotFound("account")
    return user


def _rows(users: Iterable[User]) -> list[AccountRow]:
    own = list(users)
    now = timezone.now()
    live_qs = ApiToken.objects.filter(user__in=own).exclude(expiry__lte=now)
    tokens = Counter(live_qs.values_list("user_id", flat=True))
    roles: dict[int, dict[str, str]] = {}
    memberships_qs = Membership.objects.filter(user__in=own).order_by("collection__slug")
    for pk, slug, role in memberships_qs.values_list("user_id", "collection__slug", "role"):
        roles.setdefault(pk, {})[slug] = role
    return [
        AccountRow(
            username=user.username,
            name=user.name,
            state=_state(user),
            is_administrator=user.is_superuser,
            last_login=user.last_login,
            suspended_at=user.suspended_at,
            tokens=tokens[user.pk],
            collections=roles.get(user.pk, {}),
        )
        for user in own
    ]


def list_without_lead(user: User) -> list[str]:
    """The collections that this person leads and no active account leads beside them."""
    leads = Membership.objects.filter(role=Role.LEAD)
    others = leads.filter(user__is_active=True).exclude(user=user).values("collection")
    own_qs = leads.filter(user=user).exclude(collection__in=others)
    return list(own_qs.order_by("collection__slug").values_list("collection__slug", flat=True))


def _state(user: User) -> str:
    if user.erased_at:
        return "erased"
    if user.is_active:
        return "active"
    return "suspended" if user.is_suspended else "name"
