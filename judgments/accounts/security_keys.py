"""Security keys (WebAuthn) in the place of a code: added with a code, then asked for at sign-in.

A key signs only for the site that it was added on, so a forged page gets nothing of it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from fido2.server import Fido2Server
from fido2.webauthn import (
    AttestedCredentialData,
    AuthenticationResponse,
    PublicKeyCredentialRpEntity,
    PublicKeyCredentialUserEntity,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from judgments.accounts.second_factor import CodeRefused
from judgments.audit import services as audit
from judgments.models import SecurityKey, User
from judgments.permissions import NotFound

MOST: Final = 10  # keys of a person
NAME_LENGTH: Final = 60
PRESENT: Final = UserVerificationRequirement.DISCOURAGED  # the password came before it


@dataclass(frozen=True)
class Site:
    """Where keys are used. host: without a port. origin: as the browser names the page."""

    host: str
    origin: str


@dataclass(frozen=True)
class Challenge:
    """What a key signs. options: for the browser, as JSON. state: kept until it has answered."""

    options: str
    state: dict[str, Any]


def list_keys(user: User) -> list[SecurityKey]:
    """A person's keys, oldest first."""
    return list(SecurityKey.objects.filter(user=user))


def begin_adding(*, user: User, site: Site) -> Challenge:
    """Ask for a new key, after a valid code. Raises CodeRefused where there are too many."""
    keys = list_keys(user)
    if len(keys) >= MOST:
        raise CodeRefused("too_many_keys", "Remove a security key before you add another.")
    options, state = _server(site).register_begin(
        PublicKeyCredentialUserEntity(
            id=user.public_id.bytes, name=user.username, display_name=str(user)
        ),
        [_credential(key) for key in keys],
        resident_key_requirement=ResidentKeyRequirement.DISCOURAGED,
        user_verification=PRESENT,
    )
    return Challenge(json.dumps(dict(options)), state)


def add_key(
    *, user: User, site: Site, state: Mapping[str, Any], answer: str, name: str, at: datetime
) -> None:
    """Keep the key that has answered the challenge of `begin_adding`; CodeRefused for another."""
    try:
        found = _server(site).register_complete(state, json.loads(answer))
    except (ValueError, TypeError, KeyError) as error:
        raise _wrong() from error
    credential = found.credential_data
    if credential is None:
        raise _wrong()
    with transaction.atomic():
        SecurityKey.objects.create(
            user=user,
            name=name[:NAME_LENGTH],
            credential_id=credential.credential_id.hex(),
            credential=bytes(credential),
            counter=found.counter,
            created_at=at,
        )
        _record("second_factor.key_added", user, at)


def begin_asking(*, user: User, site: Site) -> Challenge | None:
    """What one of the person's keys has to sign at the sign-in; None without any."""
    keys = list_keys(user)
    if not keys:
        return None
    options, state = _server(site).authenticate_begin(
        [_credential(key) for key in keys], user_verification=PRESENT
    )
    return Challenge(json.dumps(dict(options)), state)


def check_key(
    *, user: User, site: Site, state: Mapping[str, Any], answer: str, at: datetime
) -> None:
    """Accept what one of the person's keys signed; CodeRefused for anything else.

    A counter that did not go up is of a copy of the key, and refused.
    """
    keys = {key.credential_id: key for key in list_keys(user)}
    try:
        said = json.loads(answer)
        credential = _server(site).authenticate_complete(
            state, [_credential(key) for key in keys.values()], said
        )
        counter = AuthenticationResponse.from_dict(said).response.authenticator_data.counter
    except (ValueError, TypeError, KeyError) as error:
        raise _wrong() from error
    key = keys[credential.credential_id.hex()]
    if counter or key.counter:  # keys without a counter always say 0
        later_qs = SecurityKey.objects.filter(pk=key.pk, counter__lt=counter)
        if not later_qs.update(counter=counter, used_at=at):
            raise _wrong()
    else:
        SecurityKey.objects.filter(pk=key.pk).update(used_at=at)


def remove_key(*, user: User, key_id: int, at: datetime) -> None:
    """Remove one of the person's keys, after a valid code."""
    with transaction.atomic():
        if not SecurityKey.objects.filter(user=user, pk=key_id).delete()[0]:
            raise NotFound("security key")
        _record("second_factor.key_removed", user, at)


def _server(site: Site) -> Fido2Server:
    return Fido2Server(
        PublicKeyCredentialRpEntity(id=site.host, name="Touchstone"),
        verify_origin=lambda origin: origin == site.origin,
    )


def _credential(key: SecurityKey) -> AttestedCredentialData:
    return AttestedCredentialData(bytes(key.credential))


def _wrong() -> CodeRefused:
    return CodeRefused("key_wrong", "The security key was not accepted. Try again.")


def _record(action: str, user: User, at: datetime) -> None:
    audit.record(collection=None, actor=user, at=at, action=action, subject=user.username)
