"""People: the first one, invitations, roles, and how a membership ends."""

import hashlib
import re
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import count

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils.crypto import constant_time_compare, salted_hmac

from judgments.audit import services as audit
from judgments.collections.naming import unless_taken
from judgments.members.tags import clean_tags
from judgments.messages.channels import get_channel
from judgments.messages.kinds import EMAIL
from judgments.messages.people import PERSON
from judgments.messages.services import notify, queue_message, withdraw_messages
from judgments.messages.tokens import invitation_token
from judgments.models import ApiToken, Collection, Invitation, Membership, Role, User
from judgments.permissions import (
    Access,
    NotFound,
    check_may_give_role,
    check_may_manage_members,
)
from judgments.usernames import fold
from touchstone.errors import DomainError
from touchstone.files.ids import NO_PLACES

INVITATION_DAYS = (1, 7, 30)
LONGEST_USERNAME = 150


class MemberRefused(DomainError):
    """This can't be done to this person."""


def setup_code() -> str:
    """What proves, while there is no one, that one has access to the server's terminal.

    Follows from the secret key, so every process knows it and none has to keep it.
    """
    return salted_hmac("judgments.setup", "the first user", algorithm="sha256").hexdigest()[:24]


def is_set_up() -> bool:
    """Whether there is anyone yet."""
    return User.objects.exists()


def create_first_user(*, code: str, username: str, name: str, password: str, at: datetime) -> User:
    """Make the installation's first person, its admin. Refused once there is anyone."""
    if is_set_up():
        raise NotFound
    if not constant_time_compare(code.strip(), setup_code()):
        raise MemberRefused(
            "code_wrong", "Wrong code. Enter the code that the server printed at start."
        )
    with transaction.atomic():
        _lock_set_up()
        if is_set_up():  # by another request, between the question above and the lock
            raise NotFound
        user = _create_user(username=username, name=name, password=password, is_superuser=True)
        audit.record(
            collection=None, actor=user, at=at, action="installation.set_up", subject=user.username
        )
    return user


