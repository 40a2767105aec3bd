"""Reading people: members, invitations, tokens."""

from dataclasses import dataclass
from datetime import datetime

from judgments.models import ApiToken, Invitation, Membership, User
from judgments.permissions import Access, check_may_manage_members, may_give_role


@dataclass(frozen=True)
class TokenRow:
    """A token as its owner sees it. key: its first characters, which are no secret."""

    key: str
    name: str
    scope: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    is_expired: bool


@dataclass(frozen=True)
class TokensPage:
    rows: list[TokenRow]


def get_tokens_page(*, user: User, now: datetime) -> TokensPage:
    """One's own tokens, newest first."""
    return TokensPage(
        [
            TokenRow(
                key=token.token_key,
                name=token.name,
                scope=ApiToken.Scope(token.scope).label,
                created_at=token.created,
                expires_at=token.expiry,
                last_used_at=token.last_used_at,
                is_expired=token.expiry is not None and token.expiry <= now,
            )
            for token in ApiToken.objects.filter(user=user).order_by("-created", "token_key")
        ]
    )


def count_tokens(*, user: User, now: datetime) -> int:
    """How many of one's API tokens work."""
    working: int = ApiToken.objects.filter(user=user).exclude(expiry__lte=now).count()
    return working


@dataclass(frozen=True)
class MemberRow:
    """A member. may_change: whether the viewer may give another role or end the membership.

    is_name: no one can sign in as them: a name that labels came with.
    is_suspended: their account is suspended. tags: languages and skills.
    """

    username: str
    name: str
    role: str
    pseudonym: str
    joined_at: datetime
    last_login: datetime | None
    is_self: bool
    may_change: bool
    is_name: bool
    is_suspended: bool
    tags: str


@dataclass(frozen=True)
class InvitationRow:
    """An invitation that is still open."""

    pk: int
    role: str
    note: str
    by: str
    expires_at: datetime


@dataclass(frozen=True)
class MembersPage:
    collection_name: str
    members: list[MemberRow]
    invitations: list[InvitationRow]


def get_members_page(*, access: Access, now: datetime) -> MembersPage:
    """Who is in the collection and who is invited; for those who manage it."""
    check_may_manage_members(access)
    memberships = (
        Membership.objects.filter(collection=access.collection)
        .select_related("user")
        .order_by("role", "id")
    )
    invitations = (
        Invitation.objects.filter(
            collection=access.collection, accepted_at=None, withdrawn_at=None, expires_at__gt=now
        )
        .select_related("created_by")
        .order_by("-id")
    )
    return MembersPage(
        collection_name=access.collection.name,
        members=[_member_row(access, row) for row in memberships],
        invitations=[
            InvitationRow(row.pk, row.role, row.note, str(row.created_by), row.expires_at)
            for row in invitations
        ],
    )


def _member_row(access: Access, row: Membership) -> MemberRow:
    return MemberRow(
        username=row.user.username,
        name=str(row.user),
        role=row.role,
        pseudonym=row.pseudonym,
        joined_at=row.created_at,
        last_login=row.user.last_login,
        is_name=not (row.user.is_active or row.user.is_suspended),
        is_suspended=row.user.is_suspended,
        tags=", ".join(row.tags),
        is_self=row.user_id == access.user.pk,
        may_change=may_give_role(access, row.role),
    )
