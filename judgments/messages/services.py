"""Telling people of events, once each, and what they chose and read.

Call `notify` in the transaction of the event: then an event that happened is told of, and one
that did not is not.
"""

from collections.abc import Collection as Several
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.translation import get_language

from judgments.messages.channels import get_channel
from judgments.messages.kinds import CHANNELS, EMAIL, LANGUAGE, NOTICE
from judgments.messages.queries import list_chosen_kinds, list_notices, list_off
from judgments.messages.tokens import read_confirmation
from judgments.models import (
    Collection,
    Membership,
    MessageChoice,
    Notice,
    OutboxMessage,
    Role,
    User,
)
from judgments.permissions import NotFound
from judgments.waking import wake
from touchstone.errors import DomainError

TASK: Final = "judgments.send_messages"
MOST_CONFIRMATIONS: Final = 5  # a person and day
LONGEST_ADDRESS: Final = 254


class AddressRefused(DomainError):
    """Messages can't be sent to this address."""


def notify(
    *,
    kind: str,
    key: str,
    people: Iterable[User],
    payload: Mapping[str, Any],
    page: tuple[str, *tuple[str, ...]],
    collection: Collection | None,
    at: datetime,
) -> None:
    """Tell people of an event, over the channels that each of them wants; once, however often.

    key: names the event. payload: plain values for the words of the kind. page: the URL's name and
    arguments of the page that it is about.
    """
    told = {person.pk: person for person in people if person.is_active}
    if not told:
        return
    off = {(pk, channel) for pk, of, channel in list_off(told) if of == kind}
    shared: dict[str, Any] = {
        "kind": kind,
        "payload": dict(payload),
        "page": page[0],
        "page_args": list(page[1:]),
        "collection": collection,
    }
    with transaction.atomic():
        Notice.objects.bulk_create(
            (
                Notice(
                    recipient=person,
                    key=key,
                    created_at=at,
                    changed_at=at,
                    read_at=at if (pk, NOTICE) in off else None,
                    **shared,
                )
                for pk, person in told.items()
            ),
            ignore_conflicts=True,
        )
        _send([person for pk, person in told.items() if (pk, EMAIL) not in off], key, at, shared)


def notify_digest(
    *,
    kind: str,
    key: str,
    people: Iterable[User],
    count: int,
    payload: Mapping[str, Any],
    page: tuple[str, *tuple[str, ...]],
    collection: Collection,
    at: datetime,
) -> None:
    """Tell people how many things wait: one notice a person, kept to the count.

    A notice that was read comes back when the count has grown since, and is settled at 0. An
    e-mail goes out when a notice appears or comes back, at most once a day (UTC).
    """
    told = {person.pk: person for person in people if person.is_active}
    off = {(pk, channel) for pk, of, channel in list_off(told) if of == kind}
    shared: dict[str, Any] = {
        "kind": kind,
        "payload": dict(payload),
        "page": page[0],
        "page_args": list(page[1:]),
        "collection": collection,
    }
    with transaction.atomic():
        known_qs = Notice.objects.select_for_update(no_key=True).filter(key=key).order_by("pk")
        known = {notice.recipient_id: notice for notice in known_qs}
        new = [pk for pk in told if pk not in known and count]
        grown = [pk for pk in told if pk in known and count > known[pk].count]
        Notice.objects.bulk_create(
            (
                Notice(
                    recipient=told[pk],
                    key=key,
                    count=count,
                    created_at=at,
                    changed_at=at,
                    read_at=at if (pk, NOTICE) in off else None,
                    **shared,
                )
                for pk in new
            ),
            ignore_conflicts=True,
        )
        own_qs = Notice.objects.filter(key=key).exclude(count=count)
        shown = [pk for pk in grown if (pk, NOTICE) not in off]
        own_qs.filter(recipient__in=shown).exclude(read_at=None).update(read_at=None)
        own_qs.filter(recipient__in=shown).update(changed_at=at)
        if not count:
            own_qs.filter(read_at=None).update(read_at=at)
        own_qs.update(count=count, payload=dict(payload))
        mailed = [told[pk] for pk in (*new, *grown) if (pk, EMAIL) not in off]
        _send(mailed, f"{key}:{at.date().isoformat()}", at, shared)