def _lock_set_up() -> None:
    """One set-up after the other, until the transaction ends. SQLite's writers queue as it is."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext('touchstone.set_up'))")


def invite(
    *, access: Access, role: str, note: str, days: int, at: datetime, email: str = ""
) -> tuple[Invitation, str]:
    """Make a link that lets one person join in this role; the token can't be read again later.

    Leads invite annotators and researchers; leads are invited by an admin. email: where the link
    is sent as well; MemberRefused while the server sends no e-mail.
    """
    check_may_manage_members(access)
    check_may_give_role(access, role)
    if days not in INVITATION_DAYS:
        raise MemberRefused("days_invalid", "An invitation can be open for 1, 7 or 30 days.")
    if email and not get_channel(EMAIL).is_on():
        raise MemberRefused("email_off", "This server sends no e-mail. Leave the address empty.")
    nonce = secrets.token_urlsafe(32)
    # what is sent is kept until then without the token, which follows from the server's key
    token = invitation_token(nonce) if email else nonce
    with transaction.atomic():
        invitation = Invitation.objects.create(
            collection=access.collection,
            role=role,
            note=note.strip(),
            token_hash=_hash(token),
            created_at=at,
            created_by=access.user,
            expires_at=at + timedelta(days=days),
        )
        audit.record_by(
            access,
            at,
            "invitation.created",
            note.strip() or f"invitation {invitation.pk}",
            after={"role": role, "days": days},
        )
        if email:
            queue_message(
                channel=EMAIL,
                kind="invitation",
                key=_event_of(invitation.pk),
                address=email,
                collection=access.collection,
                payload={
                    "nonce": nonce,
                    "collection": access.collection.name,
                    "role": role,
                    "days": "1 day" if days == 1 else f"{days} days",
                },
                at=at,
            )
    return invitation, token


def withdraw_invitation(*, access: Access, invitation_id: int, at: datetime) -> None:
    """End an invitation that no one has accepted."""
    check_may_manage_members(access)
    with transaction.atomic():
        done = Invitation.objects.filter(
            pk=invitation_id, collection=access.collection, accepted_at=None, withdrawn_at=None
        ).update(withdrawn_at=at)
        if not done:
            raise NotFound("invitation")
        withdraw_messages(key=_event_of(invitation_id), at=at)
        audit.record_by(access, at, "invitation.withdrawn", f"invitation {invitation_id}")


def get_invitation(*, token: str, at: datetime) -> Invitation:
    """The open invitation behind a link; NotFound if it was used, withdrawn, or is too old."""
    result = (
        Invitation.objects.select_related("collection", "created_by")
        .filter(token_hash=_hash(token), accepted_at=None, withdrawn_at=None, expires_at__gt=at)
        .first()
    )
    if result is None:
        raise NotFound("invitation")
    return result


def accept_invitation(*, token: str, user: User, at: datetime) -> Membership:
    """Let a person who is signed in join the collection.

    Refused for a member: the link stays open for the person it was meant for.
    """
    with transaction.atomic():
        invitation = get_invitation(token=token, at=at)
        membership = _join(collection=invitation.collection, user=user, role=invitation.role, at=at)
        taken = Invitation.objects.filter(
            pk=invitation.pk, accepted_at=None, withdrawn_at=None
        ).update(accepted_at=at, accepted_by=user)
        if not taken:
            raise NotFound("invitation")
        audit.record(
            collection=invitation.collection,
            actor=user,
            at=at,
            action="member.joined",
            subject=user.username,
            after={"role": invitation.role, "invitation": invitation.pk},
        )
        notify(
            kind="joined",
            key=f"{_event_of(invitation.pk)}:accepted",
            people=[invitation.created_by],
            payload={
                PERSON: user.pk,
                "collection": invitation.collection.name,
                "role": invitation.role,
            },
            page=("members", invitation.collection.slug),
            collection=invitation.collection,
            at=at,
        )
    return membership


def register_and_accept(
    *, token: str, username: str, name: str, password: str, at: datetime
) -> User:
    """Make an account for an invited person, who thereby joins the collection."""
    with transaction.atomic():
        get_invitation(token=token, at=at)
        user = _create_user(username=username, name=name, password=password)
        accept_invitation(token=token, user=user, at=at)
    return user


def add_member(
    *, collection: Collection, user: User, role: str, by: User | None, at: datetime
) -> Membership:
    """Add a member without an invitation: for commands."""
    with transaction.atomic():
        membership = _join(collection=collection, user=user, role=role, at=at)
        audit.record(
            collection=collection,
            actor=by,
            at=at,
            action="member.joined",
            subject=user.username,
            after={"role": role},
        )
    return membership


def add_name(*, collection: Collection, name: str, by: User | None, at: datetime) -> User:
    """Someone whose work came from elsewhere: a member of this name who can't sign in.

    The same name again is the same person. Their user name ends in @ and the collection's slug.
    """
    result = User.objects.filter(
        name=name, is_active=False, suspended_at=None, username__endswith=f"@{collection.slug}",
        pk__in=Membership.ever.filter(collection=collection).values("user"),
    ).first()  # fmt: skip
    if result is not None:
        return result
    with transaction.atomic():
        user = User(username=_free_username(name, collection.slug), name=name, is_active=False)
        user.set_unusable_password()
        user.save(force_insert=True)
        add_member(collection=collection, user=user, role=Role.ANNOTATOR, by=by, at=at)
    return user


def _free_username(name: str, slug: str) -> str:
    """What a name looks like as a user name, with a number behind it where it is taken."""
    words = re.sub(r"[^\w.+-]+", "-", name, flags=re.ASCII).strip("-") or "name"
    for number in count(1):
        tail = f"{'' if number == 1 else f'-{number}'}@{slug}"
        username = words[: LONGEST_USERNAME - len(tail)] + tail
        if not User.objects.filter(username_key=fold(username)).exists():
            return username
    raise AssertionError("numbers do not end")


def change_role(*, access: Access, username: str, role: str, at: datetime) -> None:
    """Give a member another role."""
    with transaction.atomic():
        membership = _locked_member(access, username)
        check_may_give_role(access, membership.role)
        check_may_give_role(access, role)
        before = membership.role
        if before == role:
            return
        membership.role = role
        membership.save(update_fields=["role"])
        _check_a_lead_stays(access)
        audit.record_by(
            access,
            at,
            "member.role_changed",
            username,
            before={"role": before},
            after={"role": role},
        )


def set_tags(*, access: Access, username: str, tags: Iterable[str], at: datetime) -> None:
    """Say which languages and skills a member has; assignment rules ask for them.

    Raises MemberRefused for too many tags, or one that is too long.
    """
    try:
        after = clean_tags(tags)
    except ValueError as error:
        raise MemberRefused("tags_invalid", str(error)) from error
    with transaction.atomic():
        membership = _locked_member(access, username)
        before = membership.tags
        if before == after:
            return
        membership.tags = after
        membership.save(update_fields=["tags"])
        audit.record_by(
            access,
            at,
            "member.tags_changed",
            username,
            before={"tags": before},
            after={"tags": after},
        )


def end_membership(*, access: Access, username: str, at: datetime) -> None:
    """End a membership; the member's work and pseudonym are kept."""
    with transaction.atomic():
        membership = _locked_member(access, username)
        if membership.user_id != access.user.pk:
            check_may_give_role(access, membership.role)
        # is_annotating stays: who comes back to an open campaign is as blind as before
        membership.ended_at = at
        membership.save(update_fields=["ended_at"])
        _check_a_lead_stays(access)
        audit.record_by(access, at, "member.left", username, before={"role": membership.role})


