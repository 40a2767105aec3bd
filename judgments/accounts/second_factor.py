"""The second factor of a sign-in: an authenticator app, and recovery codes in its place."""

import base64
import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction

from judgments.accounts import totp
from judgments.accounts.services import end_sessions
from judgments.audit import services as audit
from judgments.models import Membership, RecoveryCode, SecondFactor, SecurityKey, User
from judgments.permissions import NotFound
from judgments.secrets.services import read_secret, store_secret
from touchstone.errors import DomainError

ADMINISTRATOR: Final = "administrator"
ISSUER: Final = "Touchstone"
CODES: Final = 10  # recovery codes of a set
CODE_BYTES: Final = 10
MOST_FAILURES: Final = 10
WAIT: Final = timedelta(minutes=15)


class CodeRefused(DomainError):
    """This code does not prove who it is."""


@dataclass(frozen=True)
class SetUp:
    """What an app needs to know. uri: of the QR code. key: the secret, in groups, to be typed."""

    uri: str
    key: str


@dataclass(frozen=True)
class SecondFactorPage:
    """A person's own second factor. since: None where it is off; codes: recovery codes left."""

    since: datetime | None
    set_up: SetUp | None
    codes: int
    is_required: bool
    keys: list[SecurityKey]


def has_second_factor(user: User) -> bool:
    """Whether a code is asked for when this person signs in with a password."""
    return SecondFactor.objects.filter(user=user, confirmed_at__isnull=False).exists()


def is_required(user: User) -> bool:
    """Whether one is required for a role that this person has."""
    roles: list[str] = settings.SECOND_FACTOR_ROLES
    if not roles:
        return False
    if user.is_superuser and ADMINISTRATOR in roles:
        return True
    return Membership.objects.filter(user=user, role__in=roles).exists()


def get_second_factor_page(user: User) -> SecondFactorPage:
    """One's own second factor: off, being set up, or on."""
    factor = SecondFactor.objects.select_related("secret").filter(user=user).first()
    set_up = None
    if factor and not factor.confirmed_at:
        secret = _secret_of(factor)
        set_up = SetUp(
            uri=totp.key_uri(secret, account=user.username, issuer=ISSUER),
            key=" ".join(secret[at : at + 4] for at in range(0, len(secret), 4)),
        )
    return SecondFactorPage(
        since=factor.confirmed_at if factor else None,
        set_up=set_up,
        codes=RecoveryCode.objects.filter(user=user).count(),
        is_required=is_required(user),
        keys=list(SecurityKey.objects.filter(user=user)),
    )


def begin_set_up(*, user: User, at: datetime) -> None:
    """Make a secret for an app; it counts once `confirm_set_up` has seen a code of it.

    Raises NotFound for a person who has a second factor, and SecretRefused where the server has
    no key to encrypt secrets with.
    """
    with transaction.atomic():
        factor = _locked(user)
        if factor and factor.confirmed_at:
            raise NotFound("set-up")
        if factor:
            _delete(factor)
        secret = store_secret(
            collection=None, value=totp.new_secret(), origin=_origin(user), by=user, at=at
        )
        SecondFactor.objects.create(user=user, secret=secret, created_at=at)


def confirm_set_up(*, user: User, code: str, at: datetime) -> list[str]:
    """Turn the second factor on with a first code of the app; the recovery codes, shown once.

    Raises CodeRefused for a wrong code, and NotFound where no set-up has begun.
    """
    with transaction.atomic():
        factor = _locked(user)
        if factor is None or factor.confirmed_at:
            raise NotFound("set-up")
        step = totp.find_step(_secret_of(factor), _typed(code), seconds=at.timestamp(), after=0)
        if step is None:
            raise _wrong()
        factor.confirmed_at, factor.last_step = at, step
        factor.save(update_fields=["confirmed_at", "last_step"])
        codes = _new_codes(user, at)
        _record("second_factor.turned_on", user, user, at)
    return codes


def check_code(*, user: User, code: str, at: datetime) -> None:
    """Accept a code of the app, or a recovery code, once; CodeRefused for any other.

    After MOST_FAILURES wrong ones within WAIT, none is accepted until WAIT has passed since the
    first: a person who gets here knows the password, and could try all codes from many addresses.
    """
    with transaction.atomic():  # a failure is counted, so the refusal comes after it
        refused = _try_code(user, code, at)
    if refused:
        raise refused