def queue_message(
    *,
    channel: str,
    kind: str,
    key: str,
    address: str,
    payload: Mapping[str, Any],
    at: datetime,
    recipient: User | None = None,
    collection: Collection | None = None,
) -> None:
    """Queue one message to an address, once for its key; no one has chosen it.

    It is in the language of the page, unless its recipient's account has one.
    """
    with transaction.atomic():
        OutboxMessage.objects.bulk_create(
            [
                OutboxMessage(
                    channel=channel,
                    kind=kind,
                    key=key,
                    recipient=recipient,
                    address=address,
                    collection=collection,
                    payload=dict(payload) | {LANGUAGE: get_language()},
                    created_at=at,
                    due_at=at,
                )
            ],
            ignore_conflicts=True,
        )
        wake(TASK)


def withdraw_messages(*, key: str, at: datetime) -> None:
    """Do not send what waits of an event."""
    waiting_qs = OutboxMessage.objects.filter(key=key, state=OutboxMessage.State.WAITING)
    waiting_qs.update(
        state=OutboxMessage.State.DROPPED, ended_at=at, token=None, payload={}, address=""
    )


def list_leads(collection: Collection) -> list[User]:
    """Who leads a collection, and can sign in."""
    leads_qs = Membership.objects.filter(collection=collection, role=Role.LEAD)
    return list(User.objects.filter(is_active=True, pk__in=leads_qs.values("user")).order_by("pk"))


def mark_notices_read(*, user: User, at: datetime, notice_id: UUID | None = None) -> Notice | None:
    """Mark a notice of one's own as read, and return it; without an id, all.

    Raises NotFound for a notice that is not there or someone else's.
    """
    own_qs = list_notices(user)
    if notice_id is None:
        Notice.objects.filter(recipient=user, read_at=None).update(read_at=at)
        return None
    notice = own_qs.filter(public_id=notice_id).first()
    if notice is None:
        raise NotFound("notice")
    Notice.objects.filter(pk=notice.pk, read_at=None).update(read_at=at)
    return notice


def choose_messages(*, user: User, wanted: Several[tuple[str, str]]) -> None:
    """What someone wants to be told, and how: (kind, channel); other kinds they can get are off."""
    choices = [
        MessageChoice(user=user, kind=kind, channel=channel, is_on=(kind, channel) in wanted)
        for kind in list_chosen_kinds(user)
        for channel in CHANNELS
    ]
    MessageChoice.objects.bulk_create(
        choices,
        update_conflicts=True,
        unique_fields=["user", "kind", "channel"],
        update_fields=["is_on"],
    )


def request_address(*, user: User, address: str, at: datetime, nonce: str) -> None:
    """Send a link that confirms an address for messages; an empty address ends e-mail.

    Raises AddressRefused for what is no address, while e-mail is off, or after too many of them.
    """
    if not address:
        user.email = ""
        user.save(update_fields=["email"])
        return
    if not get_channel(EMAIL).is_on():
        raise AddressRefused("email_off", "This server sends no e-mail.")
    try:
        validate_email(address)
    except ValidationError:
        raise AddressRefused("address_invalid", "Enter a valid e-mail address.") from None
    if len(address) > LONGEST_ADDRESS:
        raise AddressRefused("address_invalid", "Enter a shorter e-mail address.")
    sent_qs = OutboxMessage.objects.filter(recipient=user, kind="address")
    if sent_qs.filter(created_at__gt=at - timedelta(days=1)).count() >= MOST_CONFIRMATIONS:
        raise AddressRefused("too_many", "Too many addresses in one day. Try again tomorrow.")
    queue_message(
        channel=EMAIL,
        kind="address",
        key=f"address:{user.pk}:{nonce}",
        recipient=user,
        address=address,
        payload={},
        at=at,
    )


def confirm_address(*, user: User, token: str) -> str:
    """Use the address that a link confirms, and return it; NotFound for anyone else's link.

    Where the account has no language, that of the page becomes its own: a worker that sends
    messages knows no browser.
    """
    said = read_confirmation(token)
    if said is None or said[0] != user.pk:
        raise NotFound("link")
    user.email = said[1]
    user.language = user.language or get_language() or ""
    user.save(update_fields=["email", "language"])
    return said[1]


def _send(people: Iterable[User], key: str, at: datetime, shared: Mapping[str, Any]) -> None:
    """Queue an e-mail to each of these people who has an address, if the server sends any."""
    if not get_channel(EMAIL).is_on():
        return
    queued = [
        OutboxMessage(channel=EMAIL, key=key, recipient=person, created_at=at, due_at=at, **shared)
        for person in people
        if person.email
    ]
    if queued:
        OutboxMessage.objects.bulk_create(queued, ignore_conflicts=True)
        wake(TASK)
