"""Sending what waits in the outbox; run by workers, any number at a time.

A worker claims a message before it sends it, by a conditional update that also says when another
may take it over. So a message is sent once, but for a worker that is killed between the mail
server's answer and the next write: that message is sent again.
"""

import logging
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from judgments.messages.channels import Channel, Postponed, Undeliverable, get_channel
from judgments.messages.queries import list_off
from judgments.models import Membership, OutboxMessage

logger = logging.getLogger(__name__)

AT_ONCE: Final = 100  # messages of one wake-up; the sweep wakes again
LEASE: Final = timedelta(minutes=2)  # longer than any server is waited for
LONGEST: Final = timedelta(seconds=30)  # of one wake-up, so that other jobs have their turn
Clock = Callable[[], datetime]


def send_due(*, clock: Clock) -> int:
    """Send what is due, at most AT_ONCE messages and for LONGEST; how many were claimed."""
    claimed, until = 0, clock() + LONGEST
    while claimed < AT_ONCE and clock() < until:
        message = _claim(clock())
        if message is None:
            break
        _deliver(message, clock)
        claimed += 1
    return claimed


def _claim(now: datetime) -> OutboxMessage | None:
    """Take the message that is due longest; the attempt is counted before it is made."""
    due_qs = OutboxMessage.objects.filter(state=OutboxMessage.State.WAITING, due_at__lte=now)
    for message in due_qs.select_related("recipient").order_by("due_at", "pk")[:10]:
        token = uuid.uuid4()
        seen_qs = due_qs.filter(pk=message.pk, attempts=message.attempts)
        if seen_qs.update(token=token, attempts=message.attempts + 1, due_at=now + LEASE):
            message.token, message.attempts = token, message.attempts + 1
            return message
    return None


def _deliver(message: OutboxMessage, clock: Clock) -> None:
    channel = get_channel(message.channel)
    unwanted = _find_why_unwanted(message, channel)
    if unwanted:
        _end(message, OutboxMessage.State.DROPPED, clock(), problem=unwanted)
        return
    if message.attempts > len(channel.back_off) + 1:  # its worker was killed at the last attempt
        _end(message, OutboxMessage.State.GIVEN_UP, clock(), problem="No attempt was completed.")
        return
    try:
        channel.send(message)
    except Undeliverable as refusal:
        _end(message, OutboxMessage.State.GIVEN_UP, clock(), problem=str(refusal))
    except Postponed as refusal:
        _put_back(message, channel, clock(), str(refusal), timedelta(seconds=refusal.seconds))
    except Exception as error:  # noqa: BLE001  (a channel may fail in any way: it is tried again)
        # its text may hold an address
        logger.warning("message %s was not sent: %s", message.pk, type(error).__name__)
        _put_back(message, channel, clock(), f"{type(error).__name__} while sending.", None)
    else:
        _end(message, OutboxMessage.State.SENT, clock())


def _find_why_unwanted(message: OutboxMessage, channel: Channel) -> str:
    """Why a message must not be sent any more; empty if it may."""
    person = message.recipient
    if not channel.is_on():
        return "The channel is switched off on this server."
    if person is None:
        return ""
    if not person.is_active:
        return "The account can’t sign in."
    if (person.pk, message.kind, message.channel) in list_off([person.pk]):
        return "The recipient switched these messages off."
    own_qs = Membership.objects.filter(collection=message.collection_id, user=person)
    if message.collection_id and not person.is_superuser and not own_qs.exists():
        return "The recipient left the collection."
    return ""


def _put_back(
    message: OutboxMessage, channel: Channel, now: datetime, why: str, wait: timedelta | None
) -> None:
    """Try again after a pause, or give up after the last attempt."""
    if message.attempts > len(channel.back_off):
        _end(message, OutboxMessage.State.GIVEN_UP, now, problem=why)
        return
    pause = channel.back_off[message.attempts - 1] if wait is None else wait
    _own(message).update(token=None, due_at=now + pause, problem=why[:200])


def _end(message: OutboxMessage, state: str, now: datetime, *, problem: str = "") -> None:
    """What was said and where it went is not kept once the message has ended."""
    ended: dict[str, Any] = {"payload": {}, "address": "", "page": "", "page_args": []}
    _own(message).update(state=state, ended_at=now, token=None, problem=problem[:200], **ended)


def _own(message: OutboxMessage) -> Any:
    """The row, as long as no other worker has taken it over."""
    return OutboxMessage.objects.filter(
        pk=message.pk, token=message.token, state=OutboxMessage.State.WAITING
    )
