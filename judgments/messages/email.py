"""E-mail: how a message is passed to the mail server, and when again."""

from datetime import timedelta
from smtplib import SMTPRecipientsRefused
from typing import Final

from django.conf import settings

from judgments.messages.bodies import compose
from judgments.messages.channels import Channel, Undeliverable
from judgments.messages.kinds import EMAIL
from judgments.models import OutboxMessage

BACK_OFF: Final = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=6),
    timedelta(hours=12),
    timedelta(hours=24),
)


def is_on() -> bool:
    """Whether an administrator has named a mail server."""
    return bool(settings.MAIL_ON)


def address_of(message: OutboxMessage) -> str:
    """Where a message goes; empty where there is no address."""
    if message.address or message.recipient is None:
        return message.address
    return str(message.recipient.email)


def send(message: OutboxMessage) -> None:
    """Hand a message to the mail server. Raises Undeliverable where it refuses for good."""
    address = address_of(message)
    if not address:
        raise Undeliverable("The account has no e-mail address.")
    try:
        compose(message, to=address).send()
    except SMTPRecipientsRefused as refused:
        codes = {int(code) for code, _ in refused.recipients.values()}
        if codes and min(codes) >= 500:
            raise Undeliverable(f"The mail server refused the address ({min(codes)}).") from refused
        raise


CHANNEL: Final = Channel(name=EMAIL, is_on=is_on, send=send, back_off=BACK_OFF)
