"""What an identity provider says of a person, and what follows for their roles."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from touchstone.errors import DomainError

ADMINISTRATOR: Final = "administrator"
ROLES: Final = ("annotator", "researcher", "lead")  # the last may do the most
LONGEST: Final = 100  # characters of a user name that is made here
LONGEST_NAME: Final = 200
LONGEST_EMAIL: Final = 254  # what an account can keep


class SignOnRefused(DomainError):
    """This person is not signed in."""


@dataclass(frozen=True)
class Grant:
    """That a group has a role: in a collection (its slug), or as administrator ("")."""

    group: str
    role: str
    collection: str = ""


@dataclass(frozen=True)
class Claims:
    """Who signs in. email: only where the provider says that it is verified, else empty."""

    issuer: str
    subject: str
    username: str = ""
    name: str = ""
    email: str = ""
    groups: tuple[str, ...] = ()


def read_grants(entries: Iterable[str]) -> tuple[Grant, ...]:
    """Grants from `group=role@collection` or `group=administrator`; ValueError for others."""
    return tuple(_read_grant(entry.strip()) for entry in entries if entry.strip())


def _read_grant(entry: str) -> Grant:
    group, _, rest = entry.rpartition("=")
    role, _, collection = rest.partition("@")
    is_role = role in ROLES and bool(collection)
    if not group or not (is_role or rest == ADMINISTRATOR):
        wanted = "group=role@collection with annotator, researcher or lead, or group=administrator"
        raise ValueError(f"{entry!r} must be {wanted}")
    return Grant(group, role, collection)


def roles_of(grants: Iterable[Grant], groups: Iterable[str]) -> dict[str, str | None]:
    """The role in each collection that the grants name, the highest of the groups'; None: none."""
    own, result = set(groups), dict[str, str | None]()
    for grant in grants:
        if grant.role == ADMINISTRATOR:
            continue
        before = result.setdefault(grant.collection, None)
        if grant.group in own and (before is None or ROLES.index(grant.role) > ROLES.index(before)):
            result[grant.collection] = grant.role
    return result


def is_administrator(grants: Iterable[Grant], groups: Iterable[str]) -> bool | None:
    """Whether the groups make an administrator; None where no grant is about that."""
    about = {grant.group for grant in grants if grant.role == ADMINISTRATOR}
    return bool(about & set(groups)) if about else None


def is_admitted(grants: Iterable[Grant], groups: Iterable[str]) -> bool:
    """Where groups are given roles, only people in one of these groups are let in."""
    named = {grant.group for grant in grants}
    return not named or bool(named & set(groups))


def provider_id(issuer: str) -> str:
    """Under which name links to accounts are kept: another issuer's subjects are other people."""
    return "oidc-" + hashlib.sha256(issuer.encode()).hexdigest()[:20]


def read_claims(data: Mapping[str, Any], *, issuer: str, groups_claim: str) -> Claims:
    """The claims of an ID token, completed by the userinfo endpoint.

    data: {"id_token": {…}, "userinfo": {…}}, as allauth has them. Raises SignOnRefused for a token
    that is missing, of another issuer or without a subject, and for userinfo of another person.
    """
    token = data.get("id_token")
    if not isinstance(token, Mapping):
        raise SignOnRefused("no_id_token", "The identity provider sent no ID token.")
    if token.get("iss") != issuer:
        raise SignOnRefused("wrong_issuer", "The ID token is from another issuer.")
    subject = token.get("sub")
    if not isinstance(subject, str) or not subject or len(subject) > 255:
        raise SignOnRefused("no_subject", "The ID token names nobody.")
    info = data.get("userinfo") or {}
    if info and info.get("sub") != subject:
        raise SignOnRefused("other_subject", "The identity provider described somebody else.")
    said = {**info, **{name: value for name, value in token.items() if value is not None}}
    email = _text(said.get("email"))
    is_kept = said.get("email_verified") is True and len(email) <= LONGEST_EMAIL
    groups = said.get(groups_claim)
    return Claims(
        issuer=issuer,
        subject=subject,
        username=_text(said.get("preferred_username")),
        name=_text(said.get("name"))[:LONGEST_NAME],
        email=email if is_kept else "",
        groups=tuple(one for one in groups if isinstance(one, str))
        if isinstance(groups, list | tuple)
        else (),
    )


def list_usernames(claims: Claims) -> Iterator[str]:
    """User names that a new account may have, the best first; without end."""
    wanted = claims.username or claims.email.partition("@")[0] or "user"
    allowed = "".join(one if one.isalnum() or one in "@.+-_" else "-" for one in wanted)
    base = allowed[:LONGEST].strip("-.") or "user"
    for number in count(1):
        yield base if number == 1 else f"{base}-{number}"


def _text(value: object) -> str:
    return value.replace("\x00", "").strip() if isinstance(value, str) else ""