def renew_codes(*, user: User, code: str, at: datetime) -> list[str]:
    """New recovery codes in place of the old ones, for a valid code; shown once."""
    check_code(user=user, code=code, at=at)
    with transaction.atomic():
        codes = _new_codes(user, at)
        _record("second_factor.codes_renewed", user, user, at)
    return codes


def turn_off(*, user: User, code: str, at: datetime) -> None:
    """Turn one's own second factor off, for a valid code.

    Raises CodeRefused where administrators require one.
    """
    if is_required(user):
        raise CodeRefused("required", "Your role requires a second factor.")
    check_code(user=user, code=code, at=at)
    with transaction.atomic():
        factor = _locked(user)
        if factor:
            _delete(factor)
            _record("second_factor.turned_off", user, user, at)


def reset_second_factor(*, user: User, by: User | None, at: datetime) -> bool:
    """Turn a person's second factor off, who has lost theirs, and sign them out; False without one.

    by: the administrator; None for the command line.
    """
    with transaction.atomic():
        factor = _locked(user)
        if factor is None:
            return False
        _delete(factor)
        end_sessions(user=user, by=by, at=at)
        _record("second_factor.reset", user, by, at)
    return True


def _try_code(user: User, code: str, at: datetime) -> CodeRefused | None:
    factor = _locked(user)
    if factor is None or not factor.confirmed_at:
        return _wrong()
    since = factor.failing_since
    if since is None or since <= at - WAIT:
        factor.failures, factor.failing_since = 0, at
    elif factor.failures >= MOST_FAILURES:
        return CodeRefused("too_many_codes", "Too many wrong codes. Wait 15 minutes and try again.")
    if not _is_accepted(factor, _typed(code), at):
        factor.failures += 1
        factor.save(update_fields=["failures", "failing_since"])
        if factor.failures == MOST_FAILURES:
            _record("second_factor.locked", user, user, at)
        return _wrong()
    factor.failures, factor.failing_since = 0, None
    factor.save(update_fields=["last_step", "failures", "failing_since"])
    return None


def _is_accepted(factor: SecondFactor, typed: str, at: datetime) -> bool:
    """Whether a code is right and unused; it is used then."""
    if len(typed) != totp.DIGITS:  # also where the key that encrypted the secret is lost
        own_qs = RecoveryCode.objects.filter(user=factor.user_id, code_hash=_hash(typed))
        return bool(own_qs.delete()[0])
    secret = _secret_of(factor)
    step = totp.find_step(secret, typed, seconds=at.timestamp(), after=factor.last_step)
    if step is None:
        return False
    factor.last_step = step
    return True


def _wrong() -> CodeRefused:
    return CodeRefused("code_wrong", "Wrong code. Enter the one that your app shows now.")


def _locked(user: User) -> SecondFactor | None:
    factors_qs = SecondFactor.objects.select_for_update(of=("self",)).select_related("secret")
    return factors_qs.filter(user=user).first()


def _delete(factor: SecondFactor) -> None:
    RecoveryCode.objects.filter(user=factor.user_id).delete()
    SecurityKey.objects.filter(user=factor.user_id).delete()
    secret = factor.secret
    factor.delete()
    secret.delete()


def _new_codes(user: User, at: datetime) -> list[str]:
    RecoveryCode.objects.filter(user=user).delete()
    drawn = [
        base64.b32encode(secrets.token_bytes(CODE_BYTES)).decode().lower() for _ in range(CODES)
    ]
    RecoveryCode.objects.bulk_create(
        RecoveryCode(user=user, code_hash=_hash(code), created_at=at) for code in drawn
    )
    return ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in drawn]


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _typed(code: str) -> str:
    """A code as it is kept: people type blanks, hyphens and capitals."""
    return "".join(one for one in code.lower() if one.isascii() and one.isalnum())


def _origin(user: User) -> str:
    """What the encrypted secret is bound to."""
    return f"second-factor:{user.public_id}"


def _secret_of(factor: SecondFactor) -> str:
    return read_secret(secret=factor.secret, origin=_origin(factor.user))


def _record(action: str, user: User, by: User | None, at: datetime) -> None:
    audit.record(collection=None, actor=by, at=at, action=action, subject=user.username)
