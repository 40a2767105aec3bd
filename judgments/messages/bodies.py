"""A message of the outbox as a plain-text e-mail, with the address of the page that it is about."""

from django.conf import settings
from django.core.mail import EmailMessage
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext

from judgments.messages.formatting import words_of
from judgments.messages.kinds import KINDS, LANGUAGE
from judgments.messages.people import name_people
from judgments.messages.tokens import confirmation_token, invitation_token, reset_token
from judgments.models import OutboxMessage


def compose(message: OutboxMessage, *, to: str) -> EmailMessage:
    """The message as plain text in its reader's language, with a link to the page it is about.

    Its Message-ID follows from the row, so that a mail program shows a message once that was sent
    twice, by a worker that was killed before it could write down that it had sent it.
    """
    with translation.override(language_of(message)):
        (payload,) = name_people([message.payload])
        words = words_of(message.kind, payload)
        parts = [words.text, settings.SITE_URL + link_of(message)]
        if KINDS[message.kind].is_chosen:
            chosen = settings.SITE_URL + reverse("message-settings")
            parts.append(gettext("Choose which messages you get: {url}").format(url=chosen))
    domain = settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].rstrip(">")
    return EmailMessage(
        subject=words.subject,
        body="\n\n".join(parts) + "\n",
        to=[to],
        headers={"Message-ID": f"<{message.key.replace(':', '.')}.{message.pk}@{domain}>"},
    )


def language_of(message: OutboxMessage) -> str:
    """The account's language, else that of the page on which the message was asked for."""
    own = message.recipient.language if message.recipient else ""
    return own or str(message.payload.get(LANGUAGE, settings.LANGUAGE_CODE))


def link_of(message: OutboxMessage) -> str:
    """The path of the page that a message is about; made of its secret where it has one."""
    if message.kind == "invitation":
        return reverse("invitation", args=[invitation_token(str(message.payload["nonce"]))])
    if message.kind == "address":
        token = confirmation_token(user_id=message.recipient_id or 0, address=message.address)
        return reverse("address-confirm", args=[token])
    if message.kind == "password_reset":
        user = message.recipient
        if user is None:
            raise ValueError("a reset of nobody's password")
        return reverse("password-reset", args=[user.public_id, reset_token(user)])
    return reverse(message.page, args=message.page_args)
