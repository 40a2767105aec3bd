"""The accounts of the installation. For commands."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.sessions.models import Session
from django.db.models import Count, Q
from django.utils import timezone

from judgments.models import Membership, Role, User


@dataclass(frozen=True)
class AccountRow:
    """An account. state: active, suspended, or name (imported labels came with it).

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
    now = timezone.now()
    works = Q(auth_token_set__expiry=None) | Q(auth_token_set__expiry__gt=now)
    users_qs = User.objects.annotate(tokens=Count("auth_token_set", filter=works)).order_by("pk")
    roles: dict[int, dict[str, str]] = {}
    memberships_qs = Membership.objects.order_by("collection__slug")
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
            tokens=user.tokens,
            collections=roles.get(user.pk, {}),
        )
        for user in users_qs
    ]


def list_without_lead(user: User) -> list[str]:
    """The collections that this person leads and no active account leads beside them."""
    leads = Membership.objects.filter(role=Role.LEAD)
    others = leads.filter(user__is_active=True).exclude(user=user).values("collection")
    own_qs = leads.filter(user=user).exclude(collection__in=others)
    return list(own_qs.order_by("collection__slug").values_list("collection__slug", flat=True))


def _state(user: User) -> str:
    if user.is_active:
        return "active"
    return "suspended" if user.is_suspended else "name"