def change_password(
    *, user: User, password: str, end_tokens: bool, by: User | None, at: datetime
) -> int:
    """Set another password for an account, by its owner or from the command line (`by` None).

    All sessions end, and with `end_tokens` all API tokens; returns how many of those.
    """
    try:
        validate_password(password, user)
    except ValidationError as error:
        said = " ".join(error.messages)
        raise MemberRefused("password_invalid", said) from error
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
        ended = ApiToken.objects.filter(user=user).delete()[0] if end_tokens else 0
        audit.record(
            collection=None,
            actor=by,
            at=at,
            action="password.changed" if by == user else "password.reset",
            subject=user.username,
            after={"tokens_ended": ended},
        )
    return ended


def set_membership(*, collection: Collection, user: User, role: str | None, at: datetime) -> None:
    """Give a person the role that sign-on says they have; None: they are no member.

    No one is asked whether a lead stays: who was let go must lose access, and administrators can
    appoint another one.
    """
    with transaction.atomic():
        Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        membership = Membership.objects.filter(collection=collection, user=user).first()
        before = membership.role if membership else None
        if role == before:
            return
        if membership is None:
            assert role is not None
            add_member(collection=collection, user=user, role=role, by=None, at=at)
            return
        if role is None:
            membership.ended_at = at
            action, after = "member.left", {}
        else:
            membership.role = role
            action, after = "member.role_changed", {"after": {"role": role}}
        membership.save(update_fields=["role", "ended_at"])
        audit.record(
            collection=collection,
            actor=None,
            at=at,
            action=action,
            subject=user.username,
            before={"role": before},
            **after,
        )


def _locked_member(access: Access, username: str) -> Membership:
    """The member, with all of the collection's memberships locked: the rules count leads."""
    check_may_manage_members(access)
    memberships = Membership.objects.select_for_update().filter(collection=access.collection)
    result = {row.user_id: row for row in memberships}
    user = User.objects.filter(username=username, pk__in=result).first()
    if user is None:
        raise NotFound("member")
    return result[user.pk]


def _check_a_lead_stays(access: Access) -> None:
    if not Membership.objects.filter(collection=access.collection, role=Role.LEAD).exists():
        raise MemberRefused("last_lead", "A collection needs at least one lead.")


def _join(*, collection: Collection, user: User, role: str, at: datetime) -> Membership:
    Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
    former = Membership.ever.filter(collection=collection, user=user).first()
    if former is None:
        number = Membership.ever.filter(collection=collection).count() + 1
        return Membership.objects.create(
            collection=collection,
            user=user,
            role=role,
            pseudonym=f"person {number}",
            created_at=at,
        )
    if former.ended_at is None:
        raise MemberRefused("already_member", "You are already a member of this collection.")
    former.role = role
    former.ended_at = None
    former.save(update_fields=["role", "ended_at"])
    return former


def _create_user(*, username: str, name: str, password: str, is_superuser: bool = False) -> User:
    user = User(username=User.normalize_username(username), name=name.strip())
    if user.username in NO_PLACES:  # no one could be shown or ended under such an address
        raise MemberRefused("account_invalid", "A username can’t be only dots.")
    user.is_superuser = user.is_staff = is_superuser
    try:
        user.full_clean(exclude=["password", "username_key"])
        validate_password(password, user)
    except ValidationError as error:
        said = " ".join(error.messages)
        raise MemberRefused("account_invalid", said) from error
    user.set_password(password)
    with unless_taken(MemberRefused("username_taken", "This username is taken.")):
        user.save()
    return user


def _event_of(invitation_id: int) -> str:
    return f"invitation:{invitation_id}"


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
